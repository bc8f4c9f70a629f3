"""Making a state folder: settings, keys and an empty log, where no agent can write to them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics.visible import as_argument
from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.layers import load_layers
from vigil_lang.gate.log.log import create_log
from vigil_lang.gate.settings import Layers
from vigil_lang.gate.state import StateError, StateFolder, refuse_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROLES = {
    "root": "signs what agents are granted",
    "approver": "signs what you confirm and deny",
    "revoker": "signs the list of what is revoked",
}


class Made(Frozen, frozen=True):
    """A new state folder: where it is, its files with what each is for, whether authority is open, its log's origin."""

    folder: Path
    files: tuple[tuple[str, str], ...]
    is_open: bool
    audience: str

    def next_steps(self, state: str) -> Iterator[tuple[str, str]]:
        """Commands with what they do, for a first session; `state` is the folder as an argument."""
        where = f" --state {state}"
        if not self.is_open:
            root = as_argument(str(self.folder / "keys" / "root.pem"))
            yield "vigil key new agent.pem", "make a key for an agent"
            grant = f"--allow 'file.read()' --for 8h --aud {self.audience} --key {root}"
            yield f"vigil grant --to agent.pem {grant} -o chain.json", "let it read files today"
            yield f'AGENT = "{Path("chain.json").absolute()}"', "name the chain in gate.toml, under [authority.chains]"
        yield f"vigil gate decide{where} < request.json", "decide about an action"
        yield f"vigil hold list{where}", "what waits for you"
        yield f"vigil audit show{where}", "what was decided"
        yield f"vigil gate status{where}", "what is in force"


def make_state(
    path: Path,
    workspace: Path,
    organisation: Sequence[str] = (),
    personal: Sequence[str] = (),
    *,
    is_open: bool = False,
) -> Made:
    """Make a state folder of mode 0700 with settings, three keys of mode 0600, and a log.

    `organisation` and `personal` name policies, by paths or names of standard modules.

    Raises:
        StateError: it exists and is not empty, lies in the workspace, or a policy has no meaning.
        OSError: it cannot be written.
    """
    path = path.absolute()
    refuse_inside(path, workspace)
    layers = Layers(tuple(map(_named, organisation)), tuple(map(_named, personal)))
    load_layers(layers, {})
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise StateError(f"{path} exists and is not empty")
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    audience = _fill(StateFolder(path), workspace.absolute(), layers, is_open=is_open)
    files = [("gate.toml", "the settings: layers, authority, holds"), ("log.jsonl", "the log; keys/log.pem signs it")]
    files += [(f"keys/{role}.pem", what) for role, what in _ROLES.items()]
    return Made(path, tuple(files), is_open, audience)


def ensure(path: Path, workspace: Path | None = None) -> None:
    """Make a state folder where nothing is there, or an empty folder: open authority, no rules but those of runs.

    Several processes may do so at once: one of them makes it, and all use that.

    Raises:
        StateError: it lies in the workspace, or cannot be made.
    """
    path = path.absolute()
    if workspace is not None:
        refuse_inside(path, workspace)
    try:
        if _is_made(path):
            return
        import shutil  # late: a folder is made once, and this imports all formats of archives
        import tempfile

        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            _fill(StateFolder(beside), workspace and workspace.absolute(), Layers(default=False), is_open=True)
            with suppress(OSError):  # another process was faster
                beside.rename(path)
            if not _is_made(path):
                raise StateError(f"the state folder {path} cannot be made")
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise StateError(f"the state folder {path} cannot be made: {error.strerror}") from error


def _is_made(path: Path) -> bool:
    """Whether something is there that is not an empty folder."""
    return os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir()))


def _fill(folder: StateFolder, workspace: Path | None, layers: Layers, *, is_open: bool) -> str:
    """Put settings, keys and an empty log into a folder; gives the log's origin."""
    create_log(folder)
    keys = {role: Key.new() for role in _ROLES}
    for role, key in keys.items():
        _write(folder.keys / f"{role}.pem", key.pem())
    public = {role: key.public for role, key in keys.items()}
    _write(folder.settings, _settings(workspace, layers, public, is_open=is_open).encode())
    return folder.log_vkey.read_text("utf-8").split("+")[0]


def _named(policy: str) -> str:
    return policy if policy.startswith("std.") else str(Path(policy).absolute())


def _settings(workspace: Path | None, layers: Layers, public: dict[str, str], *, is_open: bool) -> str:
    mode = "open" if is_open else "chain"
    return f"""\
# The settings of the gate. Only a person changes this file.

# Where the agents work: this folder never lies inside it.
{"# " if workspace is None else ""}workspace = {_text(str(workspace or "/path/to/work"))}
timezone = "UTC"

[layers]
organisation = {_texts(layers.organisation)}
personal = {_texts(layers.personal)}
# The conservative rules that ship with Vigil.
default = {str(layers.default).lower()}

[params]
# Values of the policies' params; those of the rules that ship with Vigil are described in stdlib/gate/default.vgl.
# internal_hosts = ["example.com"]
# payment_confirmation_threshold = 500

[authority]
# "chain": an agent may do what its chain grants, and asks for the rest. "open": everything is granted.
mode = "{mode}"
roots = {_texts([public["root"]])}

[authority.chains]
# AGENT = "/path/to/chain.json"

[holds]
timeout = 300
approvers = {_texts([public["approver"]])}
# Who may confirm what the organisation holds.
organisation = {_texts([public["approver"]])}

[revocation]
keys = {_texts([public["revoker"]])}
"""


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    """A text as a basic string of TOML."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in shown) + '"'


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
