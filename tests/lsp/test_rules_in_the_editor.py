"""Rules of the gate in the editor: what is offered, said, found, renamed, coloured and refactored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_completing import complete
from lsprotocol import types
from lsprotocol.types import SymbolKind
from test_code_action import place, results
from test_semantic_tokens import colours
from written import Project

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.diagnostics.diagnostic import apply_edits
from vigil_lang.documents.library import Library
from vigil_lang.semantics.context_fields import FIELDS
from vigil_lsp import default_layer
from vigil_lsp.actions import extract, inline
from vigil_lsp.actions.equivalence import keeps_meaning
from vigil_lsp.completing.documentation import documentation
from vigil_lsp.features.call_hierarchy import callable_at, outgoing
from vigil_lsp.features.definition import definitions
from vigil_lsp.features.document_symbol import outline
from vigil_lsp.features.folding import folds
from vigil_lsp.features.references import references
from vigil_lsp.hovering.hover import hover_text
from vigil_lsp.hovering.target import HoverTarget
from vigil_lsp.operator_help import CONTEXT_FIELDS
from vigil_lsp.renaming import Refused, rename

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsp_session import Session

LAYER = """policy default
/// Files outside the workspace are changed only where somebody confirms it.
rule outside: when file.write(path !~ "/w/*") then hold record path
/// Money moves only where somebody confirms it.
rule payments: when action in {pay} or action ~ "pay_*" then hold record amount
/// Keys stay as they are.
rule keys: when file.write(path ~ "/etc/*") then block
/// What is secret stays here.
@on_violation(hold)
statement secrets_stay: prec(net.upload(), check())
"""
POLICY = """policy desk

param limit: number = 500
pattern pays(x) = pay(to = x, amount > limit)
/// Paid once.
statement R3: prec(pays(x), check(who = x))

/// Large sums are confirmed.
@delegable
@message("pays a lot")
rule large:
    when pays("ann") or violates R3 and context.tier >= 2
    then hold
    record amount, "odd name", context.agent
rule drafts: when file.write(path ~ "/d/*") then pass relaxes default.outside, payments
rule never: when violates personal.R3 and violates default.secrets_stay then block
"""


@pytest.fixture(autouse=True)
def layer(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The default layer of these tests."""
    folder = tmp_path_factory.mktemp("layer")
    (folder / "default.vgl").write_text(LAYER, encoding="utf-8")
    (folder / "default_test.vgl").write_text("", encoding="utf-8")
    monkeypatch.setattr(default_layer, "resource", lambda *_: folder)
    default_layer.default_layer.cache_clear()
    yield folder
    default_layer.default_layer.cache_clear()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, {"p.vgl": POLICY})


# --- completion ---


def test_the_fields_of_the_context_are_those_of_the_language() -> None:
    assert set(CONTEXT_FIELDS) == set(FIELDS)


def test_what_violates_offers() -> None:
    offered = complete(f"{POLICY}\nrule r: when violates «»")
    assert offered.labels == ["R3", "default.secrets_stay"]
    assert offered["R3"].detail == "Paid once."
    assert offered.accepted("default.secrets_stay").endswith("when violates default.secrets_stay")


def test_what_relaxes_offers_first_what_is_about_the_same_calls() -> None:
    offered = complete('rule r: when file.write(path ~ "/d/*") then pass relaxes «»')
    assert offered.labels == ["default.outside", "default.keys", "default.payments", "default.secrets_stay"]
    assert offered["default.keys"].detail == "block: Keys stay as they are."
    assert complete("rule r: when pay() then pass relaxes «»").labels[0] == "default.payments"
    more = complete("rule r: when pay() then pass relaxes payments, default.keys, «»")
    assert more.labels == ["default.outside", "default.secrets_stay"]
    told = documentation(offered["default.outside"].about, (), None, ())
    assert told is not None
    assert told.startswith('```vigil\nrule outside: when file.write(path !~ "/w/*") then hold record path\n```')
    assert told.endswith("Files outside the workspace are changed only where somebody confirms it.")


def test_what_record_offers_are_the_fields_of_the_kinds_in_the_condition() -> None:
    offered = complete("rule r: when file.write() then hold record «»", with_runs=False)
    assert offered.labels[:2] == ["path", "text"]
    assert offered.labels[-8:] == list(CONTEXT_FIELDS)
    assert offered.accepted("path").endswith("record path")
    more = complete("pattern w = file.write()\nrule r: when w then hold record path, context.tier, «»", with_runs=False)
    assert more.labels[0] == "text"
    assert {"path", "context.tier"}.isdisjoint(more.labels)


def test_what_is_expected_of_a_rule_is_no_verdict_on_a_statement() -> None:
    policy = {"namesake": POLICY}
    path = "/nowhere/p_test.vgl"
    assert complete('test "t" { expect «»', path=path, beside=policy).labels == ["R3", "large", "drafts", "never"]
    told = complete('test "t" { expect R3 «»', path=path, beside=policy).labels
    assert told == ["satisfied", "violated", "vacuous"]
    asked = complete('test "t" { expect large, never «»', path=path, beside=policy).labels
    assert {"satisfied", "violated", "vacuous"}.isdisjoint(asked)


def test_what_may_not_be_asked_in_a_rule_is_not_offered() -> None:
    asked, stated = (complete(f"{head}«»", with_runs=False).labels for head in ("rule r: when ", "statement S: abs("))
    assert {"status", "output", "earlier", "always"}.isdisjoint(asked)
    assert {"violates", "context.tier", "context.calls"} <= set(asked)
    assert {"violates", *CONTEXT_FIELDS}.isdisjoint(stated)
    assert {"status", "output"} <= set(stated)


# --- hover ---


def _hover(project: Project, where: str) -> tuple[str, str] | None:
    name, offset = project.offset(f"p.vgl: {where}")
    reading = project[name]
    found = hover_text(HoverTarget(reading, offset, project.names, folder=str(project.folder)))
    return None if found is None else (reading.source.text[slice(*found.span)], found.markdown)


LARGE = """**`large`** · hold · delegable

Large sums are confirmed.

It holds a call of which some event meets `pays("ann") or violates R3 and context.tier >= 2`, @

In full:

```vigil
pay(to = "ann", amount > limit) or violates R3 and context.tier >= 2
```

In the log stand `amount`, `"odd name"`, `context.agent` as they are.

The user may confirm it herself, where the rule is her organisation's.

It says: `pays a lot`""".replace("@", "until somebody confirms it.")


def test_a_rule_in_words(project: Project) -> None:
    assert _hover(project, "rule lar|ge") == ("large", LARGE)
    assert _hover(project, "ru|le large") == ("rule", LARGE)
    assert _hover(project, "rule dra|fts") == (
        "drafts",
        "**`drafts`** · pass\n\n"
        'It asks for nothing where some event of a call meets `file.write(path ~ "/d/*")`.\n\n'
        "It lifts, for such events:\n\n"
        "- `default.outside` (hold): Files outside the workspace are changed only where somebody confirms it.\n"
        "- `payments` (hold): Money moves only where somebody confirms it.",
    )
    never = _hover(project, "rule nev|er")
    assert never is not None
    assert never[1].startswith("**`never`** · block\n\nIt blocks a call of which some event meets ")


def test_what_relaxes_and_violates_name(project: Project) -> None:
    relaxed = _hover(project, "default.out|side")
    assert relaxed is not None
    assert relaxed[0] == "outside"
    assert relaxed[1].startswith("**`outside`** · hold\n\nFiles outside the workspace")
    assert "From `default`." in relaxed[1]
    violated = _hover(project, "or violates R|3")
    assert violated is not None
    assert violated[1].startswith("**`R3`** · error · block\n\nPaid once.")
    assert _hover(project, "or viol|ates R3") == (
        "violates", "`violates`: With what the run has so far, the call would violate the statement.",
    )  # fmt: skip
    secret = _hover(project, "default.secrets_|stay")
    assert secret is not None
    assert secret[1].endswith("What is secret stays here.")


@pytest.mark.parametrize(
    ("where", "span", "said"),
    [
        ("context.ti|er >=", "context.tier", "how suspicious the session is"),
        ("context.ag|ent", "context.agent", "the agent that makes the call"),
        ("record amo|unt", "amount", "`amount`"),
        ("then ho|ld", "hold", "Somebody confirms the call first."),
        ("then bl|ock", "block", "whoever confirms it"),
        ("    wh|en pays", "when", "The calls that the rule is about"),
        ("    rec|ord", "record", "stands in the log"),
        ("pass relax|es", "relaxes", "default layer"),
    ],
)
def test_words_of_a_rule(project: Project, where: str, span: str, said: str) -> None:
    found = _hover(project, where)
    assert found is not None
    assert found[0] == span
    assert said in found[1]


# --- definition, references, rename ---


def _defined(project: Project, where: str) -> list[tuple[str, str, str]]:
    name, offset = project.offset(f"p.vgl: {where}")
    found = definitions(project.names, project[name], offset, Library())
    text = project.texts[name]
    return [
        (text[slice(*one.origin)], one.source.path.rpartition("/")[2], one.source.text[slice(*one.name)])
        for one in found
    ]


def test_definitions(project: Project) -> None:
    assert _defined(project, "or violates R|3") == [("R3", "p.vgl", "R3")]
    assert _defined(project, "personal.R|3") == [("R3", "p.vgl", "R3")]
    assert _defined(project, "default.secrets_|stay") == [("secrets_stay", "default.vgl", "secrets_stay")]
    assert _defined(project, "default.out|side") == [("outside", "default.vgl", "outside")]
    assert _defined(project, "outside, pay|ments") == [("payments", "default.vgl", "payments")]
    assert _defined(project, "when pa|ys") == [("pays", "p.vgl", "pays")]


def test_a_policy_that_is_used(tmp_path: Path) -> None:
    texts = {"p.vgl": "use .base\nrule r: when violates S1 then hold\n", "base.vgl": "statement S1: abs(a())\n"}
    project = Project(tmp_path, texts)
    assert _defined(project, "violates S|1") == [("S1", "base.vgl", "S1")]
    name, offset = project.offset("base.vgl: S|1")
    edits = rename(project.names, project[name], offset, "never_a", project.files.access)
    after = {Path(path).name: apply_edits(texts[Path(path).name], some) for path, some in edits.items()}
    assert after == {one: text.replace("S1", "never_a") for one, text in texts.items()}


def test_references(project: Project) -> None:
    name, offset = project.offset("p.vgl: statement R|3")
    found = references(project.names, project[name], offset, declarations=False)
    assert [POLICY[: one.span.start].count("\n") + 1 for one in found] == [12, 16]


def _renamed(project: Project, where: str, new: str) -> str:
    name, offset = project.offset(f"p.vgl: {where}")
    (edits,) = rename(project.names, project[name], offset, new, project.files.access).values()
    return apply_edits(POLICY, edits)


def test_renaming(project: Project) -> None:
    expected = POLICY.replace("R3", "paid_once")
    assert expected.count("paid_once") == 3
    assert _renamed(project, "statement R|3", "paid_once") == expected
    assert _renamed(project, "personal.R|3", "paid_once") == expected
    assert _renamed(project, "rule lar|ge", "large_sums") == POLICY.replace("rule large", "rule large_sums")
    assert _renamed(project, "amount > lim|it", "most") == POLICY.replace("limit", "most")
    assert _renamed(project, "when pa|ys", "spends") == POLICY.replace("pays(", "spends(")


@pytest.mark.parametrize(
    ("where", "new", "why"),
    [
        ("rule lar|ge", "R3", "there is already a statement `R3`, in p.vgl, line 6"),
        ("statement R|3", "never", "there is already a rule `never`, in p.vgl, line 16"),
        ("rule lar|ge", "rule", "`rule` is a word of the language"),
        ("context.ti|er >=", "x", "`context.tier` is an argument of recorded calls: it is called as they call it"),
    ],
)
def test_refused(project: Project, where: str, new: str, why: str) -> None:
    with pytest.raises(Refused) as caught:
        _renamed(project, where, new)
    assert str(caught.value) == why


# --- outline, folds, colours, calls ---


def test_outline(project: Project) -> None:
    rules = [one for one in outline(project["p.vgl"]) if one.kind is SymbolKind.Operator]
    assert [(one.name, one.detail) for one in rules] == [
        ("large", 'hold pays("ann") or violates R3 and context.tier >= 2'),
        ("drafts", 'pass file.write(path ~ "/d/*")'),
        ("never", "block violates personal.R3 and violates default.secrets_stay"),
    ]
    assert POLICY[slice(*rules[0].span)].startswith("/// Large sums")


def test_an_unfinished_rule_is_in_the_outline(tmp_path: Path) -> None:
    found = outline(Project(tmp_path, {"p.vgl": "rule half: when a( then\nlet A = {a}\n"})["p.vgl"])
    assert (found[0].name, found[0].kind, found[0].detail) == ("half", SymbolKind.Operator, "does not parse")


def test_folds(project: Project) -> None:
    assert [(one.start, one.end) for one in folds(project["p.vgl"])] == [(10, 13)]


def test_colours(tmp_path: Path) -> None:
    rules = POLICY.partition('lot")\n')[2].partition("rule never")[0]
    text = "statement R3: abs(a())\n" + rules.replace("pays(", "b(")
    assert colours(tmp_path, text)[4:] == [
        "rule keyword", "large method declaration", "when keyword", "b class", '"ann" string', "or keyword",
        "violates keyword", "R3 method", "and keyword", "context.tier property defaultLibrary", ">= operator",
        "2 number",
        "then keyword", "hold keyword", "record keyword", "amount property", '"odd name" property',
        "context.agent property defaultLibrary",
        "rule keyword", "drafts method declaration", "when keyword", "file.write type", "path property", "~ operator",
        '"/d/*" string', "then keyword", "pass keyword", "relaxes keyword", "default.outside method", "payments method",
    ]  # fmt: skip


def test_a_rule_calls_its_patterns(project: Project) -> None:
    name, offset = project.offset("p.vgl: rule lar|ge")
    symbol = callable_at(project.names, project[name], offset)
    assert symbol is not None
    assert [one.name for one in outgoing(project.names, symbol)] == ["pays"]


# --- refactorings ---


def test_a_condition_of_a_rule_becomes_a_pattern(tmp_path: Path) -> None:
    text = "rule r: when «{0}» then hold\nrule s: when {0} or b() then block\n"
    at = place(tmp_path, text.format("pay(x = 3) and context.tier > 1"))
    declared = "pattern pays = pay(x = 3) and context.tier > 1\n\n"
    used = text.replace("«", "").replace("»", "")
    found = results(extract.proposals(at), at)
    assert found["Extract pattern `pays` and use it in 1 other place"] == declared + used.format("pays")


def test_a_pattern_is_written_out_in_rules(tmp_path: Path) -> None:
    at = place(tmp_path, "pattern p«(x) = a(f = x)\nrule r: when not p(3) then hold\n")
    assert results(inline.proposals(at), at) == {
        "Inline pattern `p` everywhere and delete it": "rule r: when not a(f = 3) then hold\n"
    }


def test_the_proof_looks_at_rules(tmp_path: Path) -> None:
    text = "pattern p = a()\nrule r: when p and violates S then hold record x relaxes y\nstatement S: abs(p)\n"
    project = Project(tmp_path, {"p.vgl": text})
    policy, access = project["p.vgl"].policy, project.files.access
    for old, new in (("when p and", "when not p and"), ("hold", "block"), ("record x", "record z"), (" relaxes y", "")):
        start = text.index(old)
        assert not keeps_meaning(policy, [_edit(start, old, new)], access), new
    start = text.index("p and violates S")
    assert keeps_meaning(policy, [_edit(start, "p and violates S", "violates S and p")], access)


def _edit(start: int, old: str, new: str) -> Edit:
    return Edit(Span(start, start + len(old)), new)


# --- over the wire ---


async def test_a_client_writes_a_rule(session: Session) -> None:
    page = await session.open("/// Paid once.\nstatement R3: abs(pay(twice = true))\n\nrule r: when violates «»\n")
    space = types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, " ")
    answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION, context=space)
    item = next(item for item in answer.items if item.label == "R3")
    resolved = await session.ask(types.COMPLETION_ITEM_RESOLVE, item)
    assert "Paid once." in str(resolved.documentation)
    for written, expected in (("R3 ", {"then", "and", "or"}), ("then ", {"hold", "block", "pass"})):
        at = page.text.index("rule r")
        end = page.text.index("\n", at)
        page.change(end, end, written)
        answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.position(end + len(written)))
        assert {item.label for item in answer.items} == expected


async def test_a_client_follows_and_renames_a_statement(session: Session) -> None:
    session.write("base.vgl", "statement R3: abs(pay())\n")
    page = await session.open("use .base\n\nrule r: when violates R«»3 then hold\n")
    links = await page.ask(types.TEXT_DOCUMENT_DEFINITION)
    found = links[0]
    assert session.name(found.target_uri if isinstance(found, types.LocationLink) else found.uri) == "base.vgl"
    edit = await page.ask(types.TEXT_DOCUMENT_RENAME, new_name="unpaid")
    after = session.after(edit)
    assert after["base.vgl"] == "statement unpaid: abs(pay())\n"
    assert after["p.vgl"].endswith("rule r: when violates unpaid then hold\n")
    hover = await page.ask(types.TEXT_DOCUMENT_HOVER, page.find("rule").start)
    assert "It holds a call" in str(hover.contents)
