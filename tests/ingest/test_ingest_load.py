"""Which reader a recording gets, and what is said when it gets none."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from assembling import load_trace, read_trace

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.ingest import FORMATS
from vigil_lang.signatures import load_signature
from vigil_lang.trace import Action

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "fixtures" / "runs"
READABLE = "readable formats: " + ", ".join(f"`{name}`" for name in FORMATS)
EVENT = b'{"action":"a"}\n'


def fault(data: bytes, form: str | None = None) -> Diagnostic:
    with pytest.raises(InputError) as refused:
        read_trace(io.BytesIO(data), "run.jsonl", form)
    (found,) = refused.value.diagnostics
    return found


def test_formats() -> None:
    assert FORMATS[:3] == ("vigil", "claude-code", "codex")
    assert len(FORMATS) == len(set(FORMATS)) == 26


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"", "vigil"),
        (b"\n\n", "vigil"),
        (EVENT, "vigil"),
        (b'{"vigil_trace":1}\n', "vigil"),
        (b'{"type":"system","subtype":"init","session_id":"s"}\n', "claude-code"),
        (b'{"type":"summary","leafUuid":"u"}\n', "claude-code"),
        (b'{"type":"novelty"}\n{"type":"user","message":{"content":"hi"}}\n', "claude-code"),
    ],
)
def test_the_format_is_recognised(data: bytes, form: str) -> None:
    assert read_trace(io.BytesIO(data), "run.jsonl").run.format == form


def test_a_recording_of_no_known_format() -> None:
    found = fault(b'{"spans":[]}\n')
    assert (found.code, found.message) == ("VGL603", "the format of the run is not recognised")
    assert found.help == READABLE


@pytest.mark.parametrize("data", [b"hello\n", b"[1]\n", b'{"spans":1}\n{"spans"', b"\0\0\0"])
def test_a_broken_line_is_the_better_message(data: bytes) -> None:
    assert fault(data).code == "VGL601"


def test_an_unknown_format() -> None:
    found = fault(EVENT, "claude_code")
    assert (found.code, found.message, found.help) == (
        "VGL603",
        "unknown format `claude_code`",
        "did you mean `claude-code`?",
    )
    assert fault(EVENT, "x").help == READABLE


def test_a_format_that_is_named_is_not_guessed() -> None:
    assert fault((RUNS / "claude-stream.jsonl").read_bytes(), "vigil").message == "`action` is missing"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in [
        (tmp_path, "is a directory"),
        (tmp_path / "none", "no such file or directory"),
        ("a\0b", "embedded null byte"),
    ]:
        with pytest.raises(InputError) as refused:
            load_trace(path)
        (found,) = refused.value.diagnostics
        assert (found.code, found.message) == ("VGL001", f"cannot read `{path}`: {reason}")


def test_a_stream_that_breaks() -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _: object) -> int:
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match=r"VGL001 cannot read `run\.jsonl`: input/output error"):
        read_trace(io.BufferedReader(Broken()), "run.jsonl")


def test_a_stream_that_breaks_late() -> None:
    def lines() -> Iterator[bytes]:
        yield from [EVENT] * 100
        raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match="VGL001"):
        read_trace(lines(), "run.jsonl")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EVENT)))
    assert load_trace("-").run.path == "<stdin>"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EVENT)))
    assert load_signature("-").actions == {"a": Action()}


def test_any_iterable_of_lines_will_do() -> None:
    assert len(read_trace((EVENT for _ in range(3)), "run.jsonl")) == 3


def test_the_garbage_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    read_trace([EVENT], "run.jsonl")
    assert gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(InputError):
            read_trace([b"{}"], "run.jsonl", "vigil")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_importing_the_readers_is_cheap() -> None:
    heavy = ("z3", "pysmt", "lark", "rich", "click", "vigil_lang.ingest.json_schema")
    program = f"import sys, vigil_lang.ingest; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_only_what_exists_can_be_imported() -> None:
    with pytest.raises(ImportError):
        from vigil_lang.ingest import nothing  # type: ignore[attr-defined] # noqa: F401
