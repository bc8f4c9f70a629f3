"""Making a state folder: settings, keys and an empty log, where no agent can write to them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True)
class Made:
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
    folder = StateFolder(path)
    create_log(folder)
    keys = {role: Key.new() for role in _ROLES}
    for role, key in keys.items():
        _write(folder.keys / f"{role}.pem", key.pem())
    public = {role: key.public for role, key in keys.items()}
    _write(folder.settings, _settings(workspace.absolute(), layers, public, is_open=is_open).encode())
    files = [("gate.toml", "the settings: layers, authority, holds"), ("log.jsonl", "the log; keys/log.pem signs it")]
    files += [(f"keys/{role}.pem", what) for role, what in _ROLES.items()]
    return Made(path, tuple(files), is_open, folder.log_vkey.read_text("utf-8").split("+")[0])


def _named(policy: str) -> str:
    return policy if policy.startswith("std.") else str(Path(policy).absolute())


def _settings(workspace: Path, layers: Layers, public: dict[str, str], *, is_open: bool) -> str:
    mode = "open" if is_open else "chain"
    return f"""\
# The settings of the gate. Only a person changes this file.

# Where the agents work: this folder never lies inside it.
workspace = {_text(str(workspace))}
timezone = "UTC"

[layers]
organisation = {_texts(layers.organisation)}
personal = {_texts(layers.personal)}
# The conservative rules that ship with Vigil.
default = true

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
