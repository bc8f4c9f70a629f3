"""The commands behind an editor's list of tests: they say what `vigil test` says, with places for the editor."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vigil_lang.cli.main import run
from vigil_lsp.recordings.messages import Question, Withdraw
from vigil_lsp.recordings.worker import Worker

if TYPE_CHECKING:
    from pathlib import Path

    from lsp_session import Session
    from lsp_wire import Wire

POLICY = """statement S: abs(Send(to = "eve"))
statement T: prec(Send(to = x), Ask(to = x))
"""
TESTS = """use .p
/// What must not be.
test "𝔸 met" { run { s: Send(to = "eve") } expect S violated at s }
/* 𝔸 */ test "unmet" { run { s: Send(to = "bob") } expect S violated at s expect T violated with x = "ann" }
test "wrong" { run { s: Send(to = "bob") } expect Nothing satisfied }
""".replace("/* 𝔸 */ ", "")


async def do(session: Session, command: str, *arguments: Any) -> Any:
    return await session.ask(types.WORKSPACE_EXECUTE_COMMAND, types.ExecuteCommandParams(command, list(arguments)))


def printed(*arguments: str) -> Any:
    """What the command line prints, as JSON."""
    with redirect_stdout(StringIO()) as out:
        run(["test", "--isolated", "--format", "json", *arguments])
    return json.loads(out.getvalue())


def is_text(report: dict[str, Any], name: str) -> bool:
    return isinstance(report.get(name), str)


def plain(report: Any) -> Any:
    """A report without what the editor needs beside it, and without times."""
    if isinstance(report, dict):
        # `wanted` is the command line's, too, where it is no text.
        own = {"location", "of", "seconds", "missing", *(name for name in ("wanted", "found") if is_text(report, name))}
        kept = {name: value for name, value in report.items() if name not in own}
        return {name: plain(value) for name, value in kept.items()}
    return [plain(one) for one in report] if isinstance(report, list) else report


def part(session: Session, location: Any) -> str:
    """The text at a place, in the client's encoding."""
    from lsp_positions import part as part_of

    structured = types.Range(types.Position(**location["range"]["start"]), types.Position(**location["range"]["end"]))
    return part_of(session.text(location["uri"]), structured, session.encoding)


@pytest.fixture
def files(session: Session) -> Session:
    session.write("p.vgl", POLICY)
    session.write("p_test.vgl", TESTS)
    return session


async def test_the_files_are_those_that_the_command_runs(session: Session) -> None:
    for name in ("a/p_test.vgl", "b/p_test.vgl", "b/p.vgl", "old/p_test.vgl"):
        session.write(name, "use .p\n")
    session.write("vigil.toml", 'exclude = ["old/"]\n')
    session.changed("vigil.toml", how=types.FileChangeType.Created)
    await session.open("use .p\n", "b/p_test.vgl")
    own = f"{session.folder.as_uri()}/"

    async def found() -> list[str]:
        return [uri.removeprefix(own) for uri in await do(session, "vigil.testFiles") if uri.startswith(own)]

    assert await found() == ["a/p_test.vgl", "b/p_test.vgl"]
    session.write("vigil.toml", '[test]\npaths = ["a/"]\n')
    session.changed("vigil.toml")
    assert await found() == ["a/p_test.vgl", "b/p_test.vgl"], "one is named, the other is open"
    session.pages[session.uri("b/p_test.vgl")].close()
    assert await found() == ["a/p_test.vgl"]


async def test_the_tests_of_a_file(files: Session) -> None:
    found = await do(files, "vigil.testsIn", files.uri("p_test.vgl"))
    assert [one["name"] for one in found["tests"]] == ["𝔸 met", "unmet", "wrong"]
    assert [part(files, one["location"]) for one in found["tests"]] == ['"𝔸 met"', '"unmet"', '"wrong"']
    (error,) = found["errors"]
    assert error["message"].startswith("VGL610: there is no statement `Nothing`")
    assert part(files, error["location"]) == "Nothing"


async def test_a_file_that_cannot_be_read_says_so(files: Session) -> None:
    files.write("q_test.vgl", "test {")
    found = await do(files, "vigil.testsIn", files.uri("q_test.vgl"))
    assert found["tests"] == []
    assert [one["message"][:7] for one in found["errors"]] == ["VGL101:"]
    gone = await do(files, "vigil.testsIn", files.uri("gone_test.vgl"))
    assert [one["message"][:7] for one in gone["errors"]] == ["VGL001:"]


async def test_results_are_those_of_the_command_line(files: Session) -> None:
    path = str(files.folder / "p_test.vgl")
    request = {"files": [{"uri": files.uri("p_test.vgl")}], "coverage": True}
    found = await do(files, "vigil.testResults", request)
    assert plain(found) == plain(printed(path, "--coverage"))
    met, unmet = found["tests"]
    assert (met["outcome"], part(files, met["location"])) == ("passed", '"𝔸 met"')
    said = [(one["message"], one["wanted"], one["found"], part(files, one["location"])) for one in unmet["failures"]]
    assert said == [
        ("`S` is satisfied, not violated", "violated at s", "satisfied", "S"),
        ("`T` is violated at `s` with x = `bob`, not with x = `ann`", "violated with x = ann",
         "violated at s with x = bob", "T"),
    ]  # fmt: skip
    assert [part(files, one["location"]) for one in found["errors"]] == ["Nothing"]
    (file,) = found["coverage"]["files"]
    parts = {part(files, one["location"]): one["missing"] for one in file["parts"]}
    assert parts["S"] == ""
    assert parts["T"] == "never satisfied by a run that puts it to the test"


async def test_one_test_alone(files: Session) -> None:
    request = {"files": [{"uri": files.uri("p_test.vgl"), "tests": ["unmet"]}]}
    found = await do(files, "vigil.testResults", request)
    assert plain(found) == plain(printed(str(files.folder / "p_test.vgl"), "-k", "unmet"))
    assert [one["name"] for one in found["tests"]] == ["unmet"]
    assert "coverage" not in found


async def test_the_projects_own_tools_count(session: Session) -> None:
    session.write("vigil.toml", '[tools.shell]\nshell = "command"\n')
    session.changed("vigil.toml", how=types.FileChangeType.Created)
    session.write("p.vgl", "statement S: abs(file.delete())\n")
    session.write("p_test.vgl", 'use .p\ntest "it" { calls { shell(command = "rm a") } expect S violated }\n')
    found = await do(session, "vigil.testResults", {"files": [{"uri": session.uri("p_test.vgl")}]})
    assert found["summary"]["passed"] == 1


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("vigil.testsIn", []),
        ("vigil.testsIn", ["file:///etc/passwd"]),
        ("vigil.testsIn", ["file:///etc/x_test.vgl"]),
        ("vigil.testResults", [{"files": [{}]}]),
        ("vigil.testResults", [{"files": [{"uri": "file:///etc/x_test.vgl"}]}]),
        ("vigil.testResults", [{"files": [{"uri": "HERE", "tests": [3]}]}]),
        ("vigil.testResults", [{"files": 3}]),
    ],
)
async def test_hostile_questions_are_refused(files: Session, command: str, arguments: list[Any]) -> None:
    text = json.dumps(arguments).replace("HERE", files.uri("p_test.vgl"))
    with pytest.raises(JsonRpcException):
        await do(files, command, *json.loads(text))


async def test_a_run_can_be_cancelled(session_wire: Wire, tmp_path: Path) -> None:
    """Whoever asked is told at once, and what is asked next is answered."""
    folder = {"uri": tmp_path.as_uri(), "name": "t"}
    session_wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    (tmp_path / "p.vgl").write_text(POLICY)
    (tmp_path / "p_test.vgl").write_text('use .p\ntest "it" { run { Send(to = "eve") } expect S violated }\n')
    files = {"files": [{"uri": (tmp_path / "p_test.vgl").as_uri()}]}
    asked = {"command": "vigil.testResults", "arguments": [files]}
    number = session_wire.ask("workspace/executeCommand", asked)
    session_wire.notify("$/cancelRequest", {"id": number})
    assert (await session_wire.response(number))["error"]["code"] == -32800
    answer = await session_wire.call("workspace/executeCommand", asked)
    assert answer["result"]["summary"]["passed"] == 1


def test_what_nobody_waits_for_is_not_gone_on_with(tmp_path: Path) -> None:
    """The process that runs tests ends a run between two of them."""
    (tmp_path / "p.vgl").write_text(POLICY)
    path = tmp_path / "p_test.vgl"
    path.write_text("use .p\n" + "".join(f'test "t{at}" {{ run {{ }} expect S satisfied }}\n' for at in range(20)))
    sent: list[Any] = []
    worker = Worker(sent.append)
    question = Question(1, "test run", (((str(path), None, ""),), False))
    worker.take(question)
    worker.step()
    assert worker.busy
    worker.take(Withdraw(1))
    assert (worker.busy, sent) == (False, [])
    worker.take(question)
    while worker.busy:
        worker.step()
    (answer,) = sent
    assert answer.value["summary"]["passed"] == 20
