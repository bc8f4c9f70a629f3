"""What verbs write: whole or not at all, never through a link, and onto nothing that the same call reads."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import pytest
from cli_support import called
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.base import inputs, outputs
from vigil_lang.diagnostics import InputError

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")

POLICY = 'use .lib\n\n@source("SKILL.md", "You must never push.")\nstatement R: abs(q)\n'
FILES = {
    "p.vgl": POLICY,
    "lib.vgl": "pattern q = rm()\n",
    "p_test.vgl": 'use .p\n\ntest "t" { run "r.jsonl" expect R violated }\n',
    "r.jsonl": '{"vigil_trace":1}\n{"action":"rm","args":{"path":"/x"}}\n',
    "tools.json": '[{"name": "rm", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}]',
    "values.toml": "",
    "base.json": '{"schema": "vigil.baseline/1", "findings": {}}\n',
    "vigil.toml": 'signatures = ["tools.json"]\nruns = ["r.jsonl"]\nlint.baseline = "base.json"\n',
    "SKILL.md": "- You must never push.\n",
    "answers.json": '{"answers": []}',
    "skills/one/run.py": "print(1)\n",
}
CALLS = {
    ("check", "p.vgl", "--params", "values.toml", "-o"): "p.vgl lib.vgl values.toml vigil.toml tools.json r.jsonl",
    ("lint", "p.vgl", "-o"): "p.vgl lib.vgl vigil.toml tools.json r.jsonl base.json SKILL.md",
    ("lint", "--no-cache", ".", "-o"): "p.vgl lib.vgl vigil.toml base.json SKILL.md p_test.vgl",
    ("lint", "p.vgl", "--format", "sarif", "--document", "SKILL.md", "--fix", "-o"): "p.vgl lib.vgl SKILL.md",
    ("verify", "p.vgl", "r.jsonl", "-o"): "p.vgl lib.vgl r.jsonl vigil.toml",
    ("verify", "p.vgl", "-", "-o"): "p.vgl lib.vgl vigil.toml",
    ("verify", ".", "--format", "json", "-o"): "p.vgl lib.vgl r.jsonl vigil.toml",
    ("compile", "p.vgl", "--length", "2", "--signature", "tools.json", "-o"): "p.vgl lib.vgl tools.json",
    ("compile", "p.vgl", "--trace", "r.jsonl", "-o"): "p.vgl lib.vgl r.jsonl",
    ("test", "-o"): "p.vgl lib.vgl p_test.vgl r.jsonl vigil.toml",
    ("test", "p_test.vgl", "--coverage-html"): "p.vgl lib.vgl p_test.vgl r.jsonl",
    ("test", "p_test.vgl", "--coverage-json"): "p.vgl lib.vgl p_test.vgl r.jsonl",
    ("signature", "tools.json", "r.jsonl", "-o"): "tools.json r.jsonl",
    ("abstract", "r.jsonl", "-o"): "r.jsonl",
    ("abstract", ".", "--stats", "-o"): "r.jsonl",
    ("draft", "SKILL.md", "--skeleton", "--force", "-o"): "SKILL.md vigil.toml",
    ("draft", "SKILL.md", "--show-prompt", "--force", "--trace", "r.jsonl", "-o"): "SKILL.md r.jsonl tools.json",
    ("draft", "SKILL.md", "--from-json", "answers.json", "--force", "-o"): "SKILL.md answers.json r.jsonl tools.json",
    ("draft", "SKILL.md", "--from-json", "answers.json", "--force", "--report"): "SKILL.md answers.json r.jsonl",
    ("run", "r.jsonl", "--spec", "SKILL.md", "--offline", "--force", "-o"): "SKILL.md r.jsonl tools.json",
    ("run", "r.jsonl", "--spec", "SKILL.md", "--offline", "--force", "--policy"): "SKILL.md r.jsonl tools.json",
}
"""Calls that lack the name of their last option's file, with files that they read."""
SPELLINGS = [
    "{0}",
    "./{0}",
    "{cwd}/{0}",
    "skills/../{0}",
    "skills//../{0}",
    "link",
    "hard",
    "{cwd}/../{name}/{0}",
    "d/{0}",
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            path.unlink()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in FILES}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(call, file) for call, files in CALLS.items() for file in files.split()]),
    st.sampled_from(SPELLINGS),
)
def test_no_output_takes_the_place_of_an_input(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[tuple[str, ...], str], spelling: str
) -> None:
    call, file = case
    folder = tmp_path_factory.mktemp("place")
    put(folder)
    (folder / "link").symlink_to(file)
    (folder / "hard").hardlink_to(folder / file)
    (folder / "d").symlink_to(".")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = called(*call, spelling.format(file, cwd=folder, name=folder.name), stdin=FILES["r.jsonl"].encode())
    assert (result.status, texts(folder)) == (2, FILES), result
    assert "this command also reads or writes it" in " ".join((result.out + result.err).split())
    assert (folder / "link").is_symlink()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_other_files_are_replaced(call: tuple[str, ...]) -> None:
    Path("elsewhere").write_text("old")
    Path("out").symlink_to("elsewhere")
    result = called(*call, "out", stdin=FILES["r.jsonl"].encode())
    if "--offline" in call or "--from-json" in call:  # nothing is drafted, so that there is nothing to write
        return
    assert result.status in (0, 1), result
    assert not Path("out").is_symlink()
    assert Path("out").read_text() != ""
    assert Path("elsewhere").read_text() == "old"


@pytest.mark.usefixtures("place")
def test_standard_input_is_an_input_too(place: Path) -> None:
    command = [sys.executable, "-m", "vigil_lang", "verify", "p.vgl", "-", "-o", "r.jsonl"]
    with (place / "r.jsonl").open() as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, timeout=60, check=False)
    assert (done.returncode, texts(place)) == (2, FILES)


@pytest.mark.usefixtures("place")
def test_an_argument_that_is_never_read_is_one_still() -> None:
    Path("p.vgl").write_text("statement (((")
    result = called("verify", "p.vgl", "r.jsonl", "-o", "r.jsonl", "--format", "sarif")
    assert (result.status, Path("r.jsonl").read_text()) == (2, FILES["r.jsonl"])


@pytest.mark.usefixtures("place")
def test_two_outputs_are_two_files() -> None:
    Path("same.html").symlink_to("a.html")
    for first, second in (("a.html", "./a.html"), ("a.html", "same.html")):
        result = called("test", "--coverage-html", first, "--coverage-json", second)
        assert (result.status, "two outputs" in result.err) == (2, True)
        assert not Path("a.html").exists()
    assert called("test", "--coverage-html", "/dev/null", "--coverage-json", "/dev/null").status == 0


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("format", ["human", "concise", "json", "json-lines"])
def test_a_run_that_cannot_be_read_empties_no_report(format: str) -> None:  # noqa: A002
    Path("report").write_text("old")
    Path("bad.jsonl").write_text("{nonsense\n")
    for runs in (["bad.jsonl"], ["bad.jsonl", "r.jsonl"]):
        result = called("verify", "p.vgl", *runs, "--format", format, "-o", "report")
        assert (result.status, Path("report").read_text()) == (2, "old")
        assert "report is not written" in result.err
    assert called("abstract", "bad.jsonl", "-o", "report").status == 2
    assert Path("report").read_text() == "old"
    assert called("verify", "p.vgl", "bad.jsonl", "--format", "sarif", "-o", "report").status == 2
    assert "VGL601" in Path("report").read_text()  # a format that says what went wrong


# --- whole or not at all -------------------------------------------------------------------------------------------

WRITES = [
    ("lint", "p.vgl", "-o", "out"),
    ("verify", "p.vgl", "r.jsonl", "-o", "out"),
    ("compile", "p.vgl", "--length", "1", "-o", "out"),
    ("abstract", "r.jsonl", "-o", "out"),
    ("signature", "r.jsonl", "-o", "out"),
    ("test", "--coverage-json", "out"),
    ("draft", "SKILL.md", "--skeleton", "--force", "-o", "out"),
    ("fmt", "out.vgl"),
    ("lint", "out.vgl", "--fix", "--no-cache"),
    ("lint", "p.vgl", "--baseline", "out.json", "--update-baseline"),
]


def failing(step: str) -> object:
    """Something that fails in place of a step of writing."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Full:
        def __init__(self, handle: int, mode: str) -> None:
            self.inner: IO[bytes] = os.fdopen(handle, mode)

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.inner.close()

        def write(self, data: bytes) -> None:
            self.inner.write(data[: len(data) // 2])
            fail()

    class Os:
        def __getattr__(self, name: str) -> object:
            return {"fdopen": Full} .get(name, getattr(os, name)) if step == "write" else (
                fail if name == step else getattr(os, name)
            )  # fmt: skip

    return fail if step == "replace" else Os()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("call", WRITES, ids=" ".join)
def test_a_write_that_fails_leaves_the_old_file(
    call: tuple[str, ...], step: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", "")
    old = {"out": "old", "out.vgl": "statement  A:abs( rm( path=x ) )\n", "out.json": FILES["base.json"]}
    for name, text in old.items():
        Path(name).write_text(text)
        Path(name).chmod(0o640)
    if call[:2] == ("lint", "out.vgl"):
        Path("out.vgl").write_text("statement A: abs(rm() and rm())\n")
        old["out.vgl"] = Path("out.vgl").read_text()
    before = sorted(map(str, Path().iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(*((Path, "replace") if step == "replace" else (outputs, "os")), failing(step))
        result = called(*call)
    assert (result.status, "no space left" in " ".join(result.err.split())) == (2, True), result
    assert sorted(map(str, Path().iterdir())) == before
    assert {name: Path(name).read_text() for name in old} == old
    assert texts(place) == FILES
    assert called(*call).status in (0, 1)
    changed = [name for name, text in old.items() if Path(name).read_text() != text]
    assert all(stat.S_IMODE(Path(name).stat().st_mode) == 0o640 for name in changed)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_the_old_file_and_nothing_beside_it(place: Path, number: int) -> None:
    (place / "out").write_text("old")
    text = (
        "import sys, time\nfrom vigil_lang.base.outputs import replacing\n"
        "with replacing('out') as stream:\n    stream.write(b'half')\n    stream.flush()\n"
        "    print('ready', flush=True)\n    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(list(place.glob(".vigil-*"))) == 1
        process.send_signal(number)
        assert process.wait(30) in (-number, 1)
    assert list(place.glob(".vigil-*")) == []
    assert (place / "out").read_text() == "old"


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("nowhere/out", "no such file or directory"),
        ("skills", "is a directory"),
        ("out/", "is a directory"),
        ("r.jsonl/out", "not a directory"),
        ("a\0b", "null"),
        ("x" * 300, "file name too long"),
        ("loop/out", "too many levels of symbolic links"),
        ("/dev/full", "no space left on device"),
        ("/dev/fd/987", "bad file descriptor"),
    ],
)
def test_where_nothing_can_be_written(output: str, why: str) -> None:
    Path("loop").symlink_to("loop")
    result = called("lint", "p.vgl", "-o", output)
    assert (result.status, why in " ".join(result.err.split())) == (2, True), result.err


@pytest.mark.usefixtures("place")
def test_a_folder_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    Path("out").write_text("old")
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    result = called("lint", "p.vgl", "-o", "out")
    assert (result.status, Path("out").read_text()) == (2, "old")
    assert "cannot write `out`: permission denied" in result.err


@pytest.mark.usefixtures("place")
def test_a_name_that_is_no_text_keeps_no_report_from_being_written() -> None:
    Path(os.fsdecode(b"\xff.vgl")).write_text("statement A: abs(\n")
    for format in ("human", "json", "sarif", "concise"):  # noqa: A001
        assert called("lint", ".", "--format", format, "-o", "out").status in (0, 1)
        assert "VGL101" in Path("out").read_text()


# --- streams -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
def test_standard_output_by_any_name_loses_nothing(place: Path, output: str) -> None:
    log = place / "log"
    log.write_text("before\n")
    with log.open("a") as stream:
        command = [sys.executable, "-m", "vigil_lang", "signature", "tools.json", "-o", output]
        assert subprocess.run(command, stdout=stream, timeout=60, check=False).returncode == 0
    assert log.read_text().startswith("before\n{")
    assert Path("/dev/stdout").is_symlink()


@pytest.mark.usefixtures("place")
def test_a_pipe_is_written_to_and_one_that_nobody_reads_does_not_hold_us(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("pipe")
    monkeypatch.setattr(outputs, "_PATIENCE", 0.2)
    result = called("signature", "tools.json", "-o", "pipe")
    assert (result.status, "no such device or address" in result.err) == (2, True)
    monkeypatch.setattr(outputs, "_PATIENCE", 20)
    read: list[str] = []

    def reader() -> None:
        time.sleep(0.1)
        read.append(Path("pipe").read_text())

    thread = threading.Thread(target=reader)
    thread.start()
    assert called("signature", "tools.json", "-o", "pipe").status == 0
    thread.join(20)
    assert read[0].startswith("{")
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)


def test_outside_of_a_call_nothing_is_remembered(place: Path) -> None:
    inputs.note("p.vgl")
    outputs.write_text("p.vgl", "")
    with inputs.remembered():
        inputs.note("r.jsonl")
        with pytest.raises(InputError):
            outputs.write_text(str(place / "r.jsonl"), "")
    outputs.write_text("r.jsonl", "new")
    assert (place / "r.jsonl").read_text() == "new"
