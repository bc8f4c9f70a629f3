"""Brace expansion: ``{a,b}`` and ``{1..5}`` make several words of one."""

from __future__ import annotations

import re
from itertools import pairwise

from vigil_lang.abstraction.shell.limits import MAX_EXPANDED, MAX_NESTING
from vigil_lang.abstraction.shell.tokens import Literal, Parameter, Part, Parts
from vigil_lang.patterns import regex

_NUMBERS = regex(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})(?:\.\.(-?[0-9]{1,18}))?")
_MORE_NAME = regex(r"[A-Za-z0-9_]+")
_LETTERS = regex(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?[0-9]{1,18}))?")

Atom = str | Part


class TooMany(Exception):
    """There are more words than are allowed, or braces are nested too deeply."""


def brace_expand(parts: Parts, most: int) -> list[Parts]:
    """The words a word stands for, itself where it has no braces that count.

    Raises:
        TooMany: there are more than `most`.
    """
    if not any(type(part) is Literal and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    atoms: list[Atom] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            atoms.extend(part.text)
        else:
            atoms.append(part)
    pairs, commas = _pairs(atoms)
    if not pairs:
        return [parts]
    return [_joined(word) for word in _Expansion(atoms, pairs, commas, most).between(0, len(atoms), 0)]


def _pairs(atoms: list[Atom]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Each opening brace that is closed with its closing one, and the commas right in it."""
    pairs: dict[int, int] = {}
    commas: dict[int, list[int]] = {}
    opened: list[int] = []
    for position, atom in enumerate(atoms):
        if atom == "{":
            opened.append(position)
        elif atom == "}" and opened:
            pairs[opened.pop()] = position
        elif atom == "," and opened:
            commas.setdefault(opened[-1], []).append(position)
    return pairs, commas


def _joined(atoms: tuple[Atom, ...]) -> Parts:
    parts: list[Part] = []
    run: list[str] = []
    for atom in (*atoms, None):
        if isinstance(atom, str):
            run.append(atom)
            continue
        if run:
            text = _renamed(parts, "".join(run))
            parts.append(Literal(text, False, text))
            run = []
        if atom is not None:
            parts.append(atom)
    return tuple(parts)


def _renamed(parts: list[Part], text: str) -> str:
    """Braces come before parameters: in ``$A{b,c}`` the names are ``Ab`` and ``Ac``. The text without them."""
    last = parts[-1] if parts else None
    more = _MORE_NAME.match(text)
    if not isinstance(last, Parameter) or not more or not re.fullmatch(r"\$[A-Za-z_]\w*", last.source, re.ASCII):
        return text
    parts[-1] = last._replace(source=last.source + more[0], name=last.name + more[0])
    return text[more.end() :]


class _Expansion:
    def __init__(self, atoms: list[Atom], pairs: dict[int, int], commas: dict[int, list[int]], most: int) -> None:
        self.atoms = atoms
        self.pairs = pairs
        self.commas = commas
        self.most = most

    def between(self, start: int, end: int, depth: int) -> list[tuple[Atom, ...]]:
        """The words that the atoms in a range stand for."""
        if depth > MAX_NESTING:
            raise TooMany
        words: list[tuple[Atom, ...]] = [()]
        position = begin = start
        while position < end:
            close = self.pairs.get(position)
            choices = self.choices(position, close, depth) if close is not None else None
            if choices is None or close is None:
                position += 1
                continue
            before = tuple(self.atoms[begin:position])
            self.check(words, choices, len(before))
            words = [(*word, *before, *choice) for word in words for choice in choices]
            position = begin = close + 1
        rest = tuple(self.atoms[begin:end])
        self.check(words, [rest], 0)
        return [(*word, *rest) for word in words] if rest else words

    def check(self, words: list[tuple[Atom, ...]], choices: list[tuple[Atom, ...]], before: int) -> None:
        count = len(words) * len(choices)
        length = len(choices) * sum(map(len, words)) + len(words) * sum(map(len, choices)) + count * before
        if count > self.most or length > MAX_EXPANDED:
            raise TooMany

    def choices(self, start: int, close: int, depth: int) -> list[tuple[Atom, ...]] | None:
        """What a pair of braces stands for; None where they are no more than braces."""
        commas = self.commas.get(start)
        if commas:
            edges = [start, *commas, close]
            found: list[tuple[Atom, ...]] = []
            for left, right in pairwise(edges):
                found += self.between(left + 1, right, depth + 1)
                if len(found) > self.most:
                    raise TooMany
            return found
        if close - start > 64 or not all(isinstance(atom, str) for atom in self.atoms[start + 1 : close]):
            return None
        text = "".join(map(str, self.atoms[start + 1 : close]))
        letters = _LETTERS.fullmatch(text)
        if letters:
            codes = self.steps(ord(letters[1]), ord(letters[2]), int(letters[3] or 0))
            return [(chr(code),) for code in codes]
        numbers = _NUMBERS.fullmatch(text)
        if not numbers:
            return None
        ends = numbers[1], numbers[2]
        padded = any(re.match(r"-?0[0-9]", number) for number in ends)
        width = max(map(len, ends)) if padded else 0
        steps = self.steps(int(ends[0]), int(ends[1]), int(numbers[3] or 0))
        return [tuple(f"{value:0{width}d}") for value in steps]

    def steps(self, first: int, last: int, step: int) -> range:
        step = abs(step) or 1
        if abs(last - first) // step >= self.most:
            raise TooMany
        return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
