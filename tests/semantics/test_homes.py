"""Paths below a home directory in policies match however an event spells them (spec 7.14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.abstraction.abstraction_support import abstracted, bash, ok
from vigil_lang import parse_policy, verify
from vigil_lang.semantics.homes import matcher_of, values_of
from vigil_lang.semantics.text_patterns import Glob, predicate
from vigil_lang.trace import Event, Run, Trace

if TYPE_CHECKING:
    from vigil_lang.trace.record import Record

BOTH = ["~/.ssh/id_rsa", "/home/ann/.ssh/id_rsa", "/root/.ssh/id_rsa", "/Users/ann/.ssh/id_rsa"]


@pytest.mark.parametrize(
    ("glob", "met", "missed"),
    [
        ("~/.ssh/*", [*BOTH, "~bob/.ssh/x", "C:/Users/a/.ssh/x"], ["/x/.ssh/y", "/home/a/b/.ssh/x", "/home/.ssh/x"]),
        ("/home/*/.ssh/*", ["~/.ssh/x", "~/old/.ssh/x", "/home/a/b/.ssh/x"], ["/root/.ssh/x", "~/x"]),
        ("/home/ann/repo/*", ["/home/ann/repo/x", "~/repo/x"], ["/home/bob/repo/x", "~/x", "/home/ann/x"]),
        ("/home/*", ["~", "~/x", "/home/ann"], ["/root", "x~"]),
        ("/root/*", ["~/x", "/root/x"], ["/root", "~"]),
        ("/home/a*n/x", ["~/x", "/home/ann/x", "~/tmp/an/x"], ["~/y"]),
        ("~", ["~", "/home/ann", "/root"], ["~/x", "/home/ann/x", "/home"]),
        ("*/.ssh/*", ["~/.ssh/x", "/home/a/.ssh/x"], []),
        ("/rooted", ["/rooted"], ["~ed", "~"]),
        ("/home/", [], ["~", "~/"]),
    ],
)  # fmt: skip
def test_globs(glob: str, met: list[str], missed: list[str]) -> None:
    test = predicate(matcher_of(Glob(glob)))
    assert [text for text in [*met, *missed] if test(text)] == met


def test_a_set_has_the_other_spellings() -> None:
    assert values_of(frozenset({"/a", "b"})) == frozenset({"/a", "b"})
    assert values_of(frozenset({"/home/ann/*"})) == frozenset({"/home/ann/*", "~/*"})
    found = values_of(frozenset({"~/a*", "/b"}))
    assert not isinstance(found, frozenset)
    test = predicate(found)
    assert [t for t in ["~/a*", "/home/u/a*", "/b", "~/ab", "/home/u/ab", "/bb"] if test(t)] == [
        "~/a*",
        "/home/u/a*",
        "/b",
    ]


@pytest.mark.parametrize("operator", ["=", "!=", "in", "not in", "~", "!~"])
@pytest.mark.parametrize("literal", ["~/x", "/home/ann/x", "/root/x"])
def test_every_operator_takes_both_spellings(operator: str, literal: str) -> None:
    operand = f'{{"{literal}"}}' if "in" in operator else f'"{literal}"'
    policy = parse_policy(f"statement s: abs(file.read(path {operator} {operand}))\n")
    for path in {"~/x", literal}:
        trace = Trace.of([Event.of("file.read", {"path": path}, kinds=["file.read"])])
        assert verify(policy, trace).safe == operator.startswith(("!", "not"))


NAMES = st.sampled_from(["repo", ".ssh", "k", "b.txt", "id_rsa"])  # none that "ann" begins with
BELOW = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
COMMANDS = st.sampled_from(["cat {}", "rm -rf {}", "cp {} /tmp/x", "cp /tmp/x {}", "echo hi > {}", "(cd {} && cat x)"])
SPELLINGS = ("~/{}", "/home/ann/{}", "../{}", "$HOME/{}", "~ann/{}")
PATTERNS = st.tuples(
    st.sampled_from(["~/{}", "/home/ann/{}", "/home/*/{}", "*/{}"]), BELOW, st.sampled_from(["", "/*", "*"])
).map(lambda parts: parts[0].format(parts[1]) + parts[2])


def judged(lines: list[str], pattern: str, cwd: str) -> list[tuple[object, ...]]:
    """What three rules say of a run of command lines."""
    records: list[Record] = []
    for number, line in enumerate(lines):
        records += [bash(f"t{number}", line), ok(f"t{number}", "")]
    policy = parse_policy(
        f'statement a: abs(action = file.read and path ~ "{pattern}")\n'
        f'statement b: abs(action = file.delete and path !~ "{pattern}")\n'
        "statement c: prec(file.write(path = x), file.read(path = x))\n"
    )
    verdict = verify(policy, Trace(tuple(abstracted(records, cwd=cwd)), Run("r")))
    return [(each.name, each.verdict, [offence.event for offence in each.offending]) for each in verdict.statements]


@given(st.lists(st.tuples(COMMANDS, BELOW), min_size=1, max_size=4), PATTERNS)
def test_patterns_see_both_spellings_where_the_home_is_not_known(calls: list[tuple[str, str]], pattern: str) -> None:
    in_full, short = ([command.format(home + below) for command, below in calls] for home in ("/home/ann/", "~/"))
    assert judged(in_full, pattern, "/work") == judged(short, pattern, "/work")


@given(st.lists(st.tuples(COMMANDS, BELOW), min_size=1, max_size=4), PATTERNS, st.data())
def test_verdicts_do_not_depend_on_the_spelling(
    calls: list[tuple[str, str]], pattern: str, data: st.DataObject
) -> None:
    one = [command.format("/home/ann/" + below) for command, below in calls]
    other = [command.format(data.draw(st.sampled_from(SPELLINGS)).format(below)) for command, below in calls]
    assert judged(one, pattern, "/home/ann/repo") == judged(other, pattern, "/home/ann/repo")
