"""Findings in the editor: pushed and pulled, complete, of the text as it is, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsp_session import PROFILES, Profile
from lsprotocol import types

from vigil_lang.diagnostics import Diagnostic, Source, Span
from vigil_lang.lint.baseline import update
from vigil_lang.lint.run import Plan, lint
from vigil_lsp.files import Files
from vigil_lsp.findings import Findings, moved, to_protocol
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from conftest import Alone
    from lsp_session import Session


async def test_findings_of_reading_and_of_the_linter_come_together(session: Session) -> None:
    page = await session.open('// 𝔸é\nstatement S: abs(missng(x))\nstatement T: abs(Send(to = "a", agent = y))\n')
    assert await page.findings(("VGL209", "x"), ("VGL301", "y")) == [("VGL209", "x"), ("VGL301", "y")]


async def test_a_half_written_statement_silences_nothing_else(session: Session) -> None:
    page = await session.open(
        "statement S: abs(Send(to = x))\n\nstatement T: prec(\n\nstatement U: abs(Read(file_path = y))\n"
    )
    found = await page.findings(("VGL301", "x"), ("VGL101", "("), ("VGL301", "y"))
    assert found == [("VGL301", "x"), ("VGL101", "("), ("VGL301", "y")]


async def test_findings_follow_the_text(session: Session) -> None:
    page = await session.open("statement S: abs(Send(to = x))\n")
    assert await page.findings(("VGL301", "x")) == [("VGL301", "x")]
    page.replace("(to = x)", "()")
    assert await page.findings() == []
    page.replace("Send()", "Send() Read()")
    assert await page.findings(("VGL101", "Read")) == [("VGL101", "Read")]
    page.replace(" Read()", "")
    assert await page.findings() == []


async def test_an_ignore_comment_counts_and_an_idle_one_is_found(session: Session) -> None:
    page = await session.open("statement S: abs(Send(to = x)) // vigil: ignore[VGL301] any will do\n")
    assert await page.findings() == []
    page.replace("to = x", "")
    assert await page.findings(("VGL007", "VGL301")) == [("VGL007", "VGL301")]


async def test_unsaved_texts_of_modules_count(session: Session) -> None:
    session.write("base.vgl", "pattern sends = Send()\n")
    page = await session.open("use .base: sends\nstatement S: abs(sends)\n", "top.vgl")
    assert await page.findings() == []
    base = await session.open("pattern sends = Send()\n", "base.vgl")
    base.replace("sends", "posts")
    assert await page.findings(("VGL201", "sends"), ("VGL201", "sends")) == [("VGL201", "sends")] * 2
    base.close()
    assert await page.findings() == []


async def test_a_module_that_appears_is_found(session: Session) -> None:
    page = await session.open("use .base: sends\nstatement S: abs(sends)\n", "top.vgl")
    missing = [("VGL207", ".base"), ("VGL201", "sends")]
    assert await page.findings(*missing) == missing
    session.write("base.vgl", "pattern sends = Send()\n")
    session.changed("base.vgl", how=types.FileChangeType.Created)
    assert await page.findings() == []


async def test_the_configuration_counts_and_its_changes_do(session: Session) -> None:
    session.write("vigil.toml", '[lint]\nignore = ["VGL301"]\n')
    page = await session.open("statement S: abs(Send(to = x))\n")
    assert await page.findings() == []
    session.write("vigil.toml", '[lint]\nseverity = { VGL301 = "error" }\n')
    session.changed("vigil.toml")
    found = await page.diagnostics(lambda sent: len(sent) == 1)
    assert [one.severity for one in found] == [types.DiagnosticSeverity.Error]


async def test_what_the_baseline_knows_is_let_pass(session: Session) -> None:
    old = "statement S: abs(Send(to = x))\n"
    path = session.write("p.vgl", old)
    update(lint(Source(str(path), old), Plan()).findings, [str(path)], str(session.folder / ".known.json"))
    session.write("vigil.toml", '[lint]\nbaseline = ".known.json"\n')
    session.changed("vigil.toml")
    page = await session.open(old + "statement T: abs(Read(file_path = y))\n")
    assert await page.findings(("VGL301", "y")) == [("VGL301", "y")]


async def test_what_is_closed_has_no_findings(session: Session) -> None:
    page = await session.open("statement S: abs(Send(to = x))\n")
    assert await page.findings(("VGL301", "x")) == [("VGL301", "x")]
    page.close()
    if not session.pulls:
        assert await session.until(lambda: session.published[page.uri][-1].diagnostics == ())


async def test_a_document_that_was_never_saved_is_linted(session: Session) -> None:
    page = session.open_uri("untitled:Untitled-1", "use .base\nstatement S: abs(Send(to = x))\n")
    found = [("VGL207", ".base"), ("VGL301", "x")]
    assert await page.findings(*found) == found


async def test_what_is_no_policy_has_no_findings(session: Session) -> None:
    page = await session.open("statement S: abs(", "notes.txt", "plaintext")
    other = await session.open("statement S: abs(\n", "x.vgl")
    assert [code for code, _ in await other.findings(("VGL101", "("))] == ["VGL101"]
    assert page.uri not in session.published


async def test_related_places_are_told(session: Session) -> None:
    page = await session.open("let A = {x}\nlet A = {y}\nstatement S: abs(action in A)\n")
    found = await page.diagnostics(lambda sent: any(one.code == "VGL202" for one in sent))
    twice = next(one for one in found if one.code == "VGL202")
    assert twice.related_information is not None
    assert page.part(twice.related_information[0].location.range) == "A"
    assert twice.source == "vigil"


async def test_related_places_are_not_told_to_an_editor_that_shows_none(alone: Alone) -> None:
    session = await alone(Profile("emacs", "utf-16"))
    page = await session.open("let A = {x}\nlet A = {y}\nstatement S: abs(action in A)\n")
    found = await page.diagnostics(lambda sent: any(one.code == "VGL202" for one in sent))
    assert [one.related_information for one in found if one.code == "VGL202"] == [None]


@pytest.fixture
def pulling() -> int:
    return next(at for at, profile in enumerate(PROFILES) if profile.editor == "neovim")


async def test_pulled_findings_are_the_same_until_they_are_not(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling])
    page = await session.open("statement S: abs(Send(to = x))\n")
    first = await page.ask(types.TEXT_DOCUMENT_DIAGNOSTIC)
    assert [one.code for one in first.items] == ["VGL301"]
    again = await page.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, previous_result_id=first.result_id)
    assert again.kind == types.DocumentDiagnosticReportKind.Unchanged
    assert again.result_id == first.result_id
    page.replace("x", "y")
    changed = await page.ask(types.TEXT_DOCUMENT_DIAGNOSTIC, previous_result_id=first.result_id)
    assert [one.message.count("`y`") for one in changed.items] == [1]
    assert page.uri not in session.published, "a client that asks is not sent findings as well"


async def test_findings_of_the_whole_workspace(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling], begin=False)
    session.write("shut.vgl", "statement S: abs(Send(to = x))\n")
    session.write("fine.vgl", "statement S: abs(Send())\n")
    await session.begin()
    page = await session.open("statement S: abs(Read(file_path = y))\n", "open.vgl")
    report = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams([]))
    told = {session.name(one.uri): [found.code for found in one.items] for one in report.items}
    assert told == {"shut.vgl": ["VGL301"], "fine.vgl": [], "open.vgl": ["VGL301"]}
    versions = {session.name(one.uri): one.version for one in report.items}
    assert versions == {"shut.vgl": None, "fine.vgl": None, "open.vgl": 1}
    before = [types.PreviousResultId(one.uri, one.result_id) for one in report.items]
    page.replace("(file_path = y)", "()")
    later = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams(before))
    assert {session.name(one.uri): one.kind for one in later.items} == {
        "shut.vgl": "unchanged", "fine.vgl": "unchanged", "open.vgl": "full",
    }  # fmt: skip


async def test_policies_that_are_not_open_follow_modules_that_are(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling], begin=False)
    session.write("lib.vgl", "pattern sends = Send()\n")
    session.write("user.vgl", "use .lib: sends\nstatement S: abs(sends)\n")
    await session.begin()
    everything = types.WorkspaceDiagnosticParams([])

    async def told() -> dict[str, list[str]]:
        report = await session.ask(types.WORKSPACE_DIAGNOSTIC, everything)
        return {session.name(one.uri): [found.code for found in one.items] for one in report.items}

    assert await told() == {"lib.vgl": [], "user.vgl": []}
    page = await session.open("pattern sends = Send()\n", "lib.vgl")
    page.replace("sends", "posts")
    assert await told() == {"lib.vgl": [], "user.vgl": ["VGL201", "VGL201"]}


async def test_a_client_that_asks_is_told_to_ask_again(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling], begin=False)
    capabilities = PROFILES[pulling].params(session.root).capabilities
    assert capabilities.workspace is not None
    capabilities.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    await session.begin(capabilities=capabilities)
    lib = await session.open("pattern sends = Send()\n", "lib.vgl")
    user = await session.open("use .lib: sends\nstatement S: abs(sends)\n", "user.vgl")
    assert await user.findings() == []
    before = session.refreshed[types.WORKSPACE_DIAGNOSTIC_REFRESH]
    lib.replace("sends", "posts")
    assert await session.until(lambda: session.refreshed[types.WORKSPACE_DIAGNOSTIC_REFRESH] > before)
    assert await user.findings(("VGL201", "sends"), ("VGL201", "sends")) == [("VGL201", "sends")] * 2


async def test_what_was_reported_and_is_no_more_has_no_findings(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling], begin=False)
    gone = session.write("gone.vgl", "statement S: abs(Send(to = x))\n")
    session.write("bytes.vgl", b"statement S: abs(Send()) // \xff\n")
    session.write("sub/vigil.toml", 'exclude = ["out.vgl"]\n')
    session.write("sub/out.vgl", "statement S: abs(Send(to = x))\n")
    session.write("sub/in.vgl", "statement S: abs(Send(to = x))\n")
    await session.begin()
    await session.open("statement S: abs(Send())\n", "sub/open.vgl")
    first = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams([]))
    told = [(session.name(one.uri), [found.code for found in one.items]) for one in first.items]
    assert sorted(told) == [
        ("bytes.vgl", ["VGL002"]),
        ("gone.vgl", ["VGL301"]),
        ("sub/in.vgl", ["VGL301"]),
        ("sub/open.vgl", []),
    ]
    gone.unlink()
    session.changed("gone.vgl", how=types.FileChangeType.Deleted)
    before = [types.PreviousResultId(one.uri, one.result_id) for one in first.items]
    later = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams(before))
    full = {session.name(one.uri): list(one.items) for one in later.items if one.kind == "full"}
    assert full == {"gone.vgl": []}


async def test_tests_are_of_the_policy_as_it_is_open(session: Session) -> None:
    policy = await session.open("statement U: abs(Send())\n", "user.vgl")
    text = 'test "t" {\n    run {\n        Read()\n    }\n    expect U satisfied\n}\n'
    tests = await session.open(text, "user_test.vgl")
    assert await tests.findings() == []
    policy.replace("U", "V")
    assert await tests.findings(("VGL610", "U")) == [("VGL610", "U")]


async def test_what_documents_ask_for_is_shown_in_them(alone: Alone) -> None:
    session = await alone(begin=False)
    session.write("vigil.toml", "[lint]\nobligations = true\n")
    session.write("SKILL.md", "# Skill\n\nYou must read a file before you edit it.\n\nNever send mail.\n")
    session.write("p.vgl", '@source("SKILL.md", "Never send mail.")\nstatement S: abs(Send())\n')
    await session.begin()
    uri = session.uri("SKILL.md")
    assert await session.until(lambda: bool(session.published.get(uri)))
    found = session.published[uri][-1].diagnostics
    assert [(one.code, one.range.start.line) for one in found] == [("VGL706", 2)]
    session.write("vigil.toml", "")
    session.changed("vigil.toml")
    assert await session.until(lambda: session.published[uri][-1].diagnostics == ())


TOOLS = '[{"name": "Write", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}]'


async def test_tool_definitions_alone_tell_names(session: Session) -> None:
    session.write("tools.json", TOOLS)
    session.write("vigil.toml", 'signatures = ["tools.json"]\n')
    session.changed("vigil.toml")
    page = await session.open("statement S: abs(Write(paht = x and path = x))\n")
    found = [("VGL402", "paht")]
    assert await page.findings(*found) == found


async def test_policies_that_are_not_open_are_held_against_the_runs(alone: Alone, pulling: int) -> None:
    session = await alone(PROFILES[pulling], begin=False)
    session.write("tools.json", TOOLS)
    session.write("vigil.toml", 'signatures = ["tools.json"]\n')
    session.write("shut.vgl", "statement S: abs(Write(paht = x and path = x))\n")
    await session.begin()
    page = await session.open("statement S: abs(Write(paht = x and path = x))\n", "open.vgl")
    assert await page.diagnostics(lambda sent: {one.code for one in sent} == {"VGL402"})
    report = await session.ask(types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams([]))
    told = {session.name(one.uri): [found.code for found in one.items] for one in report.items}
    assert told == {"open.vgl": ["VGL402"], "shut.vgl": ["VGL402"]}


async def test_what_is_wrong_with_a_configuration_is_shown_there(alone: Alone) -> None:
    session = await alone(begin=False)
    session.write("vigil.toml", '[lint]\nselekt = ["VGL3"]\n')
    await session.begin()
    uri = session.uri("vigil.toml")
    assert await session.until(lambda: bool(session.published.get(uri)))
    found = session.published[uri][-1].diagnostics
    assert [(one.code, one.range.start.line) for one in found] == [("VGL006", 1)]
    session.write("vigil.toml", '[lint]\nselect = ["VGL3"]\n')
    session.changed("vigil.toml")
    assert await session.until(lambda: session.published[uri][-1].diagnostics == ())


# --- without a server --------------------------------------------------------------------------------------


def finding(source: Source, text: str, code: str = "VGL301") -> Diagnostic:
    at = source.text.index(text)
    return Diagnostic.of(code, f"about {text}", source, Span(at, at + len(text)))


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("alpha beta gamma", ["alpha", "beta", "gamma"]),
        ("alpha  beta gamma", ["alpha", "beta", "gamma"]),
        ("// new\nalpha beta gamma", ["alpha", "beta", "gamma"]),
        ("alpha betta gamma", ["alpha", "gamma"]),
        ("alpha gamma", ["alpha", "gamma"]),
        ("beta gamma", ["beta", "gamma"]),
        ("", []),
        ("something else", []),
    ],
)
def test_older_findings_stand_where_their_text_stands_now(after: str, kept: list[str]) -> None:
    before = Source("p.vgl", "alpha beta gamma")
    source = Source("p.vgl", after)
    found = list(moved([finding(before, word) for word in ("alpha", "beta", "gamma")], source))
    assert [after[one.span.start : one.span.end] for one in found] == kept
    assert all(one.source is source for one in found)


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("alpha betta gamma", ["alpha", "betta", "gamma"]),
        ("alpha betas gamma", ["alpha", "beta", "gamma"]),
        ("alpha be gamma", ["alpha", "be", "gamma"]),
        ("alph gamma", ["alph", "gamma"]),
        ("alphama", ["alpha", "ma"]),
        ("", []),
    ],
)
def test_where_findings_are_sent_those_being_typed_in_stay(after: str, kept: list[str]) -> None:
    before = Source("p.vgl", "alpha beta gamma")
    found = moved([finding(before, word) for word in ("alpha", "beta", "gamma")], Source("p.vgl", after), kept=True)
    assert [after[one.span.start : one.span.end] for one in found] == kept


def test_the_same_finding_is_shown_once() -> None:
    source = Source("p.vgl", "alpha beta")
    first, second = finding(source, "beta"), finding(source, "alpha")
    assert Findings(source, (first,), (first, second)).diagnostics == (second, first)


@pytest.mark.parametrize(
    ("span", "text", "seen"),
    [
        (Span(0, 3), "abc", "abc"),
        (Span(3, 3), "abc", "c"),
        (Span(0, 0), "abc", "a"),
        (Span(4, 4), "abc\nd", "d"),
        (Span(0, 0), "", ""),
        (Span(1, 1), " \n", ""),
    ],
)
def test_what_has_no_length_is_still_seen(span: Span, text: str, seen: str) -> None:
    source = Source("p.vgl", text)
    shown = to_protocol(Diagnostic.of("VGL101", "missing", source, span), Text(text), Files())
    assert text[Text(text).span(shown.range).start : Text(text).span(shown.range).end] == seen
