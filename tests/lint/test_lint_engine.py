"""What decides which findings count, whatever rule makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lang.lint import registry
from vigil_lang.lint.fixing import mend
from vigil_lang.lint.rule import Rule
from vigil_lang.lint.run import Plan, Stopped, lint, lint_policy
from vigil_lang.project.selection import DEFAULT, Selection
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vigil_lang.lint.subject import Subject

LONE = "statement R0: abs(deploy(env = production))\n"


def codes(text: str, plan: Plan | None = None) -> list[str]:
    return [f.code for f in lint(Source("policy.vgl", text), plan or Plan()).findings]


# --- selection ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("select", "ignore", "counts"),
    [
        (("VGL3",), (), True),
        (("VGL301",), ("VGL3",), True),
        (("VGL3",), ("VGL301",), False),
        (("VGL3",), ("VGL3",), False),
        (("VGL4",), (), False),
        (("ALL",), (), True),
        (("ALL",), ("VGL30",), False),
    ],
)
def test_the_longer_prefix_decides(select: tuple[str, ...], ignore: tuple[str, ...], counts: bool) -> None:
    assert Selection(select, ignore).counts("VGL301") is counts


def test_house_style_and_the_inventory_of_extensions_are_off() -> None:
    # spec RA.4-1
    assert not Selection().counts("VGL803")
    assert not Selection().counts("VGL501")
    assert Selection(("ALL",)).counts("VGL803")
    assert not Selection(("ALL",)).counts("VGL501")
    assert Selection(("ALL", "VGL501")).counts("VGL501")


def test_what_keeps_a_file_from_being_judged_is_never_left_out() -> None:
    broken = "statement R0: abs(deploy()" + " and x()" * 700_000
    assert "VGL003" in codes(broken, Plan(Selection(("VGL3",), ("VGL0",))))


def test_files_have_their_own_ignores_and_codes_their_severity(tmp_path: Path) -> None:
    selection = Selection(DEFAULT, (), {"drafts/": ("VGL3",)}, {"VGL": "info", "VGL301": "error"}, str(tmp_path))
    for folder, expected in (("drafts", []), ("rules", [("VGL301", "error"), ("VGL304", "info")])):
        path = tmp_path / folder / "a.vgl"
        text = LONE + "".join(LONE.replace("R0", name).replace("production", '"x"') for name in ("R1", "R2"))
        found = lint(Source(str(path), text), Plan(selection)).findings
        assert [(f.code, f.severity) for f in found] == expected


# --- comments ----------------------------------------------------------------------------------------------


def test_a_comment_behind_code_speaks_of_its_line() -> None:
    text = (
        LONE.rstrip() + "  // vigil: ignore[VGL301] any environment\n" + LONE.replace("R0", "R1").replace("env", "to")
    )
    linted = lint(Source("policy.vgl", text), Plan())
    assert [(f.code, f.source.position(f.span.start)[0]) for f in linted.findings] == [("VGL301", 2)]
    assert [f.code for f in linted.suppressed] == ["VGL301"]


def test_a_comment_on_its_own_line_speaks_of_the_item_below() -> None:
    text = (
        "// vigil: ignore[VGL301, VGL302] to be written anew\n/// Documented.\n@severity(error)\n"
        "statement R0: abs(\n    deploy(env = production)\n    and deploy(a = 1 and not a = 1)\n)\n"
        + LONE.replace("R0", "R1")
    )
    found = lint(Source("policy.vgl", text), Plan()).findings
    assert [(f.code, f.source.position(f.span.start)[0]) for f in found] == [("VGL301", 8)]


def test_a_comment_inside_an_item_speaks_of_the_next_line() -> None:
    text = "statement R0: abs(\n    // vigil: ignore[VGL301] any\n    deploy(env = production)\n)\n"
    assert codes(text) == []


def test_ignore_file_speaks_of_the_whole_file() -> None:
    assert codes("// vigil: ignore-file[VGL3] drafts\n\n" + LONE) == []


def test_comments_can_be_paid_no_heed_to() -> None:
    text = LONE.rstrip() + "  // vigil: ignore[VGL301] any environment\n"
    assert codes(text, Plan(inline_ignores=False)) == ["VGL301"]


def test_a_text_that_looks_like_a_comment_suppresses_nothing() -> None:
    text = 'statement R0: abs(deploy(env = production, tag = "// vigil: ignore[VGL301] x"))\n'
    assert codes(text) == ["VGL301"]


@pytest.mark.parametrize(
    "comment",
    [
        "vigil: ignore",
        "vigil: ignore[] x",
        "vigil: ignore[VGL999] x",
        "vigil: ignor[VGL301] x",
        "vigil: ignore[ALL] x",
        "vigil:",
        "Vigil: Ignore[VGL301] x",
        "vigil: IGNORE[VGL301] x",
    ],
)
def test_a_malformed_comment_suppresses_nothing_and_is_reported(comment: str) -> None:
    assert codes(f"{LONE.rstrip()}  // {comment}\n") == ["VGL301", "VGL008"]


def test_a_comment_that_only_speaks_of_vigil_is_none() -> None:
    assert codes(f"// Vigil: what is to be ignored is said below\n{LONE}") == ["VGL301"]


def test_deleting_a_comment_behind_code_keeps_the_end_of_the_line() -> None:
    text = "statement R0: abs(  // vigil: ignore[VGL302] x\r\n    deploy()\r\n)\r\n"
    mended = mend(Source("policy.vgl", text), Plan())
    assert mended.source.text == "statement R0: abs(\r\n    deploy()\r\n)\r\n"


def test_no_comment_hides_what_is_not_enforced_or_not_seen() -> None:
    text = "// vigil: ignore-file[VGL] drafts\nstatement R0: abs(deploy(\nstatement R1: abs(nothing)\n"
    assert [c for c in codes(text) if c.startswith(("VGL1", "VGL2"))] == ["VGL101", "VGL201"]
    assert codes("// vigil: ignore-file[VGL10] drafts\n\n" + LONE) == ["VGL007", "VGL301"]
    assert codes("// vigil: ignore-file[VGL101] drafts\n\n" + LONE) == ["VGL008", "VGL301"]


def test_documentation_is_no_such_comment() -> None:
    assert codes("/// vigil: ignore[VGL301] any environment\n" + LONE) == ["VGL008", "VGL301"]


def test_a_comment_without_a_reason_is_reported_and_heeded() -> None:
    assert codes(f"{LONE.rstrip()}  // vigil: ignore[VGL301]\n") == ["VGL008"]


def test_a_comment_for_what_was_not_looked_for_is_not_called_unused() -> None:
    text = "statement R0: abs(deploy())  // vigil: ignore[VGL401] known elsewhere\n"
    assert codes(text) == []
    assert codes(text.replace("VGL401", "VGL302")) == ["VGL007"]
    assert codes(text.replace("VGL401", "VGL302"), Plan(Selection(("VGL304", "VGL007")))) == []


# --- a rule that fails -------------------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(subject: Subject) -> Iterator[Diagnostic]:
        yield Diagnostic.of("VGL309", "before it fails", subject.policy.module.source)
        raise ZeroDivisionError("not made for this")

    rules = (Rule(("VGL309",), find), *registry.all_rules())
    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: rules)
    monkeypatch.delenv("VIGIL_DEBUG", raising=False)


@pytest.mark.usefixtures("failing")
def test_a_rule_that_fails_is_reported_and_hides_nothing() -> None:
    found = lint(Source("policy.vgl", LONE), Plan()).findings
    assert [f.code for f in found] == ["VGL309", "VGL902", "VGL301"]
    assert "ZeroDivisionError: not made for this" in found[1].message


# --- in stages ---------------------------------------------------------------------------------------------


def test_a_policy_that_was_read_is_linted_as_its_text_is() -> None:
    source = Source("policy.vgl", LONE + LONE.replace("R0", "R1").replace("env", "to"))
    policy = read_policy(source)
    linted = lint_policy(policy, Plan())
    whole = lint(source, Plan())
    assert linted.policy is policy
    assert [f.code for f in linted.findings] == ["VGL301", "VGL301"]
    assert (linted.findings, linted.suppressed, linted.needs) == (whole.findings, whole.suppressed, whole.needs)


def test_linting_stops_before_the_next_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[int] = []

    def rule(number: int) -> Rule:
        def find(subject: Subject) -> Iterator[Diagnostic]:
            applied.append(number)
            yield Diagnostic.of("VGL301", f"rule {number}", subject.policy.module.source)

        return Rule(("VGL301",), find)

    monkeypatch.setattr("vigil_lang.lint.run.all_rules", lambda: tuple(map(rule, range(5))))
    policy = read_policy(Source("policy.vgl", LONE))
    with pytest.raises(Stopped):
        lint_policy(policy, Plan(), lambda: len(applied) < 2)
    assert applied == [0, 1]
    with pytest.raises(Stopped):
        lint_policy(policy, Plan(), lambda: False)
    assert applied == [0, 1]
    assert len(lint_policy(policy, Plan(), lambda: True).findings) == 1
    assert applied == [0, 1, 0, 1, 2, 3, 4]
