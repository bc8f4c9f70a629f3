"""Code actions: fixes, and changes of form that mean the same, each held against the meaning it had before."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from written import Project, shared

from tests.strategies import policies, runs
from vigil_lang.diagnostics import Edit, Source, Span, apply_edits
from vigil_lang.documents.library import Library
from vigil_lang.lint.run import Plan, lint
from vigil_lang.project.configuration import load
from vigil_lang.semantics.denotation import exercised, violations
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lang.testing.session import collect, run
from vigil_lsp.actions import cite_source, convert, extract, fixes, imports, inline, test_file
from vigil_lsp.actions.equivalence import keeps_meaning
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.cursor import walk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from lsp_session import Page, Session
    from lsp_wire import Wire

FILLER = "".join(f"\nstatement F{at}: always a(f = {at}, g = x) implies later b(g = x)\n" for at in range(200))

HEAD = """let ACTS = {a, b}

pattern consumes(x) = action in ACTS and transform = x or odd = x

"""


def place(folder: Path, marked: str, toml: str = "", *, name: str = "p.vgl", **others: str) -> Place:
    """A policy with the selection between `«` and `»`, or a cursor at `«`."""
    start = marked.index("«")
    text = marked.replace("«", "", 1)
    end = text.index("»") if "»" in text else start
    text = text.replace("»", "")
    project = Project(
        folder, {name: text, **{f"{stem}.vgl": more for stem, more in others.items()}, "vigil.toml": toml}
    )
    reading = project[name]
    users = [project[f"{stem}.vgl"] for stem, more in others.items() if "use .p" in more]
    return Place(
        reading, Span(start, end), project.files.access, load(folder).settings, reading.policy.diagnostics, users
    )


def results(found: Iterable[Proposal], at: Place) -> dict[str, str]:
    """The text after each proposal, by its title."""
    return {one.title: apply_edits(at.text, one.edits) for one in found}


# --- forms and □Θ ---


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("abs(a() or b())", "always not (a() or b())"),
        ("abs(a(f = 1)) after l(f = x)", "always not (a(f = 1) and earlier l(f = x))"),
        ("prec(consumes(x), v(f = x) or w())", "always consumes(x) implies earlier (v(f = x) or w())"),
        ("prec(a() or b(), c()) after d() or e()", "always (a() or b()) and earlier (d() or e()) implies earlier c()"),
        ("resp(not a(), not b())", "always not a() implies later not b()"),
        ("bresp[30s](a(), b())", "always a() implies later[30s] b()"),
        ("bresp[3](a() and f = 1, b()) after c()", "always a() and f = 1 and earlier c() implies later[3] b()"),
        ("rslv(a(f = x), b(f = x))", "always a(f = x) implies b(f = x) or later (b(f = x) or a(f = x))"),
        ("rslv(a(), b()) after c()", "always a() and earlier c() implies b() or later (b() or a())"),
    ],
)
def test_forms_both_ways(tmp_path: Path, form: str, body: str) -> None:
    there = place(tmp_path, f"{HEAD}statement S: «{form}\n")
    assert results(convert.proposals(there), there) == {"Write as `always …`": f"{HEAD}statement S: {body}\n"}
    back = place(tmp_path, f"{HEAD}statement S: «{body}\n")
    assert results(convert.proposals(back), back) == {
        f"Write as `{form.partition('(')[0]}`": f"{HEAD}statement S: {form}\n"
    }


def test_spelled_as_the_file_or_the_configuration_does(tmp_path: Path) -> None:
    text = "statement T: □ ¬(a() ∧ ◇⁻ b())\nstatement S: «prec(a(), b())\n"
    at = place(tmp_path, text)
    assert list(results(convert.proposals(at), at).values()) == [
        "statement T: □ ¬(a() ∧ ◇⁻ b())\nstatement S: □ a() ⇒ ◇⁻ b()\n"
    ]
    at = place(tmp_path, text, '[fmt]\nspelling = "ascii"\n')
    assert "statement S: always a() implies earlier b()\n" in next(iter(results(convert.proposals(at), at).values()))


@pytest.mark.parametrize(
    "statement",
    [
        "until(a(), b(), c())",  # nothing else says that
        "atmost[2](a())",
        "always a() implies earlier[3] b()",
        "always a() implies b() or later (b() or c())",
        "always a() implies (earlier b()) and later c()",
        "always a()",
        "prec(a(), // why\n b())",
        "prec(a(), b(f = ACTS))",  # has no meaning that could be compared
    ],
)
def test_what_has_no_other_form(tmp_path: Path, statement: str) -> None:
    at = place(tmp_path, f"{HEAD}statement S: «{statement}\n")
    assert list(convert.proposals(at)) == []


def test_what_was_laid_out_stays_so(tmp_path: Path) -> None:
    text = (
        "statement S: «prec(\n"
        '    consume_the_transform(transform = x, path ~ "/home/*"),\n'
        '    validate_the_output(target = x, by = "somebody")\n'
        ")\n"
    )
    at = place(tmp_path, text)
    (after,) = results(convert.proposals(at), at).values()
    assert max(map(len, after.splitlines())) <= 100
    assert len(after.splitlines()) > 1


def same_verdicts(before: str, after: str, lines: list[dict[str, Any]]) -> None:
    trace = runs.trace_of(lines)
    one, two = policies.policy_of(before).statements[-1], policies.policy_of(after).statements[-1]
    assert [at for at, _ in violations(one.requirement, trace)] == [at for at, _ in violations(two.requirement, trace)]
    assert exercised(one.requirement, trace) == exercised(two.requirement, trace)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(text=policies.policies(), lines=runs.runs(max_size=5))
def test_converted_policies_judge_runs_alike(
    tmp_path_factory: pytest.TempPathFactory, text: str, lines: list[dict[str, Any]]
) -> None:
    at = place(shared(tmp_path_factory), text.replace("statement ", "statement «"))
    syntax = at.reading.policy.statements[-1].syntax
    found = list(results(convert.proposals(at), at).values())
    if syntax.form.name != "always":
        # No run leaves `abs` untested; `always … where` is put to the test only by values that `where` asks for.
        refused = syntax.form.name == "abs" and syntax.where is not None
        assert bool(found) == (syntax.form.name in ("abs", "prec", "resp", "bresp", "rslv") and not refused)
    for after in found:
        same_verdicts(text, after, lines)


# --- patterns ---


def test_extracting_the_condition_at_the_cursor(tmp_path: Path) -> None:
    text = f'{HEAD}/// Doc.\nstatement S: prec(se«nd(to = x, by = y, what ~ "a"), v(f = x))\n'
    text += 'statement T: abs(send(to = x, by = y, what ~ "a") and status = ok)\n'
    at = place(tmp_path, text)
    once = at.text.replace("/// Doc.\n", 'pattern sends(x, y) = send(to = x, by = y, what ~ "a")\n\n/// Doc.\n')
    once = once.replace('prec(send(to = x, by = y, what ~ "a")', "prec(sends(x, y)")
    assert results(extract.proposals(at), at) == {
        "Extract pattern `sends`": once,
        "Extract pattern `sends` and use it in 1 other place": once.replace(
            'abs(send(to = x, by = y, what ~ "a")', "abs(sends(x, y)"
        ),
    }


@pytest.mark.parametrize(
    ("selected", "pattern", "used"),
    [
        ("«consumes(x) and f = 1» and g = 2", "condition(x) = consumes(x) and f = 1", "condition(x) and g = 2"),
        ("g = 2 and «not (f = 1 or has h)»", "condition = not (f = 1 or has h)", "g = 2 and condition"),
        ("g = 2 and («f = 1 or has h»)", "condition = f = 1 or has h", "g = 2 and (condition)"),
        ("action in {fi«le.delete, b}", "deletes = action in {file.delete, b}", "deletes"),
        ('g ~ "«*"', 'condition = g ~ "*"', "condition"),
    ],
)
def test_what_is_selected(tmp_path: Path, selected: str, pattern: str, used: str) -> None:
    at = place(tmp_path, f"{HEAD}statement S: abs({selected})\n")
    assert list(results(extract.proposals(at), at).values()) == [
        f"{HEAD}pattern {pattern}\n\nstatement S: abs({used})\n"
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "abs(cons«umes(x))",  # is one
        "abs(a(f = 1) «and g = 2)»",  # no condition
        "always a() implies «earlier b()»",  # speaks of two events
        "abs(a(f = x) and «g in {x}» and h = x)",  # `x` in a set is a text, and would be the parameter
        "abs«(a())",
    ],
)
def test_what_is_no_pattern(tmp_path: Path, statement: str) -> None:
    at = place(tmp_path, f"{HEAD}statement S: {statement}\n")
    found = list(extract.proposals(at))
    assert [one for one in found if "(x)" in one.edits[0].text] == []
    assert len(found) == (statement.count("{x}"))


def test_a_pattern_from_a_pattern_has_its_parameters(tmp_path: Path) -> None:
    at = place(tmp_path, 'pattern p(x, glob) = a(«f = x and g ~ glob»)\nstatement S: abs(p(z, "*") and h = z)\n')
    assert list(results(extract.proposals(at), at).values()) == [
        "pattern condition(x, glob) = f = x and g ~ glob\n\npattern p(x, glob) = a(condition(x, glob))\n"
        'statement S: abs(p(z, "*") and h = z)\n'
    ]


def test_a_pattern_is_called_as_nothing_is_where_it_can_be_used(tmp_path: Path) -> None:
    user = "use .p\nstatement T: prec(q(x), sends(to = x) or sends_2())\n"
    at = place(tmp_path, 'pattern q(x) = «Send(to = x and body = "b")\n', user=user)
    assert list(results(extract.proposals(at), at)) == ["Extract pattern `sends_3`"]


def test_inlining_here_and_everywhere(tmp_path: Path) -> None:
    text = f'{HEAD}pattern q(z) = consumes(z) and k()\nstatement S: prec(not con«sumes(x) and f = x, q("M"))\n'
    at = place(tmp_path, text)
    here = at.text.replace("not consumes(x)", "not (action in ACTS and transform = x or odd = x)")
    everywhere = here.replace("consumes(z)", "(action in ACTS and transform = z or odd = z)")
    everywhere = everywhere.replace("pattern consumes(x) = action in ACTS and transform = x or odd = x\n\n", "")
    assert results(inline.proposals(at), at) == {
        "Inline pattern `consumes` here": here,
        "Inline pattern `consumes` everywhere and delete it": everywhere,
    }
    at = place(tmp_path, text, user="use .p: consumes\nstatement T: abs(consumes(x) and f = x)\n")
    assert list(results(inline.proposals(at), at)) == ["Inline pattern `consumes` here"]
    at = place(tmp_path, text.replace("con«", "con").replace("pattern con", "pattern con«"))
    assert results(inline.proposals(at), at) == {"Inline pattern `consumes` everywhere and delete it": everywhere}


def test_inlining_what_another_file_declares(tmp_path: Path) -> None:
    at = place(
        tmp_path, "use .lib: reads\nstatement S: abs(re«ads(x) and f = x)\n", lib="pattern reads(p) = read(path = p)\n"
    )
    assert list(results(inline.proposals(at), at).values()) == [
        "use .lib: reads\nstatement S: abs(read(path = x) and f = x)\n"
    ]
    # What it names is not known here: it would be something else.
    at = place(
        tmp_path, "use .lib: reads\nstatement S: abs(re«ads(x) and f = x)\n",
        lib="let A = {read}\npattern reads(p) = action in A and path = p\n",
    )  # fmt: skip
    assert list(inline.proposals(at)) == []


def test_a_name_that_would_be_captured(tmp_path: Path) -> None:
    text = "pattern inner(x) = f = x and g = y\npattern outer(y) = in«ner(y)\nstatement S: abs(outer(z) and h = y)\n"
    at = place(tmp_path, text)
    assert list(inline.proposals(at)) == []


def conditions_of(at: Place) -> list[tree.Expr]:
    """Every condition of a policy."""
    return [
        node
        for item in at.reading.file.items
        if isinstance(item, tree.Statement | tree.Pattern)
        for node in walk(item)
        if isinstance(node, tree.Test | tree.Apply | tree.And | tree.Or | tree.Not | tree.ActionIn | tree.Has)
    ]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(text=policies.policies(), lines=runs.runs(max_size=4), data=st.data())
def test_patterns_come_and_go_without_a_trace(
    tmp_path_factory: pytest.TempPathFactory, text: str, lines: list[dict[str, Any]], data: st.DataObject
) -> None:
    folder = shared(tmp_path_factory)
    every = conditions_of(place(folder, f"{text}\n«"))
    assume(every)
    node = data.draw(st.sampled_from(every))
    span = data.draw(st.sampled_from((node.span, Span(node.span.start, node.span.start))))
    at = place(folder, f"{text}\n«")
    at = Place(at.reading, span, at.access, at.settings)
    for one in (*extract.proposals(at), *inline.proposals(at)):
        after = apply_edits(at.text, one.edits)
        same_verdicts(text, after, lines)
        if one.title.startswith("Extract") and "other" not in one.title:
            name = one.title.split("`")[1]
            there = place(folder, after.replace(f"pattern {name}", f"pattern «{name}", 1))
            back = results(inline.proposals(there), there)
            assert back, after
            same_verdicts(text, next(iter(back.values())), lines)


def test_the_proof_refuses_what_changes_a_meaning(tmp_path: Path) -> None:
    at = place(
        tmp_path, f"{HEAD}pattern unused(x) = f = x\nstatement S: prec(consumes(x), b(f = x)«)\nstatement T: abs(a(\n"
    )

    def kept(old: str, new: str) -> bool:
        start = at.text.index(old)
        edit = Edit(Span(start, start + len(old)), new)
        return keeps_meaning(at.reading.policy, (edit,), at.access)

    assert kept("prec(consumes(x)", "prec( consumes(x)")
    assert kept("{a, b}", "{b, a}")
    assert not kept("{a, b}", "{a}")
    assert not kept("unused(x) = f", "unused(x) = g")
    assert not kept("unused(x) = f = x", "unused(y) = f = y")  # others may apply it
    assert not kept("abs(a(", "abs(b(")  # what has no meaning stays as it is written
    assert not kept("prec", "abs")
    assert not kept("statement S", "statement R")


# --- fixes ---


def test_fixes_and_ignores(tmp_path: Path) -> None:
    text = "pattern transform = a()\nstatement S: abs(trans«from and b(f = x))\n"
    at = place(tmp_path, text)
    found = list(fixes.proposals(at))
    assert [(one.title, one.preferred, one.finding and one.finding.code) for one in found] == [
        ("Write `transform`", False, "VGL201")
    ]
    assert results(found, at) == {"Write `transform`": at.text.replace("transfrom", "transform")}


def linted(folder: Path, marked: str) -> Place:
    """A place with everything that the linter finds."""
    at = place(folder, marked)
    found = lint(at.reading.source, Plan()).findings
    return Place(at.reading, at.span, at.access, at.settings, tuple(f for f in found if f.source is at.reading.source))


def test_a_finding_let_pass(tmp_path: Path) -> None:
    at = linted(tmp_path, "statement S: abs(\n    b(f = «x)\n)\n")
    (one,) = (one for one in fixes.proposals(at) if one.title == "Let VGL301 pass here")
    after = apply_edits(at.text, one.edits)
    assert after == "statement S: abs(\n    b(f = x)  // vigil: ignore[VGL301] TODO: say why this is meant\n)\n"
    assert one.edits[-1].text.endswith(one.selected)
    assert [f.code for f in lint(Source(at.reading.source.path, after), Plan()).findings] == []


def test_one_more_code_in_a_comment(tmp_path: Path) -> None:
    at = linted(
        tmp_path,
        "statement S: abs(b(f = «x) and g = /()/) // vigil: ignore[VGL404] known\n".replace(" = /()/", " ~ /()/"),
    )
    after = [apply_edits(at.text, one.edits) for one in fixes.proposals(at) if one.title.startswith("Let VGL301")]
    assert after == [at.text.replace("[VGL404]", "[VGL404, VGL301]")]


@pytest.mark.parametrize(
    ("before", "above"),
    [
        ("/// D.\nstatement T: prec(Edit(f = «y), Read(has f)) // hello\n", "/// D."),
        ("let A = {a}\n@severity(info)\nstatement T: abs(\n    Edit(f = «y) // y\n)\n", "@severity"),
    ],
)
def test_a_finding_let_pass_above_an_item_where_another_comment_is_beside_it(
    tmp_path: Path, before: str, above: str
) -> None:
    at = linted(tmp_path, before)
    (one,) = (one for one in fixes.proposals(at) if one.title == "Let VGL301 pass here")
    comment = f"// vigil: ignore[VGL301] {one.selected}\n"
    assert apply_edits(at.text, one.edits) == before.replace("«", "").replace(above, comment + above)


def test_no_comment_lets_an_error_pass(tmp_path: Path) -> None:
    at = place(tmp_path, "statement S: abs(no«ne)\n")
    assert [one.title for one in fixes.proposals(at)] == ["Write `none()`"]


def test_all_fixes_at_once(tmp_path: Path) -> None:
    text = 'use std.files: reads, writes\r\n\r\nlet A = {a}\r\n\r\nstatement S: abs(f = A and writes("/x"))\r\n'
    source = Source(str(tmp_path / "p.vgl"), text)
    edits = fixes.all_fixed(source, Plan())
    after = apply_edits(text, edits)
    assert "f in A" in after
    assert "use std.files: writes" in after
    assert after.count("\r\n") == after.count("\n")
    assert fixes.all_fixed(Source(source.path, after), Plan()) == []


def test_all_fixes_read_what_is_open(tmp_path: Path) -> None:
    project = Project(tmp_path, {"lib.vgl": "pattern p = a()\n", "p.vgl": "use .lib: p, q\n\nstatement S: abs(q)\n"})
    item = types.TextDocumentItem(project.uri("lib.vgl"), "vigil", 1, "pattern p = a()\npattern q = b()\n")
    project.files.open(item)
    source = project["p.vgl"].source
    edits = fixes.all_fixed(source, Plan(access=project.files.snapshot()))
    assert apply_edits(source.text, edits) == "use .lib: q\n\nstatement S: abs(q)\n"


# --- imports ---


def test_use_lines_in_order(tmp_path: Path) -> None:
    at = place(
        tmp_path,
        "«use .lib\nuse std.files: writes, reads\n\nuse std.files: deletes, edits\n\n"
        "statement S: abs(writes(x) and deletes(x) and p)\n",
        lib="pattern p = a()\n",
    )
    assert results(imports.organized(at), at) == {
        "Organize `use` lines": "use std.files: deletes, writes\nuse .lib\n\n"
        "statement S: abs(writes(x) and deletes(x) and p)\n"
    }


@pytest.mark.parametrize(
    "text",
    [
        "«use std.files: writes\n\nstatement S: abs(writes(x) and f = x)\n",
        "«use std.files: writes, reads // why\nuse std.guard\n\nstatement S: abs(writes(x) and f = x)\n",
        "«use std.guard\nlet A = {a}\nuse std.files\n",
        "let A = {a}«\n",
    ],
)
def test_use_lines_that_stay(tmp_path: Path, text: str) -> None:
    assert list(imports.organized(place(tmp_path, text))) == []


def test_a_name_from_a_module(tmp_path: Path) -> None:
    modules = [("std.files", frozenset({"deletes", "reading"})), (".lib", frozenset({"p"}))]
    for before, after in (
        ('statement S: abs(del«etes("x"))\n', 'use std.files: deletes\n\nstatement S: abs(deletes("x"))\n'),
        ("policy q\nstatement S: abs(rea«ding)\n", "policy q\n\nuse std.files: reading\nstatement S: abs(reading)\n"),
        (
            'use std.files: reads\nstatement S: abs(rea«ding and reads("x"))\n',
            'use std.files: reads, reading\nstatement S: abs(reading and reads("x"))\n',
        ),
        (
            'use std.files: reads\nstatement S: abs(«p and reads("x"))\n',
            'use std.files: reads\nuse .lib: p\nstatement S: abs(p and reads("x"))\n',
        ),
        ("/// Doc.\nstatement S: abs(p«)\n", "use .lib: p\n\n/// Doc.\nstatement S: abs(p)\n"),
    ):
        at = place(tmp_path, before, lib="pattern p = a()\n")
        assert list(results(imports.imported(at, modules), at).values()) == [after]
    at = place(tmp_path, "statement S: prec(dele«tes(y), reading(z))\n")  # once, not for each argument
    for moved in (at, replace(at, span=Span(26, 26))):
        assert list(results(imports.imported(moved, modules), at)) == ["Use `deletes` from `std.files`"]
    at = place(tmp_path, 'statement S: abs(del«etes(path = "x"))\n')
    assert list(imports.imported(at, modules)) == []  # a call of an action, as it stands


# --- documents and tests ---

SKILL = """# Masks

- Masks must be validated before they are released.
- Never delete the recording of a run.
- The weather is nice.
"""


def test_sentences_that_a_statement_enforces(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(SKILL)
    text = "/// No mask is released unvalidated.\n@severity(error)\n"
    text += "statement S: «prec(release(mask = x), validate(mask = x))\n"
    at = place(tmp_path, text)
    library = Library()
    assert results(cite_source.proposals(at, library, ["SKILL.md", "none.md"]), at) == {
        "Add @source: “Masks must be validated before they are released.” (SKILL.md)": at.text.replace(
            "@severity", '@source("SKILL.md", "Masks must be validated before they are released.")\n@severity'
        )
    }
    cited = next(iter(results(cite_source.proposals(at, library, ["SKILL.md"]), at).values()))
    again = place(tmp_path, cited.replace("prec", "«prec"))
    assert list(cite_source.proposals(again, library, ["SKILL.md"])) == []
    assert [f.code for f in lint(again.reading.source, Plan()).findings if f.code.startswith("VGL7")] == []


def test_a_file_of_tests_passes(tmp_path: Path) -> None:
    text = (
        HEAD
        + "statement R0: abs(consumes(x))\nstatement R1: prec(a(f = x), b(f = x))\n"
        + "statement R2: always a() implies later b()\n"
    )
    at = place(tmp_path, text + "«")
    path = test_file.path_for(at.reading)
    assert path == Path(at.reading.source.path).with_name("p_test.vgl")
    written = test_file.text_for(at.reading)
    assert written.count("violated at") == 3
    assert "expect R0, R1, R2 satisfied" in written
    path.write_text(written)
    tests = collect([str(path)], lambda _: True)
    assert [outcome.passed for _, outcome in run(tests)] == [True] * 4
    assert tests.findings == []
    assert test_file.path_for(place(tmp_path, '«test "x" {\n    run {}\n}\n', name="q_test.vgl").reading) is None
    assert test_file.path_for(place(tmp_path, "let A = {a}«\n").reading) is None


@settings(deadline=None, max_examples=60)
@given(text=policies.policies(), data=st.data())
def test_half_written_policies_are_refactored_only_where_they_are_whole(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    noise = data.draw(st.sampled_from(("(", ")", '"', "{", "@severity(", "// 𝔸", "\r", "use ", "statement T: abs(")))
    cut = data.draw(st.integers(0, len(text)))
    at = place(shared(tmp_path_factory), f"{text[:cut]}{noise}{text[cut:]}«")
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(at.text))] * 2)))
    policy = at.reading.policy
    at = Place(at.reading, Span(start, end), at.access, at.settings, policy.diagnostics)
    changes = (
        convert.proposals(at),
        extract.proposals(at),
        inline.proposals(at),
        imports.organized(at),
    )
    for one in (one for found in changes for one in found):
        after = read_policy(Source(at.reading.source.path, apply_edits(at.text, one.edits)), access=at.access)
        assert len(after.errors) <= len(policy.errors)
        assert [s.name for s in after.statements] == [s.name for s in policy.statements]
    for one in fixes.proposals(at):
        apply_edits(at.text, one.edits)


# --- with a server ---


async def offered(page: Page, **more: Any) -> dict[str, types.CodeAction]:
    only = more.pop("only", None)
    context = types.CodeActionContext(more.pop("diagnostics", []), only, types.CodeActionTriggerKind.Invoked)
    at = more.pop("range", None) or page.span()
    found = await page.ask(types.TEXT_DOCUMENT_CODE_ACTION, range=at, context=context)
    return {one.title: one for one in found or ()}


async def test_the_fix_of_a_slip(session: Session) -> None:
    page = await session.open("// 𝔸é\npattern transform = a()\nstatement S: abs(«transfrom»)\n")
    sent = await page.diagnostics(lambda found: any(one.code == "VGL201" for one in found))
    found = await offered(page, diagnostics=[one for one in sent if one.code == "VGL201"])
    action = found["Write `transform`"]
    assert action.kind == types.CodeActionKind.QuickFix
    assert action.diagnostics is not None
    assert [one.code for one in action.diagnostics] == ["VGL201"]
    assert session.after(action.edit) == {"p.vgl": page.text.replace("transfrom", "transform")}


async def test_refactorings(session: Session) -> None:
    page = await session.open('// 𝔸é\nstatement S: prec(«send(to = x, by = "𝔸")», ask(of = x))\n')
    found = await offered(page, only=["refactor"])
    assert sorted(found) == ["Extract pattern `sends`", "Write as `always …`"]
    after = session.after(found["Extract pattern `sends`"].edit)["p.vgl"]
    assert after == page.text.replace(
        "statement S", 'pattern sends(x) = send(to = x, by = "𝔸")\n\nstatement S'
    ).replace('prec(send(to = x, by = "𝔸")', "prec(sends(x)")
    assert [one.kind for one in (await offered(page, only=["refactor.rewrite"])).values()] == ["refactor.rewrite"]
    context = types.CodeActionContext([], None, types.CodeActionTriggerKind.Automatic)
    quiet = await page.ask(types.TEXT_DOCUMENT_CODE_ACTION, range=page.span(), context=context)
    assert [one.title for one in quiet or () if str(one.kind).startswith("refactor")] == []


async def test_what_the_library_declares(session: Session) -> None:
    session.write("lib.vgl", "pattern sends(x) = send(to = x)\n")
    session.changed("lib.vgl", how=types.FileChangeType.Created)
    page = await session.open('statement S: abs(sends(«"a"»))\nstatement T: abs(deletes("b"))\n')
    await page.findings(("VGL209", '"a"'), ("VGL209", '"b"'))
    found = await offered(page)
    assert session.after(found["Use `sends` from `.lib`"].edit)["p.vgl"] == f"use .lib: sends\n\n{page.text}"
    found = await offered(page, range=page.find("deletes"))
    assert (
        session.after(found["Use `deletes` from `std.files`"].edit)["p.vgl"] == f"use std.files: deletes\n\n{page.text}"
    )


async def test_source_actions(session: Session) -> None:
    page = await session.open(
        'use std.files: writes, reads\n\nlet A = {a}\n\nstatement S: abs(«f = A» and writes("/𝔸"))\n'
    )
    found = await offered(page, only=["source"])
    organized = session.after(found["Organize `use` lines"].edit)
    assert organized == {"p.vgl": page.text.replace("writes, reads", "reads, writes")}
    everything = found["Fix all that can be fixed safely"]
    assert everything.kind == "source.fixAll.vigil"
    if everything.edit is None:
        everything = await session.ask(types.CODE_ACTION_RESOLVE, everything)
    assert session.after(everything.edit)["p.vgl"] == page.text.replace("f = A", "f in A").replace(", reads", "")
    assert list(await offered(page, only=["source.fixAll"])) == ["Fix all that can be fixed safely"]


async def test_a_file_of_tests_is_made(session: Session) -> None:
    page = await session.open("statement S: prec(«»send(to = x), ask(of = x))\n")
    found = await offered(page, only=["source.tests.vigil"])
    workspace = session.profile.params(session.root).capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    operations = edits.resource_operations if edits is not None and edits.document_changes else ()
    if types.ResourceOperationKind.Create not in (operations or ()):
        assert found == {}
        return
    action = found["Create test file `p_test.vgl`"]
    if action.edit is None:
        action = await session.ask(types.CODE_ACTION_RESOLVE, action)
    create, write = action.edit.document_changes
    assert (create.uri, write.text_document.uri) == (session.uri("p_test.vgl"), session.uri("p_test.vgl"))
    assert "expect S violated at e1\n" in write.edits[0].new_text
    session.write("p_test.vgl", write.edits[0].new_text)
    assert await offered(page, only=["source.tests.vigil"]) == {}


async def test_hostile_data_of_an_action(session: Session) -> None:
    for data in (None, 7, {"uri": 7}, {"uri": "file:///none.vgl", "action": "fix all"}, {"action": "tests"}):
        answer = await session.ask(types.CODE_ACTION_RESOLVE, types.CodeAction("x", data=data))
        assert (answer.title, answer.edit) == ("x", None)


async def test_a_client_that_knows_commands_only_is_offered_none(wired: Callable[[], Awaitable[Wire]]) -> None:
    wire = await wired()
    await wire.begin()
    wire.open("untitled:a", "statement S: prec(send(to = x), ask(of = x))\n")
    at = {"start": {"line": 0, "character": 14}, "end": {"line": 0, "character": 14}}
    params = {"textDocument": {"uri": "untitled:a"}, "range": at, "context": {"diagnostics": []}}
    assert (await wire.call(types.TEXT_DOCUMENT_CODE_ACTION, params))["result"] is None


async def test_an_older_text_is_not_changed(session: Session) -> None:
    page = await session.open("statement S: prec(«»send(to = x), ask(of = x))\n" + FILLER)
    asked = [
        asyncio.ensure_future(offered(page, only=["refactor"])),
        asyncio.ensure_future(page.ask(types.TEXT_DOCUMENT_RENAME, page.find("S:").start, new_name="T")),
    ]
    for _ in range(9):
        await asyncio.sleep(0)  # both are on their way
    page.change(0, 0, "// 𝔸\n")
    assert await asked[0] == {}
    with pytest.raises(JsonRpcException) as caught:
        await asked[1]
    assert caught.value.code == types.LSPErrorCodes.ContentModified


async def test_a_sentence_of_the_project(session: Session) -> None:
    session.write("SKILL.md", SKILL)
    page = await session.open("statement S: «»prec(release(mask = x), validate(mask = x))\n")
    found = await offered(page, only=["refactor.rewrite"])
    action = found["Add @source: “Masks must be validated before they are released.” (SKILL.md)"]
    line = '@source("SKILL.md", "Masks must be validated before they are released.")\n'
    assert session.after(action.edit) == {"p.vgl": line + page.text}


async def test_line_breaks_of_windows_stay(session: Session) -> None:
    page = await session.open("statement S: prec(«»send(to = x), ask(of = x))\r\n")
    found = await offered(page, only=["refactor.extract"])
    after = session.after(found["Extract pattern `sends`"].edit)["p.vgl"]
    assert after == ("pattern sends(x) = send(to = x)\r\n\r\nstatement S: prec(sends(x), ask(of = x))\r\n")


async def test_files_that_the_configuration_excludes_are_renamed_in_too(session: Session) -> None:
    session.write("vigil.toml", 'exclude = ["old.vgl"]\n')
    session.changed("vigil.toml")
    session.write("old.vgl", "use .lib: reads\nstatement V: abs(reads(x))\n")
    session.changed("old.vgl", how=types.FileChangeType.Created)
    page = await session.open("pattern re«»ads(x) = Read(file_path = x)\n", "lib.vgl")
    edit = await page.ask(types.TEXT_DOCUMENT_RENAME, new_name="looks")
    assert session.after(edit) == {
        "lib.vgl": "pattern looks(x) = Read(file_path = x)\n",
        "old.vgl": "use .lib: looks\nstatement V: abs(looks(x))\n",
    }
