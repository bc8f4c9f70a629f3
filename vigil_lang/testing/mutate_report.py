"""What mutation testing found, for people and as JSON."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.testing.rules_under_test import RuleUnderTest, asked_of, taken_apart
from vigil_lang.testing.run_notation import written_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.testing.mutants import Mutant
    from vigil_lang.testing.mutate import Mutation, Survivor
    from vigil_lang.trace import Trace

_SHOWN = 50
_LINES = 12


def print_mutation(mutation: Mutation, console: Console) -> None:
    """Every mutant that survived, with a test that would have noticed it, and the score."""
    lines: list[Text] = []
    shown: set[str] = set()
    for survivor in mutation.survivors[:_SHOWN]:
        lines += [*_survivor(survivor, console, shown), Text()]
    if len(mutation.survivors) > _SHOWN:
        lines += [Text(f"… and {len(mutation.survivors) - _SHOWN} more that survived"), Text()]
    if mutation.doubtful:
        lines += [Text("maybe the same", "bold yellow").append(" (no run is known that tells them apart)", "dim")]
        lines += [_one_line(survivor.mutant) for survivor in mutation.doubtful[:_SHOWN]]
        lines.append(Text())
    if mutation.untested:
        lines += [Text("named by no test", "bold yellow")]
        lines += _untested(mutation.untested)
        lines.append(Text())
    lines.append(headline(mutation))
    for line in lines:
        console.print(line)


def headline(mutation: Mutation) -> Text:
    """`41 of 50 mutants noticed (82 %) · 7 survived, 2 named by no test · 1 maybe the same`."""
    total = len(mutation.killed) + mutation.survived
    score = f"{len(mutation.killed)} of {total} mutants noticed ({int(mutation.percent)} %)"
    text = Text(score if total else "no mutants to notice", "bold")
    facts = (
        (len(mutation.survivors), "survived"),
        (len(mutation.untested), "of statements that no test names"),
        (len(mutation.doubtful), "maybe the same as the policy"),
        (len(mutation.equivalent), "the same"),
        (len(mutation.skipped), "not tried"),
    )
    for number, word in facts:
        if number:
            text.append(f" · {number} {word}")
    return text if mutation.complete else text.append(" · there are more")


def mutation_json(mutation: Mutation) -> dict[str, Any]:
    """The `vigil.mutation/1` object."""
    return {
        "schema": "vigil.mutation/1",
        "percent": round(mutation.percent, 2),
        "killed": len(mutation.killed),
        "survived": mutation.survived,
        "equivalent": len(mutation.equivalent),
        "skipped": len(mutation.skipped),
        "complete": mutation.complete,
        "survivors": [
            *(_json(s.mutant, "survived", s) for s in mutation.survivors),
            *(_json(s.mutant, "maybe equivalent", s) for s in mutation.doubtful),
            *(_json(mutant, "untested") for mutant in mutation.untested),
        ],
    }


def proposed(survivor: Survivor) -> list[str]:
    """A test, as lines of a `*_test.vgl`, that the policy passes and the mutant does not."""
    telling = survivor.telling
    if telling is None:
        return []
    name, trace, statement = survivor.statement, telling.trace, survivor.by.statement
    if isinstance(statement, RuleUnderTest):
        return _of_rule(survivor, statement, trace)
    places = ", ".join(trace.events[at].id for at in telling.before)
    expected = f"{name} violated at {places}" if telling.before else f"{name} satisfied"
    return written_test(survivor.name, trace, [expected], survivor.by.policy.params)


def _of_rule(survivor: Survivor, rule: RuleUnderTest, trace: Trace) -> list[str]:
    apart = taken_apart(trace)
    matched, unknown = asked_of(rule, trace)
    then = rule.rule.then
    if apart is None or (then == "pass" and not matched):
        return []
    verdict, events = f"{then}{'es' if then == 'pass' else 's'}", matched
    if unknown:
        verdict, events = "blocks", sorted([*unknown, *(matched if then == "block" else [])])
    places = ", ".join(trace.events[at].id for at in events)
    expected = f"{survivor.statement} {verdict} at {places}" if events else f"{survivor.statement} passes"
    plain, context = apart
    settings = {name: value for name, value in context.items() if (name, str(value)) != (f"{CONTEXT}tier", "0")}
    return written_test(survivor.name, plain, [expected], {**survivor.by.policy.params, **settings})


def _survivor(survivor: Survivor, console: Console, shown: set[str]) -> Iterator[Text]:
    """One survivor; `shown` are the names of tests already proposed."""
    yield _one_line(survivor.mutant)
    for sign, style, lines in zip("-+", ("red", "green"), survivor.mutant.lines, strict=True):
        for line in islice(lines, _LINES):
            yield from hanging(console, Text(f"  {sign} ", style), line.strip(), style)
    yield from hanging(console, Text("  "), survivor.mutant.missing)
    test = proposed(survivor)
    if survivor.name in shown:
        yield from hanging(console, Text("  "), f"the test `{survivor.name}`, above, would notice this too", "dim")
    elif test:
        shown.add(survivor.name)
        yield from hanging(console, Text("  "), "this one would notice, if the policy is as it should be:", "dim")
        yield Text()
        for line in test:
            yield from hanging(console, Text(" " * (4 + len(line) - len(line.lstrip()))), line.lstrip(), "cyan")


def _one_line(mutant: Mutant) -> Text:
    line, column = mutant.source.position(mutant.span.start)
    names = ", ".join(dict.fromkeys(m.statement.name for m in mutant.mutated))
    where = f"{shown_path(mutant.source.path)}:{line}:{column}"
    return Text.assemble((where, "bold"), f"  {visible(names)}: {visible(mutant.told)}")


def _untested(mutants: Sequence[Mutant]) -> Iterator[Text]:
    counts: dict[tuple[str, str], int] = {}
    for mutant in mutants:
        for key in dict.fromkeys((m.policy.path, m.statement.name) for m in mutant.mutated):
            counts[key] = counts.get(key, 0) + 1
    for (path, name), count in counts.items():
        yield Text(f"  {shown_path(path)}: {visible(name)}, {count} mutant{'s' * (count != 1)}")


def _json(mutant: Mutant, state: str, survivor: Survivor | None = None) -> dict[str, Any]:
    line, column = mutant.source.position(mutant.span.start)
    before, after = mutant.lines
    return {
        "state": state,
        "file": mutant.source.path,
        "start": {"line": line, "column": column},
        "statements": list(dict.fromkeys(m.statement.name for m in mutant.mutated)),
        "change": mutant.told,
        "before": "\n".join(before),
        "after": "\n".join(after),
        "missing": mutant.missing,
        "test": "\n".join(proposed(survivor)) if survivor and survivor.telling else None,
    }
