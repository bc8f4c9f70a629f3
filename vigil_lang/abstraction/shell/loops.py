"""Loops: turn by turn where the words or bounds are known, and else once for all turns there may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.shell import arithmetic
from vigil_lang.abstraction.shell.expand import source
from vigil_lang.abstraction.shell.outcome import FAIL, OK, Facts, Outcome, Way, add, forget, join, merge, only_ran
from vigil_lang.abstraction.shell.state import UNKNOWN
from vigil_lang.abstraction.step import Word

if TYPE_CHECKING:
    from vigil_lang.abstraction.shell.state import ShellState, Value
    from vigil_lang.abstraction.shell.syntax import For, ForArithmetic, Node, While
    from vigil_lang.abstraction.shell.walk import Walker


def _unsettled(walker: Walker, node: Node, way: Way, condition: Node | None = None, name: str | None = None) -> Way:
    """The way into the body of a loop of unknown length: what it changes is not known in it."""
    if walker.rehearsing:
        return way
    count, traps, told = len(walker.drafts), len(walker.traps), dict(walker.budget.trouble)
    walker.rehearsing = True
    outcome: Outcome = {OK: way}
    if condition is not None:
        outcome = merge(outcome, walker.leniently(condition, way))
    outcome = merge(outcome, walker.walk(node, join(*outcome.values()) or way))
    walker.rehearsing = False
    del walker.drafts[count:]
    del walker.traps[traps:]
    walker.budget.trouble = told
    state = forget(way.state, outcome)
    if name is not None:
        state = replace(state, variables={**state.variables, name: UNKNOWN})
    return way._replace(state=state)


def loop(walker: Walker, node: While, way: Way) -> Outcome:
    entered = _unsettled(walker, node.body, way, node.condition)
    condition = walker.leniently(node.condition, entered)
    reached = join(condition.get(OK), condition.get(FAIL))
    ran = only_ran(way, condition)
    body = walker.walk(node.body, condition[OK]._replace(likely=True)) if OK in condition else {}
    every = merge(condition, body)
    state = forget(entered.state, every)
    return _indefinite(way, every, Facts(ran.ran, way.facts.ok, way.facts.error), state, reached is not None)


def _indefinite(way: Way, every: Outcome, facts: Facts, state: ShellState, ends: bool) -> Outcome:
    """What comes of a loop of unknown length, of what may come of one turn."""
    result: Outcome = {}
    if ends:
        result = {OK: Way(facts, state), FAIL: Way(facts, state)}
    for end in every:
        if end.startswith(("break", "continue")):
            outer = _outer(end)
            add(result, outer or OK, Way(Facts(way.facts.ran, *way.facts[1:]), state))
        elif end not in (OK, FAIL):
            add(result, end, Way(way.facts, state))
    return result


def iterate(walker: Walker, node: For, way: Way) -> Outcome:
    walker.way = way
    walker.expander.state = way.state
    words: list[Word] = []
    if node.words is None:
        arguments = way.state.arguments
        words = list(arguments) if arguments is not None else [Word("", known=False)]
    for token in node.words or ():
        words += walker.expander.words(token.parts)
    way = Way(walker.way.facts, walker.expander.state)
    if node.select or not all(word.known for word in words) or any(word.glob for word in words):
        return _over_unknown(walker, node, words, way)
    return _unroll(walker, node.body, [(node.name, (word,)) for word in words], way)


def _over_unknown(walker: Walker, node: For, words: list[Word], way: Way) -> Outcome:
    """A loop over what is not known: its body once. Over files it is at least once, and with the pattern."""
    value: Value = UNKNOWN
    if len(words) == 1 and words[0].known and not node.select:
        value = (words[0],)
    variables = {**way.state.variables, node.name: value}
    inside = _unsettled(walker, node.body, way._replace(state=replace(way.state, variables=variables)))
    inside = inside._replace(state=replace(inside.state, variables={**inside.state.variables, node.name: value}))
    body = walker.walk(node.body, inside)
    certain = value is not UNKNOWN or (len(words) > 1 and any(word.known for word in words) and not node.select)
    ran = only_ran(way, body).ran if certain else way.facts.ran
    state = forget(way.state, body)
    state = replace(state, variables={**state.variables, node.name: UNKNOWN})
    return _indefinite(way, body, Facts(ran, way.facts.ok, way.facts.error), state, True)


def _unroll(walker: Walker, body: Node, turns: list[tuple[str, Value]], way: Way) -> Outcome:
    """A loop over known words."""
    result: Outcome = {}
    outcome: Outcome = {OK: way}
    for name, value in turns:
        reached = join(outcome.pop(OK, None), outcome.pop(FAIL, None))
        if reached is None:
            break
        if not walker.budget.turn():
            return merge(result, _rest_unknown(walker, body, name, reached))
        variables = {**reached.state.variables, name: value}
        walker.before = {}
        outcome = walker.walk(body, reached._replace(state=replace(reached.state, variables=variables)))
        _turn(outcome, result)
    return merge(result, outcome)


def _turn(outcome: Outcome, result: Outcome) -> None:
    """Take what leaves the loop out of what came of one turn."""
    for end in [end for end in outcome if end not in (OK, FAIL)]:
        left = outcome.pop(end)
        if end.startswith("continue") and _outer(end) is None:
            add(outcome, OK, left)
        elif end.startswith(("break", "continue")):
            add(result, _outer(end) or OK, left)
        else:
            add(result, end, left)


def _rest_unknown(walker: Walker, body: Node, name: str, way: Way) -> Outcome:
    """Further turns of a loop that is too long."""
    inside = _unsettled(walker, body, way, name=name)
    outcome = walker.walk(body, inside)
    state = forget(inside.state, outcome)
    return _indefinite(way, outcome, way.facts, state, True)


def count(walker: Walker, node: ForArithmetic, way: Way) -> Outcome:
    """``for ((i=0; i<3; i++))``."""
    walker.way = way
    walker.expander.state = way.state
    texts = _clauses(walker.expander.word(node.inside))
    names = [name for text in texts or [source(node.inside)] for name in arithmetic.assigned(text)]
    way = Way(walker.way.facts, walker.expander.state)
    result: Outcome = {}
    if texts and _clause(walker, texts[0], way.state) is not None:
        way = way._replace(state=walker.expander.state)
        outcome: Outcome = {OK: way}
        while True:
            reached = join(outcome.get(OK), outcome.get(FAIL))
            if reached is None:
                return result
            holds = _clause(walker, texts[1] or "1", reached.state)
            if holds == 0:
                return merge(result, {end: w._replace(state=reached.state) for end, w in outcome.items()})
            if holds is None or not walker.budget.turn():
                way = reached
                break
            walker.before = {}
            outcome = walker.walk(node.body, reached._replace(state=walker.expander.state))
            _turn(outcome, result)
            for end in (OK, FAIL):
                if end in outcome:
                    if _clause(walker, texts[2], outcome[end].state) is None:
                        walker.expander.state = _unset(outcome[end].state, names)
                    outcome[end] = outcome[end]._replace(state=walker.expander.state)
    inside = _unsettled(walker, node.body, way._replace(state=_unset(way.state, names)))
    body = walker.walk(node.body, inside)
    return merge(result, _indefinite(way, body, way.facts, forget(inside.state, body), True))


def _clause(walker: Walker, text: str, state: ShellState) -> int | None:
    """The value of a clause in a state; the expander has the state after it."""
    walker.expander.state = state
    return walker.expander.evaluate(text)


def _unset(state: ShellState, names: list[str]) -> ShellState:
    return replace(state, variables={**state.variables, **dict.fromkeys(names, UNKNOWN)})


def _outer(end: str) -> str | None:
    """``break`` and ``continue`` seen from outside the innermost loop; None where they stay in it."""
    kind, _, count = end.partition(" ")
    return f"{kind} {int(count) - 1}" if int(count) > 1 else None


def _clauses(word: Word) -> list[str] | None:
    texts = word.text.split(";") if word.known else []
    return texts if len(texts) == 3 else None
