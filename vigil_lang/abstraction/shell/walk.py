"""Going through the structure: which commands run, in which state, and what their statuses have to do with the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.abstraction.shell import builtins, loops, simple
from vigil_lang.abstraction.shell.expand import Expander
from vigil_lang.abstraction.shell.lexer import lex
from vigil_lang.abstraction.shell.limits import MAX_COMMANDS, MAX_NESTING, Exceeded
from vigil_lang.abstraction.shell.outcome import (
    EXIT_FAIL,
    FAIL,
    OK,
    Facts,
    Outcome,
    Way,
    add,
    enclosed,
    forget,
    join,
    join_states,
    merge,
    only_ran,
)
from vigil_lang.abstraction.shell.structure import structure
from vigil_lang.abstraction.shell.syntax import (
    AndOr,
    Background,
    Broken,
    Case,
    For,
    ForArithmetic,
    Function,
    If,
    Negated,
    Node,
    Pipeline,
    Redirected,
    Sequence,
    Simple,
    Subshell,
    While,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.shell.limits import Budget
    from vigil_lang.abstraction.shell.state import Redirect, ShellState, Value
    from vigil_lang.abstraction.shell.tokens import Lexed, Parts, Substitution
    from vigil_lang.abstraction.step import Word

_EXCERPT = 200
_STEPS = 3
"""Nodes that one level of nesting takes: a group, its list, a part of that."""
_FILES = frozenset({">", ">>", ">|", "<", "<>", "&>", "&>>"})


@dataclass(slots=True)
class Draft:
    """A command before its status is known."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...]
    redirects: tuple[Redirect, ...]
    cwd: str | None
    excerpt: str
    line: int
    captured: int
    """How many substitutions it stands in."""
    variables: Mapping[str, Value]
    piped_from: int | None = None
    piped_to: bool = False
    rebound: bool = False


class Walker:
    """What is gathered on the way."""

    def __init__(self, state: ShellState, budget: Budget) -> None:
        self.budget = budget
        self.drafts: list[Draft] = []
        self.expander = Expander(state, budget, self.substitute)
        self.way = Way(Facts(), state)
        """The way to where the words of a command are being expanded."""
        self.before: Outcome = {}
        """How the previous statement may have ended: what a bare `exit` exits with."""
        self.lenient = False
        """Whether ``set -e`` does not hold: in a condition, say."""
        self.depth = 0
        self.calls = 0
        self.captured = 0
        self.last: Outcome | None = None
        """What came of the last substitution in the words of a command."""
        self.receivers: list[tuple[int, int]] = []
        self.locals: list[set[str]] = []
        """Of each function that is gone through, its local variables."""
        self.traps: list[str] = []
        self.rehearsing = False
        self.partly = state
        """What is the same in the shell at all places that were reached."""
        self.loops = 0
        """How many loops this is in."""
        self.shielded = 0
        """How many subshells this is in, whose state ends with them."""
        self.cut = False
        """Whether there is more of a text than was read, so that nothing is known of how it ends."""
        self.parsed = lru_cache(maxsize=64)(self.parse)

    def parse(self, text: str, line: int) -> Node:
        lexed = lex(text, self.budget, line, self.depth // _STEPS)
        self.cut = self.cut or lexed.cut
        return structure(lexed, self.budget)

    # -- statements

    def walk(self, node: Node, way: Way) -> Outcome:
        """What comes of a piece that is reached in some way."""
        self.budget.step()
        if self.depth >= MAX_NESTING * _STEPS:
            raise Exceeded(f"nested more than {MAX_NESTING} deep")
        self.depth += 1
        if not self.shielded:
            self.partly = join_states(self.partly, way.state)
        try:
            return self.dispatch(node, way)
        finally:
            self.depth -= 1

    def walk_apart(self, node: Node, way: Way) -> Outcome:
        """What comes of a piece that runs in a shell of its own."""
        self.shielded += 1
        try:
            return enclosed(self.walk(node, way), way.state)
        finally:
            self.shielded -= 1

    def dispatch(self, node: Node, way: Way) -> Outcome:
        match node:
            case Simple():
                return self.errexit(simple.simple(self, node, way))
            case Sequence():
                return self.sequence(node.items, way)
            case AndOr():
                return self.and_or(node, way)
            case Pipeline():
                return self.errexit(self.pipeline(node, way))
            case Negated():
                outcome = self.leniently(node.body, way)
                ok, fail = outcome.pop(OK, None), outcome.pop(FAIL, None)
                add(outcome, OK, fail)
                add(outcome, FAIL, ok)
                return outcome
            case Subshell():
                return self.errexit(self.walk_apart(node.body, way))
            case Background():
                outcome = self.walk_apart(node.body, way)
                return {OK: way._replace(facts=only_ran(way, outcome))}
            case If():
                return self.conditional(node, way)
            case While() | For() | ForArithmetic():
                self.loops += 1
                try:
                    return self.loop(node, way)
                finally:
                    self.loops -= 1
            case Case():
                return self.case(node, way)
            case Function():
                functions = {**way.state.functions, node.name: node.text}
                return {OK: way._replace(state=replace(way.state, functions=functions))}
            case Redirected():
                return self.redirected(node, way)
            case Broken():
                outcome = self.walk(node.body, way)
                state = join_states(way.state, forget(way.state, outcome))
                return {end: way._replace(state=state) for end in (OK, FAIL)}

    def loop(self, node: While | For | ForArithmetic, way: Way) -> Outcome:
        match node:
            case While():
                return loops.loop(self, node, way)
            case For():
                return loops.iterate(self, node, way)
            case ForArithmetic():
                return loops.count(self, node, way)

    def leniently(self, node: Node, way: Way) -> Outcome:
        """A piece whose failure ``set -e`` does not end the shell for."""
        lenient, self.lenient = self.lenient, True
        outcome = self.walk(node, way)
        self.lenient = lenient
        return outcome

    def errexit(self, outcome: Outcome) -> Outcome:
        """A failure ends the shell under ``set -e``."""
        fail = outcome.get(FAIL)
        if fail is not None and not self.lenient and fail.state.errexit is not False:
            add(outcome, EXIT_FAIL, fail)
            if fail.state.errexit:
                del outcome[FAIL]
        return outcome

    def sequence(self, items: tuple[Node, ...], way: Way) -> Outcome:
        outcome: Outcome = {OK: way}
        others: Outcome = {}
        for item in items:
            reached = join(outcome.pop(OK, None), outcome.pop(FAIL, None)) if item is not items[0] else way
            if reached is None:
                break
            outcome = self.walk(item, reached)
            self.before = {end: outcome[end] for end in (OK, FAIL) if end in outcome}
            for end, other in outcome.items():
                if end not in (OK, FAIL):
                    add(others, end, other)
            outcome = dict(self.before)
        return merge(outcome, others)

    def and_or(self, node: AndOr, way: Way) -> Outcome:
        operands = (node.first, *(operand for _, operand in node.rest))
        operators = ("", *(operator for operator, _ in node.rest))
        outcome: Outcome = {}
        for position, (operator, operand) in enumerate(zip(operators, operands, strict=True)):
            if position:
                reached = outcome.pop(OK if operator == "&&" else FAIL, None)
                if reached is None:
                    continue
                self.before = {OK if operator == "&&" else FAIL: reached}
                reached = reached._replace(likely=True)
            else:
                reached = way
            last = position == len(operands) - 1
            outcome = merge(outcome, self.walk(operand, reached) if last else self.leniently(operand, reached))
        return outcome

    # -- pipelines

    def pipeline(self, node: Pipeline, way: Way) -> Outcome:
        ends: list[Outcome] = []
        source_of: int | None = None
        for position, stage in enumerate(node.stages):
            first = len(self.drafts)
            self.before = {}
            ends.append(self.walk_apart(stage, way))
            own = [
                i
                for i in range(first, len(self.drafts))
                if self.drafts[i].captured == self.captured and self.drafts[i].words
            ]
            if own and source_of is not None and self.drafts[own[0]].piped_from is None:
                self.drafts[own[0]].piped_from = source_of
            source_of = own[-1] if own else None
            if position < len(node.stages) - 1:
                for i in own:
                    self.drafts[i].piped_to = True
        *earlier, last = ends
        outcome: Outcome = {}
        pipefail = way.state.pipefail
        if pipefail is not True:
            plain = _all([join(*end.values()) for end in earlier])
            for kind, final in last.items():
                add(outcome, kind, _with(plain, final))
        if pipefail is not False:
            succeeded = [end.get(OK) for end in ends]
            if all(succeeded):
                add(outcome, OK, _all(succeeded))
            for position, end in enumerate(ends):
                if FAIL in end:
                    ways = [end[FAIL] if i == position else join(*other.values()) for i, other in enumerate(ends)]
                    add(outcome, FAIL, _all(ways))
        return outcome

    # -- branches and loops

    def conditional(self, node: If, way: Way) -> Outcome:
        result: Outcome = {}
        reached: Way | None = way
        for condition, body in node.branches:
            if reached is None:
                break
            outcome = self.leniently(condition, reached)
            ok, reached = outcome.pop(OK, None), outcome.pop(FAIL, None)
            result = merge(result, outcome)
            self.before = {}
            if ok is not None:
                result = merge(result, self.walk(body, ok._replace(likely=True)))
            if reached is not None:
                reached = reached._replace(likely=True)
        if reached is not None:
            result = merge(result, self.walk(node.otherwise, reached) if node.otherwise else {OK: reached})
        return result

    def case(self, node: Case, way: Way) -> Outcome:
        for token in node.words:
            way = self.expanding(way, token.parts)
        result: Outcome = {} if node.complete else {OK: way}
        for branch in node.branches:
            self.before = {}
            result = merge(result, self.walk(branch, way))
        return result

    def redirected(self, node: Redirected, way: Way) -> Outcome:
        """Redirections of a compound command: a command without words after those in it."""
        self.way = way
        self.expander.state = way.state
        redirects = tuple(simple.redirect(self, token) for token in node.redirects)
        way = Way(self.way.facts, self.expander.state)
        outcome = self.walk(node.body, way)
        bit = 1 << self.draft((), (), redirects, node.lexed, node.start, node.end, way.state)
        outcome = {end: w._replace(facts=w.facts | Facts(bit)) for end, w in outcome.items()}
        if any(redirect.op in _FILES for redirect in redirects):
            # the file may not be there, and then nothing runs; that is told as a failure only
            ran = only_ran(way, outcome).ran
            failed = Way(Facts(ran, way.facts.ok, way.facts.error), way.state, likely=False)
            add(outcome, FAIL, failed)
            return self.errexit(outcome)
        return outcome

    # -- commands

    def draft(
        self,
        words: tuple[Word, ...],
        assignments: tuple[tuple[str, Word], ...],
        redirects: tuple[Redirect, ...],
        lexed: Lexed,
        start: int,
        end: int,
        state: ShellState,
    ) -> int:
        """Note a command; its index."""
        index = len(self.drafts)
        if index >= MAX_COMMANDS:
            raise Exceeded(f"more than {MAX_COMMANDS:,} commands")
        line = lexed.line_of(start)
        excerpt = lexed.text[start : min(end, start + _EXCERPT)].strip()
        draft = Draft(words, assignments, redirects, state.cwd, excerpt, line, self.captured, state.variables)
        draft.rebound = bool(words) and words[0].text in state.functions
        draft.piped_to = self.captured > 0
        self.drafts.append(draft)
        return index

    def expanding(self, way: Way, parts: Parts) -> Way:
        """Expand a word for what happens on the way."""
        self.way = way
        self.expander.state = way.state
        self.expander.word(parts)
        return Way(self.way.facts, self.expander.state)

    # -- substitutions

    def substitute(self, part: Substitution) -> str | None:
        """Go through the commands of a substitution; its text where that is known."""
        way = self.way._replace(state=self.expander.state)
        receivers, first = self.receivers, len(self.drafts)
        before, lenient = self.before, self.lenient
        captures = part.direction != ">"
        self.captured += 1
        self.lenient = True
        node = structure(part.inner, self.budget)
        outcome = self.walk_apart(node, way)
        self.captured -= 1
        self.before, self.lenient, self.receivers = before, lenient, receivers
        self.expander.state = way.state
        self.last = outcome
        self.way = way._replace(facts=only_ran(way, outcome))
        if not captures:
            self.receivers.append((first, len(self.drafts)))
            for draft in self.drafts[first:]:
                draft.piped_to = draft.piped_to and draft.captured > self.captured + 1
        if part.direction or len(self.drafts) != first + 1 or not _is_simple(node):
            return None
        draft = self.drafts[first]
        return builtins.output(draft.words, draft.redirects, way.state)


def _is_simple(node: Node) -> bool:
    return isinstance(node, Sequence) and len(node.items) == 1 and isinstance(node.items[0], Simple)


def _with(one: Way | None, other: Way) -> Way:
    return other if one is None else other._replace(facts=one.facts | other.facts)


def _all(ways: list[Way | None]) -> Way | None:
    """What is known where several pieces ran side by side."""
    joined: Way | None = None
    for way in ways:
        if way is not None:
            joined = _with(joined, way)
    return joined
