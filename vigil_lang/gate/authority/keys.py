"""Ed25519 keys: in files that only their owner may read, in an environment variable, or from a command."""

from __future__ import annotations

import os
import shlex
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from vigil_lang.base.files import open_input, unreadable
from vigil_lang.base.outputs import write_private
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.gate.authority.dsse import decoded
from vigil_lang.gate.canonical import base64url
from vigil_lang.gate.strict_json import Malformed
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from subprocess import Popen

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# `cryptography` is imported where a key is used: most hooks use none.

VARIABLE = "VIGIL_KEY"
"""The environment variable that holds a private key as PEM."""

COMMAND_SECONDS = 60.0
"""How long a command may take to print a key: somebody may have to type a passphrase."""

_PREFIX = "ed25519:"
_PUBLIC_KEY = regex(r"[A-Za-z0-9_-]{43}\Z")
_MAX_BYTES = 16_384
_PRIVATE, _PUBLIC = "-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----"

# Points of small order, in all their encodings: whoever likes can sign for such a key.
_WEAK = frozenset(
    bytes.fromhex(low + rest)
    for low, rests in {
        "01" + "00" * 30: ("00", "80"),
        "00" * 31: ("00", "80"),
        "ec" + "ff" * 30: ("7f", "ff"),
        "ed" + "ff" * 30: ("7f", "ff"),
        "ee" + "ff" * 30: ("7f", "ff"),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc": ("05", "85"),
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03": ("7a", "fa"),
    }.items()
    for rest in rests
)


class Key:
    """A private key, which tells nothing but its public half and what it signs."""

    __slots__ = ("_private", "public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = _PREFIX + base64url(private.public_key().public_bytes_raw())

    @classmethod
    def new(cls) -> Key:
        """A key that nobody has."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    def sign(self, data: bytes) -> bytes:
        """The 64 bytes of the signature of some data."""
        return self._private.sign(data)

    def pem(self) -> bytes:
        """The key itself, as PKCS#8 in PEM: for a file, and nothing else."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def __repr__(self) -> str:
        return f"Key({self.public})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not pickled")


def public_bytes(public: str) -> bytes | None:
    """The 32 bytes of a public key written `ed25519:…`; None where it is none, or one that anybody can sign for."""
    encoded = public.removeprefix(_PREFIX)
    if encoded == public or not _PUBLIC_KEY.match(encoded):
        return None
    try:
        raw = decoded(encoded)
    except Malformed:
        return None
    return None if len(raw) != 32 or raw in _WEAK else raw


def verify(public: str, signature: bytes, data: bytes) -> bool:
    """Whether a public key's holder signed some data. False where the key is none."""
    raw = public_bytes(public)
    if raw is None or len(signature) != 64:
        return False
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


# --- reading -------------------------------------------------------------------------------------------------------


def default_path() -> Path:
    """Where the user's own key lies unless something else is said."""
    from platformdirs import user_config_path

    return user_config_path("vigil", appauthor=False) / "key.pem"


def load_key(
    source: str | Path | None = None,
    *,
    command: str | None = None,
    kept: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Key:
    """A private key: from a file, else from a command, else from `VIGIL_KEY`, else the user's own.

    Where the user has none, it is the one that is `kept` in a state folder, if there is one. A command is split as a
    shell would, but runs without one.

    Raises:
        InputError: VGL001, VGL640: it cannot be read, others may read the file, or it is no Ed25519 key as PKCS#8 PEM.
    """
    if source is not None:
        return _from_file(str(source))
    if command is not None:
        return _private(_printed_by(command), "--key-command")
    if environ.get(VARIABLE):
        return _private(environ[VARIABLE].encode("utf-8", "replace"), VARIABLE)
    own = default_path()
    if not own.exists() and kept is not None and kept.exists():
        own = kept
    if not own.exists():
        _refuse("a key", "there is no key to sign with", f"name one by `--key`, `--key-command` or {VARIABLE}, or make "
                "your own: `vigil key new`")  # fmt: skip
    return _from_file(str(own))


def read_public(text: str) -> str:
    """A public key: `ed25519:…` itself, or a file that holds one, public or private.

    Raises:
        InputError: VGL001, VGL640: the text is neither, or the file cannot be read or holds no key.
    """
    if public_bytes(text) is not None:
        return text
    if text.startswith(_PREFIX):
        _refuse("a key", "a public key is `ed25519:` and 43 characters of base64url, and this is none", None)
    if text.startswith("spiffe://"):
        help_text = "name the key of the workload, and record the id beside the chain, not in it"
        _refuse("a key", "a grant is given to a key, and a SPIFFE id is the name of a workload", help_text)
    data = _read(text, private=False)
    found = data.decode("utf-8", "replace").strip()
    if public_bytes(found) is not None:
        return found
    if found.startswith(_PUBLIC):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        with suppress(ValueError, UnsupportedAlgorithm):
            loaded = load_pem_public_key(data)
            if isinstance(loaded, Ed25519PublicKey):
                public = _PREFIX + base64url(loaded.public_bytes_raw())
                if public_bytes(public) is not None:
                    return public
        _refuse(text, "it is no Ed25519 key", "`vigil key new` makes one")
    return _from_file(text).public


def _from_file(path: str) -> Key:
    return _private(_read(path, private=True), path)


def _read(path: str, *, private: bool) -> bytes:
    """What a file of a key holds. One with a private key is refused where others may read it."""
    try:
        with open_input(path) as stream:
            found = os.fstat(stream.fileno())
            data = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError([unreadable(path, error)]) from None
    if len(data) > _MAX_BYTES:
        _refuse(path, f"a key has no more than {_MAX_BYTES:,} bytes", None)
    if private and stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        help_text = "`chmod 600` it; if others had a look, make a new one"
        _refuse(path, f"others may read this private key: its mode is {mode:04o}, not 0600", help_text)
    return data


def _private(data: bytes, name: str) -> Key:
    """The private key in a PEM text. What is wrong is said without any of it."""
    if not data.decode("utf-8", "replace").strip().startswith(_PRIVATE):
        encrypted = b"ENCRYPTED" in data[:200]
        wanted = "give it decrypted, by `--key-command`" if encrypted else "`vigil key new` makes one"
        _refuse(name, "this is no private key as PKCS#8 in PEM, not encrypted", wanted)
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        loaded = load_pem_private_key(data, None)
        if isinstance(loaded, Ed25519PrivateKey):
            return Key(loaded)
    _refuse(name, "it is no Ed25519 key", "`vigil key new` makes one")


def _printed_by(command: str) -> bytes:
    """What a command prints, in a bounded time and of a bounded size."""
    name = "--key-command"
    try:
        argv = shlex.split(command)
    except ValueError as error:
        _refuse(name, f"the command cannot be split into words: {str(error).lower()}", None)
    if not argv:
        _refuse(name, "the command is empty", None)
    import subprocess

    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _refuse(name, f"`{argv[0]}` cannot be started: {reason.lower()}", None)
    with process:
        try:
            data = _bounded(process)
        finally:
            process.kill()
    if data is None:
        _refuse(name, f"`{argv[0]}` printed no key within {COMMAND_SECONDS:g} s", None)
    if process.returncode:
        _refuse(name, f"`{argv[0]}` ended with status {process.returncode}", None)
    return data


def _bounded(process: Popen[bytes]) -> bytes | None:
    """What a process prints until it ends; None where that takes too long or is too much."""
    import subprocess

    from vigil_lang.base.files import comes_within

    assert process.stdout is not None
    handle, end, data = process.stdout.fileno(), time.monotonic() + COMMAND_SECONDS, b""
    while len(data) <= _MAX_BYTES:
        if not comes_within(handle, max(0.0, end - time.monotonic())):
            return None
        chunk = os.read(handle, _MAX_BYTES + 1)
        if not chunk:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                return None
            return data
        data += chunk
    return None


def _refuse(name: str, message: str, help_text: str | None) -> NoReturn:
    """Say what is wrong with a key; its text is never part of that."""
    raise InputError([Diagnostic.of("VGL640", message, Source(name, ""), help=help_text)]) from None


# --- writing -------------------------------------------------------------------------------------------------------


def write_key(key: Key, path: str, *, force: bool = False) -> None:
    """Write a private key to a file of mode 0600, whole or not at all; with `force` also onto a file that is there.

    Raises:
        InputError: VGL004, it cannot be written, or something is there.
    """
    write_private(path, key.pem(), replace=force)
