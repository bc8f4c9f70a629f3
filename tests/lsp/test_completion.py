"""Completion: what is offered (completions.md is a table of it), and what accepting it writes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_completing import Found, complete, importable, known, read
from lsp_positions import edited, marked
from lsprotocol import types

from vigil_lang.documents.library import Library
from vigil_lang.semantics.text import glob_text, unescape
from vigil_lsp.completing.comments import in_comment
from vigil_lsp.completing.documentation import documentation
from vigil_lsp.completing.offer import MOST, Abilities, Offer, completion_list
from vigil_lsp.completing.place import comment_at, place_at
from vigil_lsp.completing.spelling import glob_inside, literal, may_show
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from conftest import Alone
    from lsp_session import Session

# --- the table ---------------------------------------------------------------------------------------------

_PAGE = Path(__file__).with_name("completions.md").read_text(encoding="utf-8")
_POLICY, _TESTED = re.findall(r"```vgl\n(.*?)```", _PAGE, re.DOTALL)
_ROW = re.compile(r"\| `(.+?)` \| (.*) \|")


def _rows(page: str) -> list[tuple[str, list[str]]]:
    found = [_ROW.fullmatch(line) for line in page.splitlines()]
    return [
        (row[1].replace("\\|", "|").replace("⏎", "\n"), re.findall(r"`([^`]+)`|(…)", row[2].replace("\\|", "|")))
        for row in found
        if row is not None
    ]  # type: ignore[misc]


def _as_told(found: Found, told: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """What is offered and what the table says, as far as that goes."""
    labels = [label for label, _ in told if label]
    more = ("", "…") in told
    assert not more or len(found.labels) > len(labels)
    return (found.labels[: len(labels)] if more else found.labels), labels


_IN_POLICIES, _IN_TESTS = (_rows(part) for part in _PAGE.split("\n## In tests"))


@pytest.mark.parametrize(("text", "told"), _IN_POLICIES)
def test_offered_in_policies(text: str, told: list[tuple[str, str]]) -> None:
    offered, expected = _as_told(complete(f"{_POLICY}\n{text}"), told)
    assert offered == expected


@pytest.mark.parametrize(("text", "told"), _IN_TESTS)
def test_offered_in_tests(text: str, told: list[tuple[str, str]]) -> None:
    found = complete(
        text,
        path="/nowhere/p_test.vgl",
        beside={"namesake": _TESTED},
        recordings=lambda: ["a.jsonl", "runs/b.jsonl"],
    )
    offered, expected = _as_told(found, told)
    assert offered == expected


def test_table_is_whole() -> None:
    assert len(_IN_POLICIES) + len(_IN_TESTS) > 110


# --- what it writes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label", "after"),
    [
        ("statement S: abs(file.wr«»)", "file.write", "statement S: abs(file.write)"),
        ("statement S: abs(file.«»)", "file.write", "statement S: abs(file.write)"),
        ("statement S: abs(fi«»le.read())", "file.write", "statement S: abs(file.write())"),
        ("statement S: abs(Write(sta«»))", "status", 'statement S: abs(Write("status"))'),
        ("use std.f«»iles", "std.more", "use std.more"),
        ("use .sh«»", ".shared", "use .shared"),
        ("use .«»", ".shared", "use .shared"),
        ("statement S: abs(Bash(command = gi«»", '"git status"', 'statement S: abs(Bash(command = "git status"'),
        ('statement S: abs(a(command = "gi«»t x"))', '"git status"', 'statement S: abs(a(command = "git status"))'),
        ('statement S: abs(Bash(command = "gi«»', '"git status"', 'statement S: abs(Bash(command = "git status"'),
        ('statement S: abs(Bash(command ~ "g«»"))', '"git *"', 'statement S: abs(Bash(command ~ "git *"))'),
        ("statement S: abs(a«» and b())", "action", "statement S: abs(action and b())"),
        ("statement S: a«»bs(a())", "atmost", "statement S: atmost(a())"),
        ("@sev«»erity(error)", "source", "@source(error)"),
        ('@severity("«»")', "warning", '@severity("warning")'),
        ("statement S: abs(Bash(timeout >= «»))", "30", "statement S: abs(Bash(timeout >= 30))"),
        ("«»", "@severity", "@severity"),
    ],
)  # fmt: skip
def test_accepting_replaces_the_whole_word(text: str, label: str, after: str) -> None:
    assert complete(text).accepted(label) == after


@pytest.mark.parametrize(
    ("text", "label", "snippet"),
    [
        ("statement S: «»", "prec", "prec(${1:trigger}, ${2:guard})"),
        ("statement S: «»", "bresp", "bresp[${1:3}](${2:trigger}, ${3:response})"),
        ("statement S: «»", "always", "always $1"),
        ("@«»", "severity", "severity(${1|error,warning,info|})"),
        ("pattern p(x, y) = a()\nstatement S: abs(«»", "p", "p(${1:x}, ${2:y})"),
        ("statement S: abs(«»", "Bash", "Bash($1)"),
        ("statement S: abs(f «»", "in", "in {$1}"),
    ],
)
def test_snippets(text: str, label: str, snippet: str) -> None:
    assert complete(text)[label].snippet == snippet


def _answer(text: str, abilities: Abilities) -> tuple[Found, Text, dict[str, types.CompletionItem]]:
    found = complete(text)
    plain = Text(found.text)
    answer = completion_list(found.offers, found.place, plain, abilities, {"uri": "u"})
    return found, plain, {item.label: item for item in answer.items}


def test_items_in_the_protocols_words() -> None:
    found, plain, items = _answer("statement S: abs(Ba«»sh2)", Abilities())
    item = items["Bash"]
    assert isinstance(item.text_edit, types.TextEdit)
    assert edited(found.text, [item.text_edit], "utf-16") == "statement S: abs(Bash)"
    assert item.insert_text_format == types.InsertTextFormat.PlainText
    assert item.kind == types.CompletionItemKind.Event
    assert item.detail == "8 events"
    assert item.data == {"uri": "u", "about": ["action", "Bash"]}
    assert item.commit_characters is None
    order = sorted(items, key=lambda label: items[label].sort_text or "")
    assert order[:6] == found.labels[:6]
    assert plain.span(item.text_edit.range) == (17, 22)


def test_editors_that_insert_or_replace_are_told_both() -> None:
    _, plain, items = _answer("statement S: abs(Ba«»sh2)", Abilities(snippets=True, replaces=True))
    item = items["Bash"]
    assert isinstance(item.text_edit, types.InsertReplaceEdit)
    assert (plain.span(item.text_edit.insert), plain.span(item.text_edit.replace)) == ((17, 19), (17, 22))
    assert (item.text_edit.new_text, item.insert_text_format) == ("Bash($1)", types.InsertTextFormat.Snippet)


def test_no_second_parenthesis() -> None:
    _, _, items = _answer("statement S: abs(Ba«»(command))", Abilities(snippets=True))
    item = items["Bash"]
    assert item.text_edit is not None
    assert (item.text_edit.new_text, item.insert_text_format) == ("Bash", types.InsertTextFormat.PlainText)


def test_commit_characters_only_where_nothing_else_can_stand() -> None:
    _, _, items = _answer("use std.files: «»", Abilities(commits=True))
    assert items["writes"].commit_characters == [","]
    _, _, items = _answer("statement S: abs(Bash(command = «»", Abilities(commits=True))
    assert {item.commit_characters for item in items.values()} == {None}


def test_values_are_found_without_their_quotes() -> None:
    _, _, items = _answer("statement S: abs(Bash(command = «»", Abilities())
    assert items['"git status"'].filter_text == "git status"
    _, _, items = _answer('statement S: abs(Bash(command = "«»"))', Abilities())
    assert items['"grep \\"a*b\\" src/x.py"'].filter_text == 'grep \\"a*b\\" src/x.py'


def test_too_many_are_cut_and_said_to_be() -> None:
    found = complete("statement S: abs(«»")
    many = [Offer(f"item{at}", types.CompletionItemKind.Text, f"item{at}", 10) for at in range(MOST + 50)]
    answer = completion_list(many, found.place, Text(found.text), Abilities(), {})
    assert (len(answer.items), answer.is_incomplete) == (MOST, True)
    typed = complete("statement S: abs(i24«»").place
    answer = completion_list(many, typed, Text(typed.typed), Abilities(), {})
    wanted = [offer.label for offer in many if re.search("2.*4", offer.label)]
    assert [item.label for item in answer.items] == wanted
    assert answer.is_incomplete


# --- imports -----------------------------------------------------------------------------------------------


def _imported(text: str, label: str) -> str:
    found = complete(text)
    adds = found[label].adds
    assert adds is not None
    after = found.accepted(label)
    assert adds.span.end <= found.place.start
    return after[: adds.span.start] + adds.text + after[adds.span.end :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("use std.files: reads\n\n", "use std.files: reads, writes\n\n"),
        ("policy p\n\n", "policy p\n\nuse std.files: writes\n\n"),
        ("use .shared\n\n", "use .shared\nuse std.files: writes\n\n"),
        ("", "use std.files: writes\n\n"),
        ("// Ours.\n\n/// Doc.\nlet A = {b}\n\n", "// Ours.\n\nuse std.files: writes\n\n/// Doc.\nlet A = {b}\n\n"),
    ],
)
def test_what_is_not_imported_yet_is_imported(before: str, after: str) -> None:
    assert _imported(f"{before}statement S: abs(wri«»)", "writes") == f"{after}statement S: abs(writes)"


def test_what_is_imported_is_not_imported_again() -> None:
    found = complete("use std.files\n\nstatement S: abs(wri«»)")
    assert found["writes"].adds is None
    assert found["writes"].origin == "std.files"


# --- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("password", "hunter2"),
        ("api_key", "abc"),
        ("auth.token", "abc"),
        ("key", "sk-proj-abcdefgh1234"),
        ("text", "ghp_0123456789abcdefghij"),
        ("header", "Authorization: Bearer abcdefg"),
        ("url", "https://ann:secret@host/x"),
        ("id", "0123456789abcdef0123456789abcdef"),
        ("id", "aB3dE6gH9jK2mN5pQ8sT"),
        ("text", "x" * 121),
        ("text", "a\nb"),
        ("text", "a\u202eb"),
        ("text", ""),
    ],
)
def test_secrets_and_what_nobody_would_write_are_not_offered(argument: str, value: str) -> None:
    assert not may_show(argument, value)


@pytest.mark.parametrize(
    "value", ["git status", "/home/ann/src/very/long/path/of/a_module_name.py", "https://host/a?b=c"]
)
def test_ordinary_values_are(value: str) -> None:
    assert may_show("command", value)


@pytest.mark.parametrize("value", ["a*b", "what?", 'say "hi"', "back\\slash", "tab\\t*", "{x}", "é𝔸"])
def test_literals_denote_the_value(value: str) -> None:
    assert unescape(literal(value)[1:-1]) == value
    from vigil_lang.semantics.text import Glob, predicate

    matches = predicate(Glob(glob_text(glob_inside(value))))
    assert matches(value)
    assert not matches(value.replace("*", "zz").replace("?", "zz") + "z")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(("6", "6"), ("-2.5", "-2.5"), ("true", "true"), ("12345678901234567890", '"12345678901234567890"')),
        *(("007", '"007"'), ("1e5", '"1e5"'), ("6.0", '"6.0"'), ("-0", '"-0"')),
    ],
)
def test_numbers_and_truth_values_stand_without_quotes(value: str, text: str) -> None:
    assert literal(value) == text


def test_how_often_something_was_seen_is_said() -> None:
    found = complete("statement S: abs(«»")
    assert (found["Read"].detail, found["mcp__gh__push"].detail) == ("4 events", "1 event")
    assert found["file.write"].detail == "a file is created or its contents are changed (3 events)"
    assert found["git.push"].detail.endswith("(not in the runs)")
    assert complete("statement S: abs(Write(file_path ~ «»")['"/w/*"'].detail == "3 events, 2 values"


def test_without_runs_there_is_the_vocabulary() -> None:
    found = complete("statement S: abs(file.delete(«»", with_runs=False)
    assert found.labels[0] == "path"
    assert "file.delete" in complete("statement S: abs(«»", with_runs=False).labels
    assert complete("statement S: abs(Bash(command = «»", with_runs=False).labels == ["true", "false"]


# --- nothing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "// a comm«»ent",
        "/// a docu«»mentation\nlet A = {b}",
        "statement S: abs(a(f ~ /re«»/))",
        "statement S: abs(a(f ~ /re«»",
        "statement S: abs(a(n > 1«»2))",
    ],
)
def test_nothing_in_comments_expressions_and_numbers(text: str) -> None:
    plain, spans = marked(text)
    reading = read(plain)
    assert place_at(reading.file, reading.tokens, spans[0][0]) is None


def test_no_place_makes_it_raise() -> None:
    page = (
        f'{_POLICY}\n{_TESTED}\ntest "t" {{ run {{ a(b = {{1, c = 2}}) at 3s -> ok "x" }} expect R1 violated at e1 }}\n'
    )
    for at in range(0, len(page) + 1, 2):
        plain, spans = marked(f"{page[:at]}«»{page[at:]}")
        reading = read(plain)
        if place_at(reading.file, reading.tokens, spans[0][0]) is not None:
            complete(f"{page[:at]}«»{page[at:]}")
            complete(f"{page[:at]}«»")


def test_what_branches_without_end_is_looked_through_once() -> None:
    lets = "".join(f"let A{at} = {' | '.join([f'A{at - 1}'] * 4)}\n" for at in range(1, 7))
    some = "".join(f"pattern p{at}(x) = {' and '.join([f'p{at - 1}(x)'] * 4)}\n" for at in range(1, 7))
    begun = f"let A0 = {{Bash}}\n{lets}pattern p0(x) = action in A6 and command = x\n{some}"
    assert complete(f"{begun}statement S: abs(p4(y) and «»").labels[0] == "command"
    assert complete(f"{begun}statement S: abs(p4(«»").labels[0] == '"git status"'
    test = complete(
        f'{begun}statement S: abs(p4(y))\ntest "t" {{ expect S violated with «»', path="/nowhere/p_test.vgl"
    )
    assert test.labels == ["y"]


@pytest.mark.parametrize("bracket", ["(", "a(", "{", "[", "not ("])
def test_what_is_nested_without_end_ends(bracket: str) -> None:
    complete(f"statement S: abs({bracket * 2_000}«»")


# --- comments, documents -----------------------------------------------------------------------------------


def _in_comment(text: str) -> tuple[str, list[Offer]] | None:
    plain, spans = marked(text)
    reading = read(plain)
    comment = comment_at(reading.tokens, spans[0][0])
    assert comment is not None
    runs = ["runs/a.jsonl", "runs/b.jsonl", "c.jsonl", "with space.jsonl"]
    found = in_comment(comment, spans[0][0], reading.policy.diagnostics, lambda: runs)
    return None if found is None else (plain[found[0].start : found[0].end], found[1])


def test_codes_of_an_ignore_comment() -> None:
    found = _in_comment("// vigil: ignore[VGL2«»]\nlet A = {b}\n\nstatement S: abs(a())")
    assert found is not None
    assert found[0] == "VGL2"
    offers = sorted(found[1], key=lambda offer: offer.group)
    assert offers[0].label == "VGL205"
    assert "VGL101" not in [offer.label for offer in offers]
    more = _in_comment("// vigil: ignore[VGL301, «»")
    assert more is not None
    assert more[0] == ""


def test_recordings_of_a_runs_comment() -> None:
    found = _in_comment("// runs: c.jsonl ru«»ns")
    assert found is not None
    assert found[0] == "runs"
    assert [offer.label for offer in found[1]] == ["runs/*.jsonl", "*.jsonl", "runs/a.jsonl", "runs/b.jsonl", "c.jsonl"]


@pytest.mark.parametrize("text", ["// vigil: ignore[VGL301] be«»cause", "// text «»", "/// runs: «»\nlet A = {b}"])
def test_nothing_elsewhere_in_comments(text: str) -> None:
    assert _in_comment(text) is None


def test_sentences_that_nobody_cites_come_first(tmp_path: Path) -> None:
    page = '# Rules\n\nThe run must use 6 fps. It is fast. Never push "by force". Masks must be checked.\n'
    (tmp_path / "SKILL.md").write_text(page)
    path = str(tmp_path / "p.vgl")
    found = complete(
        '@source("SKILL.md", "«»")\nstatement S: abs(a())',
        path=path,
        library=Library(),
        citations=lambda: [(path, "SKILL.md", "The run must use 6 fps.")],
    )
    assert [(offer.raw, offer.detail) for offer in found.offers] == [
        ('Never push \\"by force\\".', "says “never”"),
        ("Masks must be checked.", "says “must”"),
        ("The run must use 6 fps.", "says “must”, is cited already"),
    ]
    named = complete('@source("«»")', path=path, documents=lambda: ["SKILL.md", "a/b.md"])
    assert named.labels == ['"SKILL.md"', '"a/b.md"']


# --- documentation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (("form", "prec"), "prec(ψ, ψ′) = □ (ψ ⇒ ◇⁻ψ′)"),
        (("keyword", "contains"), "The text holds the value somewhere."),
        (("annotation", "severity"), "how a violation is reported"),
        (("action", "Bash"), "- `timeout` (5 events): `30`"),
        (("action", "file.edit"), "It is also `file.write`."),
        (("argument", "command", "Bash"), "- `git status` (5 events)"),
        (("name", "consumes"), "pattern consumes(x) = Write(file_path = x)\n```\n\nConsumes x."),
        (("import", ".shared", "shell"), "pattern shell(x) = Bash(command = x)\n```\n\nRuns it."),
        (("module", "std.more"), "It declares `tells_user`, `TELLERS`."),
        (("code", "VGL301"), "a value variable occurs only once"),
        (("statement", "R1", "/nowhere/p_test.vgl"), "statement R1: prec("),
    ],
)
def test_documentation(about: tuple[str, ...], said: str) -> None:
    modules = [read(_POLICY).module, read(_TESTED, "/nowhere/p_test.vgl").module]
    told = documentation(about, modules, known(), importable())
    assert told is not None
    assert said in told


@pytest.mark.parametrize("about", [(), ("name", "nothing"), ("form", "x"), ("module",), ("a", "b", "c"), ("code", "x")])
def test_no_documentation_for_what_is_not_there(about: tuple[str, ...]) -> None:
    assert documentation(about, [read(_POLICY).module], known(), importable()) is None


def test_secrets_are_not_told_of() -> None:
    told = documentation(("action", "mcp__gh__push"), [read("").module], known(), ())
    assert told is not None
    assert "`token` (1 event)" in told
    assert "hunter2" not in told


# --- with a server -----------------------------------------------------------------------------------------


async def test_over_the_wire(session: Session) -> None:
    session.write("lib.vgl", "/// Sends 𝔸.\npattern sends(x) = Send(to = x)\n")
    session.changed("lib.vgl", how=types.FileChangeType.Created)
    page = await session.open('// 𝔸é\nstatement S: prec(Ask(text = "𝔸é"), sen«»d2())\n')
    answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
    assert isinstance(answer, types.CompletionList)
    item = next(item for item in answer.items if item.label == "sends")
    edit = item.text_edit
    assert edit is not None
    whole = edit.replace if isinstance(edit, types.InsertReplaceEdit) else edit.range
    assert page.part(whole) == "send2"
    adds = item.additional_text_edits
    assert adds is not None
    plain = types.TextEdit(whole, "sends")
    expected = '// 𝔸é\nuse .lib: sends\n\nstatement S: prec(Ask(text = "𝔸é"), sends())\n'
    assert page.edited([*adds, plain]) == expected
    resolved = await session.ask(types.COMPLETION_ITEM_RESOLVE, item)
    told = resolved.documentation
    assert "Sends 𝔸." in (told if isinstance(told, str) else told.value)


async def test_a_hostile_item_is_given_back(session: Session) -> None:
    page = await session.open("statement S: abs(a())")
    for data in (None, 3, {"uri": 3}, {"uri": page.uri, "about": "x"}, {"uri": "none:x", "about": ["form", "prec"]}):
        item = types.CompletionItem("x", data=data)
        resolved = await session.ask(types.COMPLETION_ITEM_RESOLVE, item)
        assert (resolved.label, resolved.documentation) == ("x", None)


async def test_a_space_asks_only_where_something_must_follow(session: Session) -> None:
    page = await session.open("statement S: abs(a(f = ))")
    context = types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, " ")
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("= ").end, context=context) is not None
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("S: ").end, context=context) is not None
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("statement ").end, context=context) is None


async def test_what_the_runs_hold(alone: Alone) -> None:
    session = await alone()
    session.write("vigil.toml", 'runs = ["runs/*.jsonl"]\n')
    session.write("runs/a.jsonl", '{"action":"Deploy","args":{"target":"stage \\"é\\""}}\n' * 3)
    page = await session.open('statement S: abs(Deploy(target = "«»"))\n')
    for _ in range(200):
        answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
        if answer.items:
            break
        await asyncio.sleep(0.1)
    assert [(item.label, item.detail) for item in answer.items] == [('"stage \\"é\\""', "3 events")]
    edit = answer.items[0].text_edit
    assert page.edited([edit]) == 'statement S: abs(Deploy(target = "stage \\"é\\""))\n'


async def test_files_of_the_project(session: Session) -> None:
    session.write("runs/a.jsonl", '{"action":"a"}\n')
    session.write("SKILL.md", "You must ask first. Nice.\n")
    session.write("x_test.vgl", "")
    session.write("sub/lib.vgl", "let A = {b}\n")
    session.changed("sub/lib.vgl", "x_test.vgl", how=types.FileChangeType.Created)

    async def offered(text: str, name: str = "p.vgl") -> list[str]:
        page = await session.open(text, name)
        answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
        page.close()
        return [item.label for item in answer.items]

    assert [label for label in await offered("use «»") if label.startswith(".")] == [".sub.lib"]
    assert await offered("use .sub.lib: «»") == ["A"]
    assert (await offered('@source("«»")'))[0] == '"SKILL.md"'
    assert await offered('@source("SKILL.md", "«»")\nstatement S: abs(a())') == ['"You must ask first."']
    assert (await offered('test "t" { run "«»" }', "p_test.vgl"))[0] == '"runs/a.jsonl"'
    assert (await offered("// runs: «»"))[:2] == ["runs/*.jsonl", "runs/a.jsonl"]
    assert "VGL301" in await offered("// vigil: ignore[«»]")
