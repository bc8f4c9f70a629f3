"""Changing JSON where it stands: nothing moves but what is put in or taken out, and comments stay.

The hosts that allow comments in their settings also allow a comma after the last member.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 100

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:[^*\r\n]|\*(?!/))*+\*/)")
"""A comment in the rest of a line, about what stands before it."""

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?|true|false|null")


class NotJson(ValueError):
    """A text is not JSON. `at` is the place in it."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(slots=True)
class Node:
    """A value where it stands: `text[start:end]`. Of an object `members` has each key once, in order."""

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, Node] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    opened: int = 0
    """For a member of an object, where its key begins; else where the value does."""
    comma: int | None = None
    """Where the comma after it stands."""


def parse(text: str, *, comments: bool) -> Node:
    """The tree of a text.

    Raises:
        NotJson: it is none, is nested deeper than `MAX_DEPTH`, or an object has a key twice.
    """
    parser = _Parser(text, _SPACE_AND_COMMENTS if comments else _SPACE, comments)
    at = parser.skip(1 if text.startswith("\ufeff") else 0)
    node = parser.read(at, 0)
    if parser.skip(node.end) != len(text):
        raise NotJson("something stands after the value", parser.skip(node.end))
    return node


class _Parser:
    def __init__(self, text: str, space: re.Pattern[str], commas: bool) -> None:
        self._text, self._space, self._commas = text, space, commas

    def skip(self, at: int) -> int:
        found = self._space.match(self._text, at)
        assert found is not None
        return found.end()

    def read(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise NotJson("it is nested too deeply", at)
        if self._text.startswith(("{", "["), at):
            return self._container(at, depth)
        pattern = _STRING if self._text.startswith('"', at) else _SCALAR
        found = pattern.match(self._text, at)
        if found is None:
            raise NotJson("a value is expected" if at < len(self._text) else "it ends too early", at)
        return Node(at, found.end(), self._decoded(found[0], at), opened=at)

    def _decoded(self, text: str, at: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise NotJson("a value cannot be read", at) from None

    def _container(self, start: int, depth: int) -> Node:
        is_object = self._text[start] == "{"
        end = "}" if is_object else "]"
        node = Node(start, opened=start, value={} if is_object else [])
        at, last = self.skip(start + 1), None
        while not self._text.startswith(end, at):
            if last is not None and last.comma is None:
                raise NotJson(f"`,` or `{end}` is expected", at)
            opened = at
            key = None
            if is_object:
                key, at = self._key(at, node)
            child = self.read(at, depth + 1)
            child.opened = opened
            if key is None:
                node.items.append(child)
                node.value.append(child.value)
            else:
                node.members[key] = child
                node.value[key] = child.value
            at = self.skip(child.end)
            if self._text.startswith(",", at):
                child.comma, at = at, self.skip(at + 1)
            last = child
        if last is not None and last.comma is not None and not self._commas:
            raise NotJson("a comma stands after the last value", last.comma)
        node.end = at + 1
        return node

    def _key(self, at: int, node: Node) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise NotJson("a name in quotes is expected", at)
        key = self._decoded(found[0], at)
        if key in node.members:
            raise NotJson(f"`{key[:40]}` is there twice", at)
        at = self.skip(found.end())
        if not self._text.startswith(":", at):
            raise NotJson("`:` is expected", at)
        return key, self.skip(at + 1)


# --- changes ----------------------------------------------------------------------------------------------------------


def with_child(text: str, container: Node, value: object, key: str | None = None) -> str:
    """The text with a value at the end of an array, or under a key at the end of an object."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    outer = _indent(text, container.start)
    children = list(container.members.values()) or container.items
    inner = outer + unit
    if children and "\n" in text[container.start : children[-1].opened]:
        inner = _indent(text, children[-1].opened)
    written = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    written += _written(value, inner, unit, newline)
    if children:
        last = children[-1]
        after = last.end if last.comma is None else last.comma + 1
        beside = _BESIDE.match(text, after)
        at = beside.end() if beside else after
        comma = "," if last.comma is None else ""
        return text[:after] + comma + text[after:at] + newline + inner + written + text[at:]
    at = container.start + 1
    rest = text[at : container.end - 1]
    if rest.strip():  # comments
        at = container.end - 1
        return text[:at].rstrip() + newline + inner + written + newline + outer + text[at:]
    return text[:at] + newline + inner + written + newline + outer + text[container.end - 1 :]


def replaced(text: str, node: Node, value: object) -> str:
    """The text with another value in the place of a node."""
    newline = "\r\n" if "\r\n" in text else "\n"
    written = _written(value, _indent(text, node.opened), _unit(text), newline)
    return text[: node.start] + written + text[node.end :]


def without_child(text: str, container: Node, child: Node) -> str:
    """The text without a value of an array, or a member of an object, and without one comma beside it."""
    children = list(container.members.values()) or container.items
    at = next(index for index, each in enumerate(children) if each is child)
    cuts = [(len(text[: child.opened].rstrip()), child.end)]
    if child.comma is not None:
        cuts.append((child.comma, child.comma + 1))
    elif at and (comma := children[at - 1].comma) is not None:
        cuts.append((comma, comma + 1))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _written(value: object, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _indent(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "
