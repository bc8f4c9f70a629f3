"""docs/audit.md: its commands print what it shows, and its check of a proof holds without Vigil."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from log_support import filled

from vigil_lang.gate.log.notes import COSIGNATURE, Signer
from vigil_lang.gate.log.verifying import ProblemKind

if TYPE_CHECKING:
    from log_support import Vigil

PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
SCREENS = re.findall(r"^```console\n\$ vigil (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
(CHECK,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
_RANDOM = re.compile(r"[0-9a-f]{32}|witness\+[0-9a-f]{8}\+\S+|[A-Za-z0-9+/]{43}=")


def alike(screen: str) -> str:
    """A screen, whatever the keys, names and roots are."""
    return _RANDOM.sub("…", screen)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    filled(tmp_path / "state", entries=8, tail=1)
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "witness.pem").write_bytes(pem)
    (tmp_path / "witness.vkey").write_text(str(Signer("example.com/witness", private, COSIGNATURE).key))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_screens_are_what_the_commands_print(vigil: Vigil, place: Path) -> None:
    for command, screen in SCREENS:
        words = shlex.split(command)
        if "--witness" in words:
            words[words.index("--witness") + 1] = (place / "witness.vkey").read_text()
        result = vigil(*words)
        assert (result.status, result.err) == (0, ""), command
        assert alike(result.out) == alike(screen), command
    exec(compile(CHECK, "docs/audit.md", "exec"), {})


def test_the_check_of_a_proof_fails_for_another_entry(vigil: Vigil, place: Path) -> None:
    assert vigil("audit", "prove", "4", "--state", "state", "-o", "entry-4.tlog-proof").status == 0
    log = place / "state" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"mailer", b"failer"))
    with pytest.raises(AssertionError):
        exec(compile(CHECK, "docs/audit.md", "exec"), {})


def test_the_page_has_every_kind_of_problem() -> None:
    assert len(SCREENS) == 5
    for kind in ProblemKind.__args__:
        assert f"`{kind}`" in PAGE
