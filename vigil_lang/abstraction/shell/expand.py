"""Words as they are after expansion: parameters, arithmetic, braces, splitting and the removal of quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from vigil_lang.abstraction.shell import arithmetic, glob
from vigil_lang.abstraction.shell.braces import TooMany, brace_expand
from vigil_lang.abstraction.shell.limits import MAX_VALUE, MAX_WORDS
from vigil_lang.abstraction.shell.state import UNKNOWN
from vigil_lang.abstraction.shell.tokens import Arithmetic, Array, Literal, Parameter, Substitution
from vigil_lang.abstraction.step import Word
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.abstraction.shell.limits import Budget
    from vigil_lang.abstraction.shell.state import ShellState, Value
    from vigil_lang.abstraction.shell.tokens import Part, Parts

_BLANKS = regex(r"[ \t\n]+")
_DEFAULT_IFS = " \t\n"
_NEVER_KNOWN = frozenset({"?", "$", "!", "-", "0", "_", "RANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS"})


class Piece(NamedTuple):
    """Part of a word on its way. `text` of an unknown one is how it is written."""

    text: str
    quoted: bool
    known: bool = True
    home: bool = False
    """It is, or begins with, the home directory's path."""
    glob: bool = False
    """It stands for file names even in quotes: the variable of a loop over them."""
    split: bool = False
    """It is split at blanks, and vanishes where it is empty."""


BREAK = Piece("", False)
"""Here one word ends and another begins: between the elements of ``"$@"``. Known by its identity."""


class Expander:
    """Expands words in the shell of `state`, which expansions such as ``${A:=x}`` change."""

    def __init__(self, state: ShellState, budget: Budget, run: Callable[[Substitution], str | None]) -> None:
        self.state = state
        self.budget = budget
        self.run = run
        """Goes through the commands of a substitution; gives its text where that is known."""

    # -- state

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        self.state = replace(self.state, variables={**self.state.variables, name: value})

    def value(self, name: str) -> Value:
        """A variable's or parameter's value; no words where it is known to be unset."""
        state = self.state
        if name in _NEVER_KNOWN:
            return UNKNOWN
        if name == "PWD":
            return UNKNOWN if state.cwd is None or not state.cwd.startswith(("/", "~")) else (Word(state.cwd),)
        if name == "OLDPWD":
            return UNKNOWN if state.previous is None else (Word(state.previous),)
        if name.isdigit() or name in "@*#":
            arguments = state.arguments
            if arguments is None:
                return UNKNOWN
            if name == "#":
                return (Word(str(len(arguments))),)
            return arguments if name in "@*" else arguments[int(name[:9]) - 1 : int(name[:9])]
        value = state.variables.get(name)
        if value is None:
            return (Word("~"),) if name == "HOME" else UNKNOWN
        return value

    # -- words

    def words(self, parts: Parts) -> list[Word]:
        """The words that one written word becomes: none, one or many."""
        first = parts[0] if len(parts) == 1 else None
        if isinstance(first, Literal) and not first.quoted and "{" not in first.text and first.text[0] != "~":
            if self.budget.spend(len(first.text)):
                return [Word(first.text, glob=glob.is_glob(first.text))]
            return [Word(first.text, known=False)]
        try:
            alternatives = brace_expand(parts, min(self.budget.words, MAX_WORDS))
        except TooMany:
            self.budget.tell(f"braces make more than {MAX_WORDS:,} words")
            return [Word(source(parts), known=False)]
        if len(alternatives) > 1:
            self.budget.words -= len(alternatives)
        found: list[Word] = []
        for alternative in alternatives:
            found += self.fields(self.pieces(alternative, False), alternative)
        return found

    def word(self, parts: Parts, assignment: bool = False) -> Word:
        """The one word it is where nothing is split: the value of an assignment, a here-document, a pattern."""
        pieces = self.pieces(parts, assignment)
        joined = [Piece(" ", True) if piece is BREAK else piece._replace(split=False) for piece in pieces]
        fields = self.fields(joined, parts)
        return fields[0] if fields else Word("")

    def fields(self, pieces: list[Piece], parts: Parts) -> list[Word]:
        """Pieces put together, split where they are to be."""
        if not self.budget.spend(sum(len(piece.text) for piece in pieces)):
            return [Word(source(parts)[:MAX_VALUE], known=False)]
        found: list[Word] = []
        run: list[Piece] = []
        for piece in pieces:
            if piece is BREAK:
                if run:
                    found.append(_joined(run))
                run = []
            elif not piece.split:
                run.append(piece)
            else:
                texts = _BLANKS.split(piece.text)
                for position, text in enumerate(texts):
                    if position and run:
                        found.append(_joined(run))
                        run = []
                    if text:
                        run.append(piece._replace(text=text))
        if run:
            found.append(_joined(run))
        return found

    # -- pieces

    def pieces(self, parts: Parts, assignment: bool) -> list[Piece]:
        """What the parts of a word come to."""
        found: list[Piece] = []
        start = True
        for part in parts:
            if isinstance(part, Literal):
                if start and not part.quoted and part.text.startswith("~") and (part.text != "~" or len(parts) == 1):
                    found.append(self.tilde(part.text))
                else:
                    found.append(Piece(part.text, part.quoted))
                start = assignment and not part.quoted and part.text.endswith(":")
                continue
            start = False
            if isinstance(part, Parameter):
                found += self.parameter(part)
            elif isinstance(part, Substitution):
                text = self.run(part)
                if text is None or (not part.quoted and "IFS" in self.state.variables):
                    found.append(Piece(part.source, part.quoted, known=False))
                else:
                    found.append(Piece(text, part.quoted, split=not part.quoted))
            elif isinstance(part, Arithmetic):
                value = self.number(part.inner)
                known = value is not None
                found.append(Piece(str(value) if known else part.source, part.quoted, known=known))
            else:
                found.append(Piece(part.source, True, known=False))  # an array where none can be
        return found

    def tilde(self, text: str) -> Piece:
        if re.match(r"~[+-](?:/|$)", text):
            where = self.state.cwd if text[1] == "+" else self.state.previous
            return Piece((where or text[:2]) + text[2:], False, known=where is not None)
        if re.match(r"~[+-]?[0-9]", text):  # a place among those of `pushd`
            return Piece(text, False, known=False)
        home = self.state.variables.get("HOME", ())
        if home and re.match(r"~(?:/|$)", text):
            return Piece(home[0].text + text[1:] if home[0].known else text, False, home[0].known, not home[0].quoted)
        return Piece(text, False, home=True)

    def number(self, parts: Parts) -> int | None:
        """The value of an arithmetic expression, None where it is not known. Its assignments are carried out."""
        word = self.word(parts)
        if word.known:
            if "$(" in word.text or "`" in word.text:
                self.budget.tell("an index in an expression may run commands")
            try:
                value, changed = arithmetic.evaluate(word.text, self.integer)
            except arithmetic.Unknown:
                pass
            else:
                for name, number in changed.items():
                    self.assign(name, (Word(str(number)),))
                return value
        for name in arithmetic.assigned(word.text):
            self.assign(name, UNKNOWN)
        return None

    def evaluate(self, text: str) -> int | None:
        """The value of an expression that is a text already."""
        return self.number((Literal(text, True, text),))

    def integer(self, name: str) -> int | None:
        """The number a variable holds: 0 where it is unset or empty, None where that is not known or no number."""
        value = self.value(name)
        if not value:
            return 0
        text = value[0].text.strip()
        if value[0].known and ("$(" in text or "`" in text):
            self.budget.tell(f"`{name[:50]}` may run commands in arithmetic")
        if not value[0].known or not re.fullmatch(r"-?(?:0|[1-9][0-9]{0,18})|", text):
            return None
        return int(text or 0)

    # -- parameters

    def parameter(self, part: Parameter) -> list[Piece]:
        unknown = [Piece(part.source, part.quoted, known=False)]
        if not part.name or part.prefix == "!":
            self.visit(part)
            return unknown
        value = self.value(part.name)
        whole = part.name in ("@", "*") or (part.subscript is not None and source(part.subscript) in ("@", "*"))
        joined = part.name == "*" or (part.subscript is not None and source(part.subscript) == "*")
        if not whole and part.subscript is not None:
            at = self.number(part.subscript)
            value = UNKNOWN if at is None or value is UNKNOWN else value[at : at + 1] if at >= 0 else value[at:][:1]
        elif not whole:
            value = value[:1]
        if part.prefix == "#":
            if value is UNKNOWN or (not whole and value and not value[0].known):
                return unknown
            length = len(value) if whole else sum(len(word.text) for word in value)
            return [Piece(str(length), part.quoted)]
        if part.operator.lstrip(":") in ("-", "=", "+", "?") and part.operator != ":":
            chosen = self.alternative(part, value)
            if chosen is not None:
                return chosen
        elif part.operator:
            if part.operator[0] == "@" and "P" in part.operator + source(part.first):
                self.budget.tell("a value is expanded again, as in a prompt")
            changed = self.changed(part, value, whole)
            if changed is None:
                self.visit(part)
                return unknown
            value = changed
        return self.values(part, value, whole, joined)

    def values(self, part: Parameter, value: Value, whole: bool, joined: bool) -> list[Piece]:
        """A value as pieces: of several words each its own, unless they are joined."""
        if "IFS" in self.state.variables and (not part.quoted or joined):
            return [Piece(part.source, part.quoted, known=False)]
        pieces: list[Piece] = []
        if part.quoted and not whole and not value:
            return [Piece("", True)]
        for position, word in enumerate(value):
            if position:
                pieces.append(Piece(" ", True) if joined and part.quoted else BREAK)
            text = word.text if word.known else part.source
            home = word.known and not word.quoted and text.startswith("~")
            split = word.known and not part.quoted and not word.glob
            quoted = part.quoted or (word.known and not home and text.startswith("~"))
            pieces.append(Piece(text, quoted, word.known, home, word.glob, split))
        return pieces

    def alternative(self, part: Parameter, value: Value) -> list[Piece] | None:
        """``${A:-x}``, ``${A:=x}``, ``${A:+x}``, ``${A:?x}``; None where the value itself is taken."""
        unknown = [Piece(part.source, part.quoted, known=False)]
        if value and not value[0].known:
            self.visit(part)
            if part.operator.endswith("="):
                self.assign(part.name, UNKNOWN)
            return unknown
        missing = not value or (part.operator[0] == ":" and not value[0].text)
        match part.operator[-1]:
            case "-" | "=" if missing:
                pieces = self.pieces(part.first, False)
                if part.operator[-1] == "=":
                    word = self.word(part.first)
                    self.assign(part.name, (word,))
                if part.quoted:
                    return [Piece("", True), *(piece._replace(quoted=True, split=False) for piece in pieces)]
                return [piece if piece.quoted or not piece.known else piece._replace(split=True) for piece in pieces]
            case "+" if missing:
                return [Piece("", True)] if part.quoted else []
            case "+":
                pieces = self.pieces(part.first, False)
                if part.quoted:
                    return [Piece("", True), *(piece._replace(quoted=True, split=False) for piece in pieces)]
                return pieces
            case "?" if missing:
                return unknown
            case _:
                return None

    def changed(self, part: Parameter, value: Value, whole: bool) -> Value | None:
        """A value after ``#``, ``%``, ``/``, ``^``, ``,`` or ``:``; None where it cannot be told."""
        if not all(word.known and not word.glob for word in value):
            return None
        if part.operator == ":":
            return self.slice(part, value, whole)
        pieces = self.pieces(part.first, False)
        if not all(piece.known for piece in pieces) or not self.budget.spend(sum(len(word.text) for word in value)):
            return None
        texts = [(piece.text, piece.quoted) for piece in pieces]
        changed: list[Word] = []
        for word in value:
            text = self.edited(part, word.text, texts)
            if text is None or len(text) > MAX_VALUE:
                return None
            changed.append(Word(text, quoted=word.quoted or (text.startswith("~") and not word.text.startswith("~"))))
        return tuple(changed)

    def edited(self, part: Parameter, text: str, texts: list[tuple[str, bool]]) -> str | None:
        operator = part.operator
        if operator[0] in "^,":
            if texts:
                return None
            changed = text.upper() if operator[0] == "^" else text.lower()
            return changed if len(operator) == 2 else changed[:1] + text[1:]
        anchor = ""
        if operator == "/" and texts and not texts[0][1] and texts[0][0][:1] in ("#", "%"):
            anchor = texts[0][0][0]
            texts = [(texts[0][0][1:], False), *texts[1:]]
        pattern = glob.pattern(texts)
        if pattern is None:
            return None
        if operator[0] == "#":
            return glob.strip_prefix(pattern, text, operator == "##")
        if operator[0] == "%":
            return glob.strip_suffix(pattern, text, operator == "%%")
        if operator[0] != "/":
            return None
        by = self.word(part.second or ())
        if not by.known or (len(by.text) + 1) * (len(text) + 1) > MAX_VALUE * 10:
            return None
        if anchor == "#":
            rest = glob.strip_prefix(pattern, text, True)
            return by.text + rest if len(rest) < len(text) else text
        if anchor == "%":
            rest = glob.strip_suffix(pattern, text, True)
            return rest + by.text if len(rest) < len(text) else text
        if pattern.literal is None and not self.budget.spend(len(text) ** 2 // 8):
            return None  # looking for it everywhere takes so long
        return glob.replace(pattern, text, by.text, operator == "//")

    def slice(self, part: Parameter, value: Value, whole: bool) -> Value | None:
        """``${A:1:2}`` and ``${a[@]:1:2}``."""
        offset, colon, length = source(part.first).partition(":")
        numbers: list[int | None] = []
        for text in (offset, length):
            word = self.word((Literal(text, True, text),))
            if "$" in word.text:
                bare = re.fullmatch(r"\s*\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9])\}?\s*", word.text)
                numbers.append(self.integer(bare[1]) if bare else None)
                continue
            numbers.append(self.evaluate(word.text))
        start, count = numbers
        if start is None or count is None:
            return None
        if whole:
            start -= part.name in ("@", "*")
            if start < 0 or count < 0:
                return None
            return value[start : start + count] if colon else value[start:]
        if not value:
            return value
        text = value[0].text
        if start < 0:
            start += len(text)
            if start < 0:
                return (Word(""),)
        end = len(text) if not colon else start + count if count >= 0 else len(text) + count
        return (Word(text[start:end], quoted=True) if start else Word(text[start:end], quoted=value[0].quoted),)

    def visit(self, part: Parameter) -> None:
        """Go through the substitutions in an operand that is not expanded: they may run."""
        for inner in (*part.first, *(part.second or ())):
            if not isinstance(inner, Literal):
                self.pieces((inner,), False)

    # -- arrays

    def elements(self, array: Array) -> Value:
        """The words of ``(x y [5]=z)``; not known where an index is given."""
        found: list[Word] = []
        for item in array.items:
            if isinstance(item[0], Literal) and not item[0].quoted and item[0].text.startswith("["):
                for each in array.items:
                    self.word(each)  # for what is run in them
                return UNKNOWN
            found += self.words(item)
            if len(found) > MAX_WORDS:
                self.budget.tell(f"an array has more than {MAX_WORDS:,} words")
                return UNKNOWN
        return tuple(found)


def source(parts: Iterable[Part]) -> str:
    """How parts are written, without the double quotes."""
    return "".join(part.source for part in parts)


def _joined(pieces: list[Piece]) -> Word:
    text = "".join(piece.text for piece in pieces)
    first = pieces[1] if not pieces[0].text and len(pieces) > 1 else pieces[0]
    return Word(
        text,
        all(piece.known for piece in pieces),
        any(piece.glob or (not piece.quoted and piece.known and glob.is_glob(piece.text)) for piece in pieces),
        any(piece.quoted for piece in pieces) and not first.home,
    )
