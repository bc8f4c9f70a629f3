"""Words are cut into parts: what is literal, and what is to be expanded."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from vigil_lang.abstraction.shell.escapes import unescape
from vigil_lang.abstraction.shell.limits import MAX_NESTING, Exceeded
from vigil_lang.abstraction.shell.tokens import Arithmetic, Array, Lexed, Literal, Parameter, Part, Parts, Substitution
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.abstraction.shell.limits import Budget

_NEWLINE = regex("\n")
_LINES = regex(r"(?:[ \t\n]|\\\n)+")
_COMMENT = regex(r"[^\n]*")
_ARRAY = regex(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_PARAMETER = regex(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_PARAMETER_OPERATOR = regex(r":?[-=?+]|##?|%%?|//?|\^\^?|,,?|:|@")

_MAX_INDEX = 1000
"""Characters of an index."""

_PLAIN = {
    "word": regex(r"[^ \t\n;&|<>()\\'\"`$]+"),
    "double": regex(r"[^\\\"`$]+"),
    "text": regex(r"[^\\`$]+"),
    "argument": regex(r"[^\\'\"`$}/]+"),
    "quoted argument": regex(r"[^\\\"`$}/]+"),
    "arithmetic": regex(r"[^\\'\"`$()]+"),
}
_ESCAPED = {"double": '$`"\\', "text": "$`\\", "quoted argument": '$`"\\}/'}


if TYPE_CHECKING:
    Commands = Callable[["WordLexer", int, str, int], Lexed]


class WordLexer:
    """The text and what does not change while it is read."""

    def __init__(self, text: str, budget: Budget, line: int, commands: Commands) -> None:
        self.text = text
        self.budget = budget
        self.line = line
        self.read = commands
        """Cuts up commands from a position to what closes them."""
        self.breaks = [match.start() for match in _NEWLINE.finditer(text)]
        self.known: dict[tuple[int, bool, str], tuple[Part, int]] = {}
        """Substitutions by where they start: what turns out not to be arithmetic is read again, and all in it."""

    def within(self, text: str, line: int) -> WordLexer:
        """The same for a text in this one."""
        return WordLexer(text, self.budget, line, self.read)

    def unfinished(self, what: str, position: int) -> None:
        self.budget.refuse(f"line {self.line_of(position)}: {what} is not closed")

    def line_of(self, position: int) -> int:
        return self.line + bisect_left(self.breaks, position)

    def deeper(self, depth: int) -> int:
        if depth >= MAX_NESTING:
            raise Exceeded(f"nested more than {MAX_NESTING} deep")
        return depth + 1

    def commands(self, start: int, closer: str, depth: int) -> Lexed:
        """Everything up to `closer`, a parenthesis that is not opened in it, or the end of the text."""
        return self.read(self, start, closer, self.deeper(depth))

    def parts(self, pos: int, mode: str, depth: int) -> tuple[Parts, int]:
        """The parts from a position to where the mode ends, and that position (of the character that ends it)."""
        text, plain = self.text, _PLAIN[mode]
        quoted = mode in ("double", "text")
        found: list[Part] = []
        parentheses = 0
        while pos < len(text):
            run = plain.match(text, pos)
            if run:
                found.append(Literal(run[0], quoted, run[0]))
                pos = run.end()
                continue
            char = text[pos]
            if char == "\\":
                part, pos = self.backslash(pos, mode)
                if part:
                    found.append(part)
            elif char == "$" or char == "`":
                part, pos = self.dollar(pos, mode, quoted, depth)
                found.append(part)
            elif char == "'" and mode in ("word", "argument", "arithmetic"):
                part, pos = self.single(pos)
                found.append(part)
            elif char == '"' and mode != "double":
                inner, end = self.double(pos, depth)
                found.extend(inner)
                pos = end
            elif mode == "arithmetic":
                parentheses += 1 if char == "(" else -1
                if parentheses < 0:
                    break
                self.deeper(parentheses)
                found.append(Literal(char, False, char))
                pos += 1
            elif mode == "word" and char in "<>" and text.startswith("(", pos + 1):
                part, pos = self.substitution(pos, pos + 2, False, depth, char)
                found.append(part)
            elif mode == "word" and char == "(" and len(found) == 1 and _ARRAY.fullmatch(found[0].source):
                part, pos = self.array(pos, depth)
                found.append(part)
            else:
                break
        self.budget.token(1 + len(found))
        return tuple(found), pos

    def backslash(self, pos: int, mode: str) -> tuple[Part | None, int]:
        following = self.text[pos + 1 : pos + 2]
        if following == "\n":
            return None, pos + 2
        if not following:
            return Literal("\\", True, "\\"), pos + 1
        text = following if following in _ESCAPED.get(mode, following) else "\\" + following
        return Literal("\\" + following, True, text), pos + 2

    def single(self, pos: int) -> tuple[Part, int]:
        end = self.text.find("'", pos + 1)
        if end < 0:
            self.unfinished("a quote", pos)
            end = len(self.text)
        return Literal(self.text[pos : end + 1], True, self.text[pos + 1 : end]), end + 1

    def double(self, pos: int, depth: int) -> tuple[list[Part], int]:
        found, end = self.parts(pos + 1, "double", self.deeper(depth))
        if end >= len(self.text):
            self.unfinished("a quote", pos)
        return [Literal("", True, ""), *found], end + 1

    def dollar(self, pos: int, mode: str, quoted: bool, depth: int) -> tuple[Part, int]:
        text = self.text
        following = text[pos + 1 : pos + 2]
        if text[pos] == "`" or following == "(":
            key = (pos, quoted, mode)
            if key not in self.known:
                self.known[key] = self.commanded(pos, mode, quoted, depth)
            return self.known[key]
        if following == "{":
            return self.braces(pos, mode, quoted, depth)
        if following == "'" and mode in ("word", "argument"):
            end = pos + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                self.unfinished("a quote", pos)
            return Literal(text[pos : end + 1], True, unescape(text[pos + 2 : end])), end + 1
        if following == '"' and mode in ("word", "argument"):
            return Literal("", True, ""), pos + 1  # a translated string: the double quotes come next
        name = _PARAMETER.match(text, pos + 1)
        if not name:
            return Literal("$", True, "$"), pos + 1
        end = pos + 2 if following.isdigit() else name.end()
        return Parameter(text[pos:end], quoted, text[pos + 1 : end]), end

    def commanded(self, pos: int, mode: str, quoted: bool, depth: int) -> tuple[Part, int]:
        text = self.text
        if text[pos] == "`":
            return self.backticks(pos, mode, quoted, depth)
        if text.startswith("(", pos + 2):
            arithmetic = self.arithmetic(pos + 3, depth)
            if arithmetic:
                inner, end = arithmetic
                return Arithmetic(text[pos:end], quoted, inner), end
        return self.substitution(pos, pos + 2, quoted, depth)

    def backticks(self, pos: int, mode: str, quoted: bool, depth: int) -> tuple[Part, int]:
        text = self.text
        end = pos + 1
        while end < len(text) and text[end] != "`":
            end += 2 if text[end] == "\\" else 1
        if end >= len(text):
            self.unfinished("a backtick", pos)
        escaped = '\\\\([$`\\\\"])' if mode == "double" else "\\\\([$`\\\\])"
        inner = re.sub(escaped, r"\1", text[pos + 1 : end])
        self.budget.lex(len(inner))
        lexed = self.within(inner, self.line_of(pos)).commands(0, "", depth)
        return Substitution(text[pos : end + 1], quoted, lexed), end + 1

    def substitution(self, pos: int, start: int, quoted: bool, depth: int, direction: str = "") -> tuple[Part, int]:
        inner = self.commands(start, ")", depth)
        if inner.end >= len(self.text):
            self.unfinished(f"`{direction or '$'}(`", pos)
        return Substitution(self.text[pos : inner.end + 1], quoted, inner, direction), inner.end + 1

    def arithmetic(self, start: int, depth: int) -> tuple[Parts, int] | None:
        """The inside of ``((…))`` from after the parentheses, and the position after it; None where it is none."""
        told = dict(self.budget.trouble), self.budget.malformed
        inner, end = self.parts(start, "arithmetic", self.deeper(depth))
        if self.text.startswith("))", end):
            return inner, end + 2
        self.budget.trouble, self.budget.malformed = told
        return None

    def braces(self, pos: int, mode: str, quoted: bool, depth: int) -> tuple[Part, int]:
        """``${…}``."""
        text, depth = self.text, self.deeper(depth)
        start = pos + 2
        prefix = ""
        if text[start : start + 1] in ("#", "!") and _PARAMETER.match(text, start + 1):
            prefix = text[start]
            start += 1
        name = _PARAMETER.match(text, start)
        end = name.end() if name else start
        subscript: Parts | None = None
        if name and text.startswith("[", end):
            close = text.find("]", end, end + _MAX_INDEX)
            if close > 0:
                subscript = self.within(text[end + 1 : close], self.line).parts(0, "text", depth)[0]
                end = close + 1
        operator = _PARAMETER_OPERATOR.match(text, end)
        argument = "quoted argument" if quoted or mode == "quoted argument" else "argument"
        first: Parts = ()
        second: Parts | None = None
        at = operator.end() if operator else end
        slash = bool(operator) and text[end] == "/"
        while at < len(text) and text[at] != "}":
            more, at = self.parts(at, argument, depth)
            if second is None:
                first += more
            else:
                second += more
            if text.startswith("/", at):
                if slash and second is None:
                    second = ()
                elif second is None:
                    first += (Literal("/", False, "/"),)
                else:
                    second += (Literal("/", False, "/"),)
                at += 1
        if at >= len(text):
            self.unfinished("`${`", pos)
        source = text[pos : at + 1]
        if not name or (not operator and first):
            return Parameter(source, quoted, "", prefix), at + 1
        return Parameter(
            source, quoted, name[0], prefix, subscript, operator[0] if operator else "", first, second
        ), at + 1

    def array(self, pos: int, depth: int) -> tuple[Part, int]:
        depth = self.deeper(depth)
        items: list[Parts] = []
        at = pos + 1
        while at < len(self.text) and self.text[at] != ")":
            blank = _LINES.match(self.text, at)
            if blank:
                at = blank.end()
            elif self.text[at] == "#":
                at = _COMMENT.match(self.text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            else:
                item, end = self.parts(at, "word", depth)
                if item:
                    items.append(item)
                at = max(end, at + 1)
        if at >= len(self.text):
            self.unfinished("`(`", pos)
        return Array(self.text[pos : at + 1], False, tuple(items)), at + 1
