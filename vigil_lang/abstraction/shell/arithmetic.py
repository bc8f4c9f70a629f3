"""Arithmetic with whole numbers of 64 bits, as between ``((`` and ``))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = regex(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)(?![#\w])|([A-Za-z_][A-Za-z0-9_]*)(?![\[\w])"
    r"|(<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),]))"
)
_ASSIGNED = regex(r"([A-Za-z_][A-Za-z0-9_]*)\s*(?:[-+*/%&|^]=|<<=|>>=|=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)")
_BINDING = {
    "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9, "<=": 9, ">": 9, ">=": 9,
    "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12, "**": 13,
}  # fmt: skip
_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_MAX_DEPTH = 30
_MAX_TOKENS = 1_000


class Unknown(Exception):
    """The value cannot be told."""


def assigned(text: str) -> list[str]:
    """The names an expression may assign to."""
    return [first or second for first, second in _ASSIGNED.findall(text)]


def evaluate(text: str, get: Callable[[str], int | None]) -> tuple[int, dict[str, int]]:
    """The value of an expression (0 of an empty one), and what it assigns.

    `get` gives the value of a variable, None where that is not known.

    Raises:
        Unknown: it depends on what is not known, or is no expression, or too long.
    """
    tokens: list[str] = []
    pos = 0
    text = text.rstrip()
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if not match or len(tokens) > _MAX_TOKENS:
            raise Unknown
        tokens.append(match[1] or match[2] or match[3])
        pos = match.end()
    if not tokens:
        return 0, {}
    evaluation = _Evaluation(tokens, get)
    value = evaluation.comma(0)
    if evaluation.pos < len(tokens):
        raise Unknown
    return value, evaluation.set


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class _Evaluation:
    def __init__(self, tokens: list[str], get: Callable[[str], int | None]) -> None:
        self.tokens = tokens
        self.get = get
        self.set: dict[str, int] = {}
        self.pos = 0

    def peek(self) -> str:
        return self.tokens[self.pos] if self.pos < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.pos += 1
        return token

    def variable(self, name: str) -> int:
        value = self.set.get(name)
        if value is None:
            value = self.get(name)
        if value is None:
            raise Unknown
        return value

    def comma(self, depth: int) -> int:
        value = self.assignment(depth)
        while self.peek() == ",":
            self.pos += 1
            value = self.assignment(depth)
        return value

    def assignment(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise Unknown
        name = self.peek()
        operator = self.tokens[self.pos + 1] if self.pos + 1 < len(self.tokens) else ""
        if operator in _ASSIGNING and name[:1].isidentifier():
            self.pos += 2
            value = self.assignment(depth + 1)
            if operator != "=":
                value = self.apply(operator[:-1], self.variable(name), value)
            self.set[name] = value
            return value
        return self.ternary(depth)

    def ternary(self, depth: int) -> int:
        value = self.binary(0, depth)
        if self.peek() != "?":
            return value
        if {"++", "--"} & set(self.tokens) or _ASSIGNING & set(self.tokens):
            raise Unknown  # only one of the two is carried out
        self.pos += 1
        first = self.assignment(depth + 1)
        if self.next() != ":":
            raise Unknown
        second = self.assignment(depth + 1)
        return first if value else second

    def binary(self, least: int, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise Unknown
        value = self.unary(depth)
        while (binding := _BINDING.get(self.peek(), -1)) > least:
            operator = self.next()
            if operator in ("&&", "||") and ({"++", "--"} & set(self.tokens) or _ASSIGNING & set(self.tokens)):
                raise Unknown
            right = self.binary(binding - (operator == "**"), depth + 1)
            value = self.apply(operator, value, right)
        return value

    def unary(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise Unknown
        token = self.next()
        match token:
            case "-":
                return _wrap(-self.unary(depth + 1))
            case "+":
                return self.unary(depth + 1)
            case "!":
                return int(not self.unary(depth + 1))
            case "~":
                return ~self.unary(depth + 1)
            case "++" | "--":
                name = self.next()
                if not name[:1].isidentifier():
                    raise Unknown
                self.set[name] = _wrap(self.variable(name) + (1 if token == "++" else -1))
                return self.set[name]
            case "(":
                value = self.comma(depth + 1)
                if self.next() != ")":
                    raise Unknown
                return value
            case _ if token[:1].isdigit():
                return self.number(token)
            case _ if token[:1].isidentifier():
                value = self.variable(token)
                if self.peek() in ("++", "--"):
                    self.set[token] = _wrap(value + (1 if self.next() == "++" else -1))
                return value
            case _:
                raise Unknown

    def number(self, token: str) -> int:
        if len(token) > 20 or (token[0] == "0" and token.isdigit() and {"8", "9"} & set(token)):
            raise Unknown
        base = 16 if token[:2] in ("0x", "0X") else 8 if token[0] == "0" else 10
        return _wrap(int(token, base))

    def apply(self, operator: str, left: int, right: int) -> int:
        match operator:
            case "+":
                return _wrap(left + right)
            case "-":
                return _wrap(left - right)
            case "*":
                return _wrap(left * right)
            case "/" | "%" if right:
                quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
                return _wrap(quotient if operator == "/" else left - quotient * right)
            case "**" if right >= 0:
                return _wrap(pow(left, right, 1 << 64))
            case "<<" if 0 <= right < 64:
                return _wrap(left << right)
            case ">>" if 0 <= right < 64:
                return left >> right
            case "&":
                return left & right
            case "|":
                return left | right
            case "^":
                return left ^ right
            case "&&":
                return int(bool(left and right))
            case "||":
                return int(bool(left or right))
            case "<" | "<=" | ">" | ">=" | "==" | "!=":
                return int(_COMPARE[operator](left, right))
            case _:
                raise Unknown


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
}
