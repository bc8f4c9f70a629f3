"""Simple commands: their assignments, words and redirections, and the functions they call."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.shell import builtins
from vigil_lang.abstraction.shell.expand import source
from vigil_lang.abstraction.shell.limits import MAX_CALLS, MAX_VALUE
from vigil_lang.abstraction.shell.outcome import FAIL, OK, RETURN_FAIL, RETURN_OK, Facts, Outcome, Way, add
from vigil_lang.abstraction.shell.state import UNKNOWN, Redirect
from vigil_lang.abstraction.shell.tokens import Arithmetic, Array, Literal, RedirectToken, Substitution, WordToken
from vigil_lang.abstraction.step import Word

if TYPE_CHECKING:
    from vigil_lang.abstraction.shell.state import ShellState, Value
    from vigil_lang.abstraction.shell.syntax import Simple
    from vigil_lang.abstraction.shell.tokens import Parts, Token
    from vigil_lang.abstraction.shell.walk import Walker

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_PROMPTS = frozenset({"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4"})
_RUNS = re.compile(r"\$\(|`|\$\{")
_ELEMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[")


def simple(walker: Walker, node: Simple, way: Way) -> Outcome:
    walker.way = way._replace(likely=True)
    walker.expander.state = way.state
    walker.last = None
    walker.receivers = []
    assignments, tokens = _assignments(walker, node.tokens)
    words, redirects = _words(walker, tokens)
    if not words and not redirects:
        return _assigned(walker, assignments)
    if not words:
        _keep(walker, assignments)
    state = walker.expander.state
    way = Way(walker.way.facts, state)
    if words and words[0].known:
        called = _inlined(walker, words, redirects, node, way)
        if called is not None:
            return called
    pairs = tuple((name, value[0] if len(value) == 1 else Word(name, known=False)) for name, value in assignments)
    index = walker.draft(tuple(words), pairs, redirects, node.lexed, node.start, node.end, state)
    for reader in walker.receivers:
        _receive(walker, reader, index)
    if not words:
        return _either(way, index)
    return builtins.run(walker, words, way, index)


def _receive(walker: Walker, commands: tuple[int, int], index: int) -> None:
    """The first command of ``>(…)`` reads what the command around it writes."""
    for i in range(*commands):
        if walker.drafts[i].words:
            walker.drafts[i].piped_from = index
            return


def _assignments(walker: Walker, tokens: tuple[Token, ...]) -> tuple[list[tuple[str, Value]], list[Token]]:
    """The assignments a command begins with, and the rest of it."""
    found: list[tuple[str, Value]] = []
    rest: list[Token] = []
    begun = False
    pending: list[tuple[str, Value]] = []
    for token in tokens:
        assigned = None if begun or isinstance(token, RedirectToken) else _assignment(walker, token.parts)
        if assigned is None:
            begun = begun or isinstance(token, WordToken)
            rest.append(token)
        else:
            found.append(assigned)
            pending.append(assigned)
            if not begun:
                walker.expander.assign(*assigned)
    if begun:
        # they hold for the command alone, whose own words are expanded without them
        variables = dict(walker.expander.state.variables)
        for name, _ in pending:
            variables.pop(name, None)
            if name in walker.way.state.variables:
                variables[name] = walker.way.state.variables[name]
        walker.expander.state = replace(walker.expander.state, variables=variables)
    return found, rest


def _assignment(walker: Walker, parts: Parts) -> tuple[str, Value] | None:
    """A variable and its value if a word is an assignment."""
    first = parts[0] if parts else None
    if not isinstance(first, Literal) or first.quoted:
        return None
    match = _ASSIGNMENT.match(first.text)
    if match is None:
        element = _ELEMENT.match(first.text)
        if element and any(isinstance(p, Literal) and p.text.startswith("]=") for p in parts[1:]):
            walker.expander.word(parts)
            return element[1], UNKNOWN
        return None
    name, index, more = match.groups()
    old = walker.expander.value(name)
    if len(parts) > 1 and isinstance(parts[1], Array):
        value = walker.expander.elements(parts[1])
        return name, (*old, *value) if more and old is not UNKNOWN else UNKNOWN if more else value
    text = first.text[match.end() :]
    word = walker.expander.word(((Literal(text, False, text),) if text else ()) + parts[1:], assignment=True)
    if more:
        if any(not w.known for w in (*old[:1], word)) or len(old) > 1:
            return name, UNKNOWN
        word = Word((old[0].text if old else "") + word.text, quoted=old[0].quoted if old else word.quoted)
    if index:
        return name, _element(walker, name, index, word)
    if name in _PROMPTS and (not word.known or _RUNS.search(word.text) or name == "PROMPT_COMMAND"):
        walker.budget.tell(f"the shell runs the value of `{name}`, which is set")
    if name == "PATH" and not word.known:
        return name, (word,)
    return name, (word,) if word.known and len(word.text) <= _most(walker, word) else UNKNOWN


def _most(walker: Walker, word: Word) -> int:
    if len(word.text) > MAX_VALUE:
        walker.budget.tell(f"a variable has more than {MAX_VALUE:,} characters")
    return MAX_VALUE


def _element(walker: Walker, name: str, index: str, word: Word) -> Value:
    """An array after one of its elements was set."""
    old = walker.way.state.variables.get(name, UNKNOWN)
    at = walker.expander.evaluate(index[1:-1])
    if old is UNKNOWN or at is None or not 0 <= at <= len(old):
        return UNKNOWN
    return (*old[:at], word, *old[at + 1 :])


def _keep(walker: Walker, assignments: list[tuple[str, Value]]) -> None:
    """Assignments that stay, as no program follows."""
    for name, value in assignments:
        walker.expander.assign(name, value)


def _assigned(walker: Walker, assignments: list[tuple[str, Value]]) -> Outcome:
    """A command that is nothing but assignments: it fails only with a substitution in it."""
    _keep(walker, assignments)
    if walker.last is None:
        return {OK: Way(walker.way.facts, walker.expander.state)}
    return {end: way._replace(state=walker.expander.state, likely=True) for end, way in walker.last.items()}


def _words(walker: Walker, tokens: list[Token]) -> tuple[list[Word], tuple[Redirect, ...]]:
    """The words and redirections of a command."""
    words: list[Word] = []
    redirects: list[Redirect] = []
    test = False
    declares = False
    for token in tokens:
        if isinstance(token, RedirectToken):
            redirects.append(redirect(walker, token))
        elif len(token.parts) == 1 and isinstance(token.parts[0], Arithmetic) and token.parts[0].source[0] == "(":
            walker.expander.number(token.parts[0].inner)
            words += [Word("(("), Word(source(token.parts[0].inner), quoted=True), Word("))")]
        elif test:
            words.append(walker.expander.word(token.parts))
        elif declares and (assigned := _assignment(walker, token.parts)):
            words.append(_declared(token.parts, assigned))
            walker.expander.assign(*assigned)
        else:
            first = not words
            words += walker.expander.words(token.parts)
            if first and len(words) == 1 and not words[0].quoted:
                test = words[0].text == "[["
                declares = words[0].text in builtins.DECLARING
    return words, tuple(redirects)


def _declared(parts: Parts, assigned: tuple[str, Value]) -> Word:
    """The word ``A=b`` of an `export`."""
    name, value = assigned
    if len(value) == 1 and value[0].known:
        return Word(f"{name}={value[0].text}", quoted=value[0].quoted)
    return Word(source(parts), known=False)


def redirect(walker: Walker, token: RedirectToken) -> Redirect:
    if token.op in ("<<", "<<-", "<<<"):
        word = walker.expander.word(token.target)
        return Redirect(token.op, None, word, token.fd)
    words = walker.expander.words(token.target)
    if len(token.target) == 1 and isinstance(token.target[0], Substitution) and token.target[0].direction:
        return Redirect(f"{token.target[0].direction}(", None, None, token.fd)
    target = words[0] if len(words) == 1 else Word(source(token.target), known=False)
    return Redirect(token.op, target, None, token.fd)


def _inlined(
    walker: Walker, words: list[Word], redirects: tuple[Redirect, ...], node: Simple, way: Way
) -> Outcome | None:
    """What comes of a call of a function or of `eval`; None where it is neither, or its text is not known."""
    name = words[0].text
    body = way.state.functions.get(name)
    evaluated = name == "eval" and len(words) > 1 and all(word.known for word in words)
    if body is None and not evaluated:
        return None
    if walker.calls >= MAX_CALLS:
        walker.budget.tell(f"`{name[:50]}` is not followed more than {MAX_CALLS} calls deep")
        return None
    line = node.lexed.line_of(node.start)
    walker.calls += 1
    if body is not None:
        walker.locals.append(set())
        inside = way._replace(state=replace(way.state, arguments=tuple(words[1:])))
        outcome = walker.walk(walker.parsed(body, line), inside)
        outcome = _returned(outcome, way.state, walker.locals.pop())
    else:
        text = " ".join(word.text for word in words[1:])
        outcome = walker.walk(walker.parsed(text, line), way)
    walker.calls -= 1
    if redirects:
        bit = 1 << walker.draft((), (), redirects, node.lexed, node.start, node.end, way.state)
        outcome = {end: w._replace(facts=w.facts | Facts(bit)) for end, w in outcome.items()}
    return outcome


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
