"""Completion: what is offered (completions.md is a table of it), and what accepting it writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_completing import Found, complete, read
from lsp_positions import edited, marked
from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.semantics.text_patterns import glob_text, unescape
from vigil_lang.syntax.print import UNICODE
from vigil_lang.trace.discreet import may_show
from vigil_lsp.completing.candidate import MOST, Candidate, ItemSupport, completion_list
from vigil_lsp.completing.place import place_at
from vigil_lsp.completing.spelling import glob_inside, is_unicode, literal
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from vigil_lang.syntax.leaves import Spelling

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


def _answer(text: str, abilities: ItemSupport) -> tuple[Found, Text, dict[str, types.CompletionItem]]:
    found = complete(text)
    plain = Text(found.text)
    answer = completion_list(found.candidates, found.place, plain, abilities, {"uri": "u"})
    return found, plain, {item.label: item for item in answer.items}


def test_items_in_the_protocols_words() -> None:
    found, plain, items = _answer("statement S: abs(Ba«»sh2)", ItemSupport())
    item = items["Bash"]
    assert isinstance(item.text_edit, types.TextEdit)
    assert edited(found.text, [item.text_edit], "utf-16") == "statement S: abs(Bash)"
    assert item.insert_text_format is None
    assert item.kind == types.CompletionItemKind.Event
    assert item.detail == "8 events"
    assert item.data == {"uri": "u", "about": ["action", "Bash"]}
    assert item.commit_characters is None
    order = sorted(items, key=lambda label: items[label].sort_text or "")
    # There is too much for one answer: what the letters do not fit is left out.
    assert order[:6] == [label for label in found.labels if re.search("b.*a", label.lower())][:6]
    assert plain.span(item.text_edit.range) == (17, 22)


def test_editors_that_insert_or_replace_are_told_both() -> None:
    _, plain, items = _answer("statement S: abs(Ba«»sh2)", ItemSupport(snippets=True, replaces=True))
    item = items["Bash"]
    assert isinstance(item.text_edit, types.InsertReplaceEdit)
    assert (plain.span(item.text_edit.insert), plain.span(item.text_edit.replace)) == ((17, 19), (17, 22))
    assert (item.text_edit.new_text, item.insert_text_format) == ("Bash($1)", types.InsertTextFormat.Snippet)


def test_editors_that_take_one_range_for_all_get_it_once() -> None:
    found = complete("statement S: abs(Ba«»sh2)")
    plain = Text(found.text)
    answer = completion_list(found.candidates, found.place, plain, ItemSupport(snippets=True, shares=True), {})
    assert answer.item_defaults == types.CompletionItemDefaults(edit_range=plain.range(Span(17, 22)))
    items = {item.label: item for item in answer.items}
    assert [items[label].text_edit_text for label in ("Bash", "branch")] == ["Bash($1)", None]
    assert {item.text_edit for item in answer.items} == {None}
    both = completion_list(
        found.candidates, found.place, plain, ItemSupport(replaces=True, shares=True), {}
    ).item_defaults
    ranges = types.EditRangeWithInsertReplace(plain.range(Span(17, 19)), plain.range(Span(17, 22)))
    assert both == types.CompletionItemDefaults(edit_range=ranges)


@pytest.mark.parametrize(
    ("text", "labels", "written"),
    [
        ("statement S: abs(a() «»", ["∧", "∨"], ["∧", "∨"]),
        ("statement S: abs(f «»", ["=", "∈", "∼", "≠"], ["=", "∈ {$1}", "∼", "≠"]),
        ("statement S: abs(status = «»", ["⊤", "⊥"], ["⊤", "⊥"]),
        ('test "t" { calls «»', ["in"], ["in"]),
    ],
)
def test_operators_are_spelt_as_the_policy_has_them(text: str, labels: list[str], written: list[str]) -> None:
    found = complete(text, unicode=True)
    assert found.labels[: len(labels)] == labels
    assert [found[label].snippet or found[label].text for label in labels] == written


def test_an_operator_is_found_by_its_word() -> None:
    always = complete("statement S: «»", unicode=True)["□"]
    assert (always.filter, always.snippet) == ("always", "□ $1")


def test_which_spelling_that_is() -> None:
    words, marks = read("statement S: always a() and b()"), read("statement S: □ a() and b()")
    spellings: list[Spelling] = ["keep", "ascii", "unicode"]
    assert [is_unicode(spelling, words.source.text, words.tokens) for spelling in spellings] == [False, False, True]
    assert [is_unicode(spelling, marks.source.text, marks.tokens) for spelling in spellings] == [True, False, True]
    assert not [mark for mark in UNICODE.values() if mark.isascii()], "a text of ASCII has none of them"


def test_no_second_parenthesis() -> None:
    _, _, items = _answer("statement S: abs(Ba«»(command))", ItemSupport(snippets=True))
    item = items["Bash"]
    assert item.text_edit is not None
    assert (item.text_edit.new_text, item.insert_text_format) == ("Bash", None)


def test_commit_characters_only_where_nothing_else_can_stand() -> None:
    _, _, items = _answer("use std.files: «»", ItemSupport(commits=True))
    assert items["writes"].commit_characters == [","]
    _, _, items = _answer("statement S: abs(Bash(command = «»", ItemSupport(commits=True))
    assert {item.commit_characters for item in items.values()} == {None}


def test_values_are_found_without_their_quotes() -> None:
    _, _, items = _answer("statement S: abs(Bash(command = «»", ItemSupport())
    assert items['"git status"'].filter_text == "git status"
    _, _, items = _answer('statement S: abs(Bash(command = "«»"))', ItemSupport())
    assert items['"grep \\"a*b\\" src/x.py"'].filter_text == 'grep \\"a*b\\" src/x.py'


def test_too_many_are_cut_and_said_to_be() -> None:
    found = complete("statement S: abs(«»")
    many = [Candidate(f"item{at}", types.CompletionItemKind.Text, f"item{at}", 10) for at in range(MOST + 50)]
    answer = completion_list(many, found.place, Text(found.text), ItemSupport(), {})
    assert (len(answer.items), answer.is_incomplete) == (MOST, True)
    typed = complete("statement S: abs(i24«»").place
    answer = completion_list(many, typed, Text(typed.typed), ItemSupport(), {})
    wanted = [candidate.label for candidate in many if re.search("2.*4", candidate.label)]
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
        ("use .shared // Why.\n\n", "use .shared // Why.\nuse std.files: writes\n\n"),
        ("policy p // Why.\r\n\r\n", "policy p // Why.\n\nuse std.files: writes\r\n\r\n"),
        ("use .shared let A = {b} // Why.\n", "use .shared\nuse std.files: writes let A = {b} // Why.\n"),
        ("use .shared\n// Below.\n", "use .shared\nuse std.files: writes\n// Below.\n"),
        ("// Ours.\n\n/// Doc.\nlet A = {b}\n\n", "// Ours.\n\nuse std.files: writes\n\n/// Doc.\nlet A = {b}\n\n"),
    ],
)
def test_what_is_not_imported_yet_is_imported(before: str, after: str) -> None:
    assert _imported(f"{before}statement S: abs(wri«»)", "writes") == f"{after}statement S: abs(writes)"


def test_what_imports_ends_its_lines_as_the_document_does() -> None:
    text = "policy p // Why.\r\n\r\nstatement S: abs(wri«»)\r\n"
    found, _, items = _answer(text, ItemSupport())
    after = "policy p // Why.\r\n\r\nuse std.files: writes\r\n\r\nstatement S: abs(wri)\r\n"
    assert edited(found.text, items["writes"].additional_text_edits or [], "utf-16") == after


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
    from vigil_lang.semantics.text_patterns import Glob, predicate

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


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("statement S: abs(a(f = x)) where x «»", False),
        ("statement S: abs(a(f = x)) where not (x = y and y «»", False),
        ("statement S: abs(a(f with (g «»", False),
        ("statement S: abs(a(f with ((g «»", False),
        ("statement S: abs(a(f with (g = x), h «»", True),
        ("statement S: abs(a(f «»", True),
    ],
)
def test_entries_are_looked_into_where_events_are_tested(text: str, offered: bool) -> None:
    assert ("with" in {candidate.text for candidate in complete(text).candidates}) is offered
