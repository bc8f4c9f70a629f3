"""Going through the structure: which commands run, in which state, and what their statuses have to do with the end."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.abstraction.shell import arithmetic, builtins
from vigil_lang.abstraction.shell.expand import Expander, source
from vigil_lang.abstraction.shell.lexer import lex
from vigil_lang.abstraction.shell.limits import MAX_CALLS, MAX_COMMANDS, MAX_NESTING, MAX_VALUE, Exceeded
from vigil_lang.abstraction.shell.outcome import (
    EXIT_FAIL,
    FAIL,
    OK,
    RETURN_FAIL,
    RETURN_OK,
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
from vigil_lang.abstraction.shell.state import UNKNOWN, Redirect
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
from vigil_lang.abstraction.shell.tokens import Arithmetic, Array, Literal, RedirectToken, Substitution, WordToken
from vigil_lang.abstraction.step import Word
from vigil_lang.base.structs import Mutable
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.shell.limits import Budget
    from vigil_lang.abstraction.shell.state import ShellState, Value
    from vigil_lang.abstraction.shell.tokens import Lexed, Parts, Token

_ASSIGNMENT = regex(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_PROMPTS = frozenset({"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"})
_RUNS = regex(r"\$\(|`|\$\{")
_ELEMENT = regex(r"([A-Za-z_][A-Za-z0-9_]*)\[")
_EXCERPT = 200
_STEPS = 3
"""Nodes that one level of nesting takes: a group, its list, a part of that."""
_FILES = frozenset({">", ">>", ">|", "<", "<>", "&>", "&>>"})


class Draft(Mutable):
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
    after: tuple[int, ...] = ()
    fed: bool = False


def _is_fed(redirects: tuple[Redirect, ...], before: bool) -> bool:
    """Whether standard input is a file, a pipe or a text, as these leave it; with a device nothing is read."""
    for redirect in redirects:
        if redirect.fd in (None, 0) and redirect.op in _INPUTS:
            target = redirect.target
            before = target is None or not target.known or not target.text.startswith(_NO_INPUT)
    return before


_INPUTS = frozenset({"<", "<>", "<<", "<<-", "<<<", "<("})
_NO_INPUT = ("/dev/null", "/dev/tty", "/dev/zero")


class Walker:
    """One walk through a text: the commands found so far, and what is known of the shell where it has come to."""

    def __init__(self, state: ShellState, budget: Budget, fed: bool) -> None:
        self.budget = budget
        self.fed = fed
        """Whether standard input is a file, a pipe or a text."""
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
                return self.errexit(self.simple(node, way))
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
                return self.while_loop(node, way)
            case For():
                return self.for_loop(node, way)
            case ForArithmetic():
                return self.arithmetic_loop(node, way)

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
        chain: tuple[int, ...] | None = None if self.loops or self.captured else ()
        for position, (operator, operand) in enumerate(zip(operators, operands, strict=True)):
            first = len(self.drafts)
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
            if chain is not None:
                chain = self._chained(chain, first) if isinstance(operand, Simple) and operator != "||" else None
        return outcome

    def _chained(self, chain: tuple[int, ...], index: int) -> tuple[int, ...] | None:
        """The programs that have run before the next operand of ``a && b && c`` does; None where there are others."""
        if len(self.drafts) != index + 1 or not self.drafts[index].words:
            return None
        self.drafts[index].after = chain
        return (*chain, index)

    # -- pipelines

    def pipeline(self, node: Pipeline, way: Way) -> Outcome:
        ends: list[Outcome] = []
        source_of: int | None = None
        for position, stage in enumerate(node.stages):
            first = len(self.drafts)
            self.before = {}
            outer, self.fed = self.fed, self.fed or position > 0
            ends.append(self.walk_apart(stage, way))
            self.fed = outer
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
            plain = _all_side_by_side([join(*end.values()) for end in earlier])
            for kind, final in last.items():
                add(outcome, kind, _side_by_side(plain, final))
        if pipefail is not False:
            succeeded = [end.get(OK) for end in ends]
            if all(succeeded):
                add(outcome, OK, _all_side_by_side(succeeded))
            for position, end in enumerate(ends):
                if FAIL in end:
                    ways = [end[FAIL] if i == position else join(*other.values()) for i, other in enumerate(ends)]
                    add(outcome, FAIL, _all_side_by_side(ways))
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
        redirects = tuple(self.redirect(token) for token in node.redirects)
        way = Way(self.way.facts, self.expander.state)
        outer, self.fed = self.fed, _is_fed(redirects, self.fed)
        outcome = self.walk(node.body, way)
        self.fed = outer
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
        draft.fed = _is_fed(redirects, self.fed)
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
        outer, self.fed = self.fed, self.fed or not captures
        outcome = self.walk_apart(node, way)
        self.fed = outer
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

    # -- simple commands

    def simple(self, node: Simple, way: Way) -> Outcome:
        self.way = way._replace(likely=True)
        self.expander.state = way.state
        self.last = None
        self.receivers = []
        assignments, tokens = self.assignments(node.tokens)
        words, redirects = self.words(tokens)
        if not words and not redirects:
            return self.assigned(assignments)
        if not words:
            self.keep(assignments)
        state = self.expander.state
        way = Way(self.way.facts, state)
        if words and words[0].known:
            called = self.call_function(words, redirects, node, way)
            if called is not None:
                return called
        pairs = tuple((name, value[0] if len(value) == 1 else Word(name, known=False)) for name, value in assignments)
        index = self.draft(tuple(words), pairs, redirects, node.lexed, node.start, node.end, state)
        for reader in self.receivers:
            self.receive(reader, index)
        if not words:
            return _either(way, index)
        return builtins.run(self, words, way, index)

    def receive(self, commands: tuple[int, int], index: int) -> None:
        """The first command of ``>(…)`` reads what the command around it writes."""
        for i in range(*commands):
            if self.drafts[i].words:
                self.drafts[i].piped_from = index
                return

    def assignments(self, tokens: tuple[Token, ...]) -> tuple[list[tuple[str, Value]], list[Token]]:
        """The assignments a command begins with, and the rest of it."""
        found: list[tuple[str, Value]] = []
        rest: list[Token] = []
        begun = False
        pending: list[tuple[str, Value]] = []
        for token in tokens:
            assigned = None if begun or isinstance(token, RedirectToken) else self.assignment(token.parts)
            if assigned is None:
                begun = begun or isinstance(token, WordToken)
                rest.append(token)
            else:
                found.append(assigned)
                pending.append(assigned)
                if not begun:
                    self.expander.assign(*assigned)
        if begun:
            # they hold for the command alone, whose own words are expanded without them
            variables = dict(self.expander.state.variables)
            for name, _ in pending:
                variables.pop(name, None)
                if name in self.way.state.variables:
                    variables[name] = self.way.state.variables[name]
            self.expander.state = replace(self.expander.state, variables=variables)
        return found, rest

    def assignment(self, parts: Parts) -> tuple[str, Value] | None:
        """A variable and its value if a word is an assignment."""
        first = parts[0] if parts else None
        if not isinstance(first, Literal) or first.quoted:
            return None
        match = _ASSIGNMENT.match(first.text)
        if match is None:
            element = _ELEMENT.match(first.text)
            if element and any(isinstance(p, Literal) and p.text.startswith("]=") for p in parts[1:]):
                self.expander.word(parts)
                return element[1], UNKNOWN
            return None
        name, index, more = match.groups()
        old = self.expander.value(name)
        if len(parts) > 1 and isinstance(parts[1], Array):
            value = self.expander.elements(parts[1])
            return name, (*old, *value) if more and old is not UNKNOWN else UNKNOWN if more else value
        text = first.text[match.end() :]
        word = self.expander.word(((Literal(text, False, text),) if text else ()) + parts[1:], assignment=True)
        if more:
            if any(not w.known for w in (*old[:1], word)) or len(old) > 1:
                return name, UNKNOWN
            word = Word((old[0].text if old else "") + word.text, quoted=old[0].quoted if old else word.quoted)
        if index:
            return name, self.element(name, index, word)
        if name in _PROMPTS and (not word.known or _RUNS.search(word.text) or name == "PROMPT_COMMAND"):
            self.budget.tell(f"the shell runs the value of `{name}`, which is set")
        if name == "PATH" and not word.known:
            return name, (word,)
        return name, (word,) if word.known and len(word.text) <= self.value_limit(word) else UNKNOWN

    def value_limit(self, word: Word) -> int:
        if len(word.text) > MAX_VALUE:
            self.budget.tell(f"a variable has more than {MAX_VALUE:,} characters")
        return MAX_VALUE

    def element(self, name: str, index: str, word: Word) -> Value:
        """An array after one of its elements was set."""
        old = self.way.state.variables.get(name, UNKNOWN)
        at = self.expander.evaluate(index[1:-1])
        if old is UNKNOWN or at is None or not 0 <= at <= len(old):
            return UNKNOWN
        return (*old[:at], word, *old[at + 1 :])

    def keep(self, assignments: list[tuple[str, Value]]) -> None:
        """Assignments that stay, as no program follows."""
        for name, value in assignments:
            self.expander.assign(name, value)

    def assigned(self, assignments: list[tuple[str, Value]]) -> Outcome:
        """A command that is nothing but assignments: it fails only with a substitution in it."""
        self.keep(assignments)
        if self.last is None:
            return {OK: Way(self.way.facts, self.expander.state)}
        return {end: way._replace(state=self.expander.state, likely=True) for end, way in self.last.items()}

    def words(self, tokens: list[Token]) -> tuple[list[Word], tuple[Redirect, ...]]:
        """The words and redirections of a command."""
        words: list[Word] = []
        redirects: list[Redirect] = []
        test = False
        declares = False
        for token in tokens:
            if isinstance(token, RedirectToken):
                redirects.append(self.redirect(token))
            elif len(token.parts) == 1 and isinstance(token.parts[0], Arithmetic) and token.parts[0].source[0] == "(":
                self.expander.number(token.parts[0].inner)
                words += [Word("(("), Word(source(token.parts[0].inner), quoted=True), Word("))")]
            elif test:
                words.append(self.expander.word(token.parts))
            elif declares and (assigned := self.assignment(token.parts)):
                words.append(_declared(token.parts, assigned))
                self.expander.assign(*assigned)
            else:
                first = not words
                words += self.expander.words(token.parts)
                if first and len(words) == 1 and not words[0].quoted:
                    test = words[0].text == "[["
                    declares = words[0].text in builtins.DECLARING
        return words, tuple(redirects)

    def redirect(self, token: RedirectToken) -> Redirect:
        if token.op in ("<<", "<<-", "<<<"):
            word = self.expander.word(token.target)
            return Redirect(token.op, None, word, token.fd)
        words = self.expander.words(token.target)
        if len(token.target) == 1 and isinstance(token.target[0], Substitution) and token.target[0].direction:
            return Redirect(f"{token.target[0].direction}(", None, None, token.fd)
        target = words[0] if len(words) == 1 else Word(source(token.target), known=False)
        return Redirect(token.op, target, None, token.fd)

    def call_function(
        self, words: list[Word], redirects: tuple[Redirect, ...], node: Simple, way: Way
    ) -> Outcome | None:
        """What comes of a call of a function or of `eval`; None where it is neither, or its text is not known."""
        name = words[0].text
        body = way.state.functions.get(name)
        evaluated = name == "eval" and len(words) > 1 and all(word.known for word in words)
        if body is None and not evaluated:
            return None
        if self.calls >= MAX_CALLS:
            self.budget.tell(f"`{name[:50]}` is not followed more than {MAX_CALLS} calls deep")
            return None
        line = node.lexed.line_of(node.start)
        self.calls += 1
        outer, self.fed = self.fed, _is_fed(redirects, self.fed)
        if body is not None:
            self.locals.append(set())
            inside = way._replace(state=replace(way.state, arguments=tuple(words[1:])))
            outcome = self.walk(self.parsed(body, line), inside)
            outcome = _returned(outcome, way.state, self.locals.pop())
        else:
            text = " ".join(word.text for word in words[1:])
            outcome = self.walk(self.parsed(text, line), way)
        self.calls -= 1
        self.fed = outer
        if redirects:
            bit = 1 << self.draft((), (), redirects, node.lexed, node.start, node.end, way.state)
            outcome = {end: w._replace(facts=w.facts | Facts(bit)) for end, w in outcome.items()}
        return outcome

    # -- loops

    def loop_entry(self, node: Node, way: Way, condition: Node | None = None, name: str | None = None) -> Way:
        """The way into the body of a loop of unknown length: what it changes is not known in it."""
        if self.rehearsing:
            return way
        count, traps, told = len(self.drafts), len(self.traps), dict(self.budget.trouble)
        self.rehearsing = True
        outcome: Outcome = {OK: way}
        if condition is not None:
            outcome = merge(outcome, self.leniently(condition, way))
        outcome = merge(outcome, self.walk(node, join(*outcome.values()) or way))
        self.rehearsing = False
        del self.drafts[count:]
        del self.traps[traps:]
        self.budget.trouble = told
        state = forget(way.state, outcome)
        if name is not None:
            state = replace(state, variables={**state.variables, name: UNKNOWN})
        return way._replace(state=state)

    def while_loop(self, node: While, way: Way) -> Outcome:
        entered = self.loop_entry(node.body, way, node.condition)
        condition = self.leniently(node.condition, entered)
        reached = join(condition.get(OK), condition.get(FAIL))
        ran = only_ran(way, condition)
        body = self.walk(node.body, condition[OK]._replace(likely=True)) if OK in condition else {}
        every = merge(condition, body)
        state = forget(entered.state, every)
        return _indefinite(way, every, Facts(ran.ran, way.facts.ok, way.facts.error), state, reached is not None)

    def for_loop(self, node: For, way: Way) -> Outcome:
        self.way = way
        self.expander.state = way.state
        words: list[Word] = []
        if node.words is None:
            arguments = way.state.arguments
            words = list(arguments) if arguments is not None else [Word("", known=False)]
        first = len(self.drafts)
        for token in node.words or ():
            words += self.expander.words(token.parts)
        way = Way(self.way.facts, self.expander.state)
        if node.select or not all(word.known for word in words) or any(word.glob for word in words):
            return self.loop_over_unknown(node, words, way, self._listed(words, first))
        return self.unroll(node.body, [(node.name, (word,)) for word in words], way)

    def _listed(self, words: list[Word], first: int) -> Value:
        """What stands for each entry of a folder that a loop goes through: ``for f in $(ls folder)``."""
        if len(words) != 1 or words[0].quoted or len(self.drafts) != first + 1:
            return UNKNOWN
        text, draft = words[0].text, self.drafts[first]
        whole = (text[:2] + text[-1:] == "$()" or text[:1] + text[-1:] == "``") and not draft.rebound
        return (Word("*", glob=True),) if whole and builtins.lists_names(draft.words, draft.redirects) else UNKNOWN

    def loop_over_unknown(self, node: For, words: list[Word], way: Way, listed: Value) -> Outcome:
        """A loop over what is not known: its body once. Over files it is at least once, and with the pattern."""
        value: Value = UNKNOWN
        if len(words) == 1 and words[0].known and not node.select:
            value = (words[0],)
        certain = value is not UNKNOWN or (len(words) > 1 and any(word.known for word in words) and not node.select)
        value = listed if value is UNKNOWN and not node.select else value
        variables = {**way.state.variables, node.name: value}
        inside = self.loop_entry(node.body, way._replace(state=replace(way.state, variables=variables)))
        inside = inside._replace(state=replace(inside.state, variables={**inside.state.variables, node.name: value}))
        body = self.walk(node.body, inside)
        ran = only_ran(way, body).ran if certain else way.facts.ran
        state = forget(way.state, body)
        state = replace(state, variables={**state.variables, node.name: UNKNOWN})
        return _indefinite(way, body, Facts(ran, way.facts.ok, way.facts.error), state, True)

    def unroll(self, body: Node, turns: list[tuple[str, Value]], way: Way) -> Outcome:
        """A loop over known words."""
        result: Outcome = {}
        outcome: Outcome = {OK: way}
        for name, value in turns:
            reached = join(outcome.pop(OK, None), outcome.pop(FAIL, None))
            if reached is None:
                break
            if not self.budget.turn():
                return merge(result, self.unroll_rest(body, name, reached))
            variables = {**reached.state.variables, name: value}
            self.before = {}
            outcome = self.walk(body, reached._replace(state=replace(reached.state, variables=variables)))
            _turn(outcome, result)
        return merge(result, outcome)

    def unroll_rest(self, body: Node, name: str, way: Way) -> Outcome:
        """Further turns of a loop that is too long."""
        inside = self.loop_entry(body, way, name=name)
        outcome = self.walk(body, inside)
        state = forget(inside.state, outcome)
        return _indefinite(way, outcome, way.facts, state, True)

    def arithmetic_loop(self, node: ForArithmetic, way: Way) -> Outcome:
        """``for ((i=0; i<3; i++))``."""
        self.way = way
        self.expander.state = way.state
        texts = _clauses(self.expander.word(node.inside))
        names = [name for text in texts or [source(node.inside)] for name in arithmetic.assigned(text)]
        way = Way(self.way.facts, self.expander.state)
        result: Outcome = {}
        if texts and self.clause(texts[0], way.state) is not None:
            way = way._replace(state=self.expander.state)
            outcome: Outcome = {OK: way}
            while True:
                reached = join(outcome.get(OK), outcome.get(FAIL))
                if reached is None:
                    return result
                holds = self.clause(texts[1] or "1", reached.state)
                if holds == 0:
                    return merge(result, {end: w._replace(state=reached.state) for end, w in outcome.items()})
                if holds is None or not self.budget.turn():
                    way = reached
                    break
                self.before = {}
                outcome = self.walk(node.body, reached._replace(state=self.expander.state))
                _turn(outcome, result)
                for end in (OK, FAIL):
                    if end in outcome:
                        if self.clause(texts[2], outcome[end].state) is None:
                            self.expander.state = _unset(outcome[end].state, names)
                        outcome[end] = outcome[end]._replace(state=self.expander.state)
        inside = self.loop_entry(node.body, way._replace(state=_unset(way.state, names)))
        body = self.walk(node.body, inside)
        return merge(result, _indefinite(way, body, way.facts, forget(inside.state, body), True))

    def clause(self, text: str, state: ShellState) -> int | None:
        """The value of a clause in a state; the expander has the state after it."""
        self.expander.state = state
        return self.expander.evaluate(text)


def _is_simple(node: Node) -> bool:
    return isinstance(node, Sequence) and len(node.items) == 1 and isinstance(node.items[0], Simple)


def _side_by_side(one: Way | None, other: Way) -> Way:
    return other if one is None else other._replace(facts=one.facts | other.facts)


def _all_side_by_side(ways: list[Way | None]) -> Way | None:
    """What is known where several pieces ran side by side."""
    joined: Way | None = None
    for way in ways:
        if way is not None:
            joined = _side_by_side(joined, way)
    return joined


def _declared(parts: Parts, assigned: tuple[str, Value]) -> Word:
    """The word ``A=b`` of an `export`."""
    name, value = assigned
    if len(value) == 1 and value[0].known:
        return Word(f"{name}={value[0].text}", quoted=value[0].quoted)
    return Word(source(parts), known=False)


def _returned(outcome: Outcome, state: ShellState, names: set[str]) -> Outcome:
    """The outcome of a function's body, outside: its arguments and the variables local to it are as before."""
    after: Outcome = {}
    for end, way in outcome.items():
        variables = dict(way.state.variables)
        for name in names:
            variables.pop(name, None)
            if name in state.variables:
                variables[name] = state.variables[name]
        outer = way._replace(state=replace(way.state, variables=variables, arguments=state.arguments))
        add(after, {RETURN_OK: OK, RETURN_FAIL: FAIL}.get(end, end), outer)
    return after


def _either(way: Way, index: int) -> Outcome:
    """An ordinary command: it succeeds or fails."""
    bit = 1 << index
    return {
        OK: way._replace(facts=way.facts | Facts(bit, bit)),
        FAIL: way._replace(facts=way.facts | Facts(bit, 0, bit)),
    }


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


def _unset(state: ShellState, names: list[str]) -> ShellState:
    return replace(state, variables={**state.variables, **dict.fromkeys(names, UNKNOWN)})


def _outer(end: str) -> str | None:
    """``break`` and ``continue`` seen from outside the innermost loop; None where they stay in it."""
    kind, _, count = end.partition(" ")
    return f"{kind} {int(count) - 1}" if int(count) > 1 else None


def _clauses(word: Word) -> list[str] | None:
    texts = word.text.split(";") if word.known else []
    return texts if len(texts) == 3 else None
