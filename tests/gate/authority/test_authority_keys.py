"""Keys: where they come from, what is refused, and that nothing of a private one is ever told."""

from __future__ import annotations

import base64
import os
import pickle
import shlex
import stat
import sys
import time
import traceback
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from tests.gate.authority.forgeries import WEAK_POINT
from tests.gate.authority.made_chains import ATTACKER, ROOT, key
from vigil_lang.diagnostics import InputError
from vigil_lang.gate.authority import keys
from vigil_lang.gate.authority.keys import Key, load_key, public_bytes, read_public, verify, write_key

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The root's key in a file."""
    path = tmp_path / "root.pem"
    write_key(ROOT, str(path))
    return path


def refusal(source: str | None = None, **more: str) -> str:
    """Why a key is refused."""
    with pytest.raises(InputError) as refused:
        load_key(source, environ={}, **more)  # type: ignore[arg-type]
    return str(refused.value)


def test_a_key_signs_and_its_public_half_verifies() -> None:
    signature = ROOT.sign(b"data")
    assert verify(ROOT.public, signature, b"data")
    assert not verify(ROOT.public, signature, b"other")
    assert not verify(ATTACKER.public, signature, b"data")
    assert ROOT.public.startswith("ed25519:")
    assert len(ROOT.public) == len("ed25519:") + 43
    assert Key.new().public != Key.new().public


@pytest.mark.parametrize(
    "public",
    [
        "", "ed25519:", ROOT.public[8:], ROOT.public + "=", ROOT.public + "\n", ROOT.public[:-1], ROOT.public.upper(),
        "ed25519:" + "A" * 42 + "B", "ed25519:" + "é" * 43, "ed25519:" + "+" * 43, WEAK_POINT, "ed25519:" + "A" * 43,
    ],
)  # fmt: skip
def test_what_is_no_public_key_verifies_nothing(public: str) -> None:
    assert public_bytes(public) is None
    assert not verify(public, ROOT.sign(b"data"), b"data")
    assert not verify(public, bytes([1] + [0] * 63), b"data")


def test_a_point_of_small_order_is_no_key() -> None:
    for point in keys._WEAK:
        public = "ed25519:" + base64.urlsafe_b64encode(point).rstrip(b"=").decode()
        assert public_bytes(public) is None
    assert len(keys._WEAK) == 14


def test_a_key_is_written_for_its_owner_alone(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_pem_private_key(file.read_bytes(), None)
    assert file.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n")
    assert load_key(file).public == ROOT.public
    assert [path.name for path in file.parent.iterdir()] == ["root.pem"]


def test_a_key_replaces_nothing_unless_it_is_forced(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(InputError, match="it exists"):
        write_key(ATTACKER, str(file))
    assert file.read_bytes() == before
    file.chmod(0o644)
    write_key(ATTACKER, str(file), force=True)
    assert load_key(file).public == ATTACKER.public
    assert [path.name for path in file.parent.iterdir()] == ["root.pem"]


def test_a_key_is_never_written_onto_a_link_or_a_folder(file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to("nowhere")
    for path in (link, file.parent):
        for force in (False, True):
            with pytest.raises(InputError, match="not a file"):
                write_key(ATTACKER, str(path), force=force)
    with pytest.raises(InputError, match="VGL004"):
        write_key(ATTACKER, str(file.parent / "no" / "folder"))
    assert link.is_symlink()


def test_whoever_is_quicker_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the writing somebody else writes."""
    path = tmp_path / "key.pem"
    fsync = os.fsync

    def quicker(descriptor: int) -> None:
        path.write_text("theirs")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", quicker)
    with pytest.raises(InputError, match="exists"):
        write_key(ROOT, str(path))
    assert path.read_text() == "theirs"
    assert [found.name for found in tmp_path.iterdir()] == ["key.pem"]


def test_a_key_that_cannot_be_written_whole_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="no space left"):
        write_key(ROOT, str(tmp_path / "key.pem"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o777, 0o610])
def test_a_key_that_others_may_read_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    found = refusal(str(file))
    assert "VGL640 others may read this private key" in found
    assert f"{mode:04o}" in found


def test_a_key_comes_from_the_environment_a_command_or_the_users_folder(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"VIGIL_KEY": ATTACKER.pem().decode()}
    assert load_key(environ=environ).public == ATTACKER.public
    command = f"{shlex.quote(sys.executable)} -c \"print(open('{file}').read())\""
    assert load_key(command=command, environ=environ).public == ROOT.public
    assert load_key(file, command="false", environ=environ).public == ROOT.public
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    assert "there is no key to sign with" in refusal()
    keys.default_path().parent.mkdir(parents=True)
    write_key(key("own"), str(keys.default_path()))
    assert load_key(environ={}).public == key("own").public


def other_keys() -> dict[str, bytes]:
    """Texts that are no Ed25519 key as PKCS#8."""
    curve = generate_private_key(SECP256R1())
    pem = ROOT.pem()
    locked = ROOT._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word"))
    return {
        "nothing": b"",
        "another curve": curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "encrypted": locked,
        "OpenSSH": ROOT._private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
        "cut": pem[:60],
        "one letter changed": pem.replace(b"MC4C", b"MC4D"),
        "raw": ROOT._private.private_bytes_raw(),
        "DER": ROOT._private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
        "large": pem + b" " * 20_000,
        "a public key": ATTACKER._private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "NUL": b"\0" * 100,
    }


def secrets_of(data: bytes) -> list[str]:
    """Texts that would tell a private key."""
    body = b"".join(line for line in data.splitlines() if not line.startswith(b"-----"))
    raw = ROOT._private.private_bytes_raw()
    return [body.decode("latin1")[20:], raw.hex(), base64.b64encode(raw).decode(), repr(raw)[2:-1]]


@pytest.mark.parametrize("what", other_keys())
def test_what_is_no_key_is_refused_without_telling_it(what: str, tmp_path: Path) -> None:
    data = other_keys()[what]
    path = tmp_path / "key.pem"
    path.write_bytes(data)
    path.chmod(0o600)
    for source, more in ((str(path), {}), (None, {"command": f"cat {path}"})):
        with pytest.raises(InputError) as refused:
            load_key(source, environ={}, **more)  # type: ignore[arg-type]
        told = "".join(traceback.format_exception(refused.value)) + repr(refused.value.diagnostics)
        assert "VGL640" in told
        assert refused.value.__cause__ is None
        assert all(found.source.text == "" for found in refused.value.diagnostics)
        assert [secret for secret in secrets_of(data) if len(secret) > 10 and secret in told] == []


def test_a_private_key_is_neither_shown_nor_pickled() -> None:
    raw = ROOT._private.private_bytes_raw()
    shown = f"{ROOT!r} {ROOT} {vars(type(ROOT))}"
    assert repr(ROOT) == f"Key({ROOT.public})"
    assert raw.hex() not in shown
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(ROOT)
    assert not hasattr(ROOT, "__dict__")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "empty"),
        ("'", "cannot be split"),
        ("no-such-program-here", "`no-such-program-here` cannot be started"),
        ("false", "ended with status 1"),
        ("true", "no private key"),
        ("yes", "printed no key"),
        ("echo $(id)", "no private key"),
    ],
)
def test_a_command_that_prints_no_key(command: str, message: str) -> None:
    assert message in refusal(command=command)


def test_a_command_has_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "COMMAND_SECONDS", 0.3)
    begun = time.monotonic()
    assert "printed no key within 0.3 s" in refusal(command="sleep 60")
    quiet = f'{shlex.quote(sys.executable)} -c "import os, time; os.close(1); time.sleep(60)"'
    assert "printed no key within 0.3 s" in refusal(command=quiet)
    assert time.monotonic() - begun < 20


def test_a_command_runs_without_a_shell(tmp_path: Path) -> None:
    assert "no private key" in refusal(command=f"echo x > {tmp_path}/made; touch {tmp_path}/made")
    assert list(tmp_path.iterdir()) == []


def test_a_public_key_is_read_from_its_text_or_a_file(file: Path) -> None:
    public = file.with_name("root.pub")
    public.write_text(f"{ROOT.public}\n")
    pem = file.with_name("root.pub.pem")
    pem.write_bytes(ROOT._private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    for text in (ROOT.public, str(public), str(pem), str(file)):
        assert read_public(text) == ROOT.public


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ed25519:short", "43 characters"),
        (WEAK_POINT, "43 characters"),
        ("spiffe://example.org/agent", "a SPIFFE id is the name of a workload"),
        ("no/such/file", "VGL001"),
        ("", "VGL001"),
        ("\0", "VGL001"),
    ],
)
def test_what_is_no_public_key_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_public(text)


def test_a_public_key_of_another_curve_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.pem"
    curve = generate_private_key(SECP256R1()).public_key()
    path.write_bytes(curve.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(InputError, match="no Ed25519 key"):
        read_public(str(path))
