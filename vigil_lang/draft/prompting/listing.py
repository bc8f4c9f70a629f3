"""Names with their arguments as JSON of a bounded length: what is least useful is left out."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from vigil_lang.diagnostics.visible import safe_json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FREQUENT = 2
"""Arguments that come before the values of roles, of an action that has kinds; of another one, all of them do."""

_SHOWING = 2
"""Values of a role that come before the rare arguments: they show what paths and programs look like."""

_SHORTEST = 4
"""Characters that anything said takes at least, as a value does: more than fit need not be looked at."""


@dataclass(frozen=True, slots=True)
class Carried:
    """An argument, or a role of a kind: some of its values, the most frequent first.

    `label` says what they are: empty for texts, `number` or `bool`, or `one of` if there are no others.
    """

    label: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """A kind, or an action with its kinds. Its arguments come the most frequent first.

    Values of the arguments `under_kinds` are shown with the kinds alone. An `open` action may have other arguments.
    """

    name: str
    events: int
    arguments: Mapping[str, Carried]
    is_action: bool = False
    kinds: tuple[str, ...] = ()
    under_kinds: frozenset[str] = frozenset()
    open: bool = False

    def line(self, shown: Mapping[str, int]) -> str:
        """Its line in the text, with these arguments and so many values of each."""
        arguments = {name: self._argument(name, shown[name]) for name in sorted(shown)}
        if not self.is_action:
            return f"{quoted(self.name)}:{quoted(arguments)}"
        found: dict[str, Any] = {}
        if self.kinds:
            found["kinds"] = self.kinds
        if self.open:
            found["open"] = True
        return f"{quoted(self.name)}:{quoted(found | {'arguments': arguments})}"

    def _argument(self, name: str, count: int) -> Any:
        carried = self.arguments[name]
        if carried.label == "one of":  # half of it would say something else
            return {carried.label: carried.values}
        if name in self.under_kinds:
            return []
        some = sorted(carried.values[:count])
        return {carried.label: some} if carried.label else some

    def counts(self, name: str) -> range:
        """How many values of an argument can be shown beyond none."""
        carried = self.arguments[name]
        return range(1, 1 if carried.label == "one of" or name in self.under_kinds else len(carried.values) + 1)


_Part: TypeAlias = "tuple[Named, str, int]"
"""An argument of a name, with so many values."""


def listed(names: Sequence[Named], most: int) -> tuple[str, int]:
    """The names as JSON of at most so many characters, and how many of them are in it.

    Names come before all that can be said of them: only if they do not fit by themselves are the rare ones left out.
    """
    kept = _fitting(names, most)
    parts = _parts(kept)[: most // _SHORTEST]
    # The longest beginning of the parts whose text fits: the text only grows with them.
    number = bisect_right(range(len(parts) + 1), most, key=lambda n: len(_text(kept, parts[:n]))) - 1
    return _text(kept, parts[:number]), len(kept)


def _fitting(names: Sequence[Named], most: int) -> list[Named]:
    left = most - len(_text((), ()))
    kept = []
    for one in sorted(names, key=lambda one: (-one.events, one.is_action, one.name)):
        size = len(one.line({})) + 2
        if size <= left:
            left -= size
            kept.append(one)
    return sorted(kept, key=lambda one: one.name)


def _parts(names: Iterable[Named]) -> list[_Part]:
    """What can be said of names, the most useful first.

    First the roles of kinds and the arguments that say most of an action, then what shows how values of roles look,
    then rare arguments, then more values.
    """
    found: list[tuple[tuple[int, int, int, str, str], _Part]] = []
    for one in names:
        for place, name in enumerate(one.arguments):
            own = place < _FREQUENT or not one.kinds
            frequent = not one.is_action or (own and name not in one.under_kinds)
            rank = (place, -one.events, one.name, name)
            found.append(((0 if frequent else 2, *rank), (one, name, 0)))
            for count in one.counts(name):
                shows = not one.is_action and count <= _SHOWING
                found.append(((1 if shows else 2 + count, *rank), (one, name, count)))
    return [part for _, part in sorted(found, key=itemgetter(0))]


def _text(names: Iterable[Named], parts: Iterable[_Part]) -> str:
    """The text with these parts of what can be said of the names, in the order of the names."""
    shown: dict[tuple[bool, str], dict[str, int]] = {}
    for one, name, count in parts:
        shown.setdefault((one.is_action, one.name), {})[name] = count
    lines: dict[bool, list[str]] = {False: [], True: []}
    for one in names:
        lines[one.is_action].append(one.line(shown.get((one.is_action, one.name), {})))
    kinds, actions = (",\n".join(lines[is_action]) for is_action in (False, True))
    return "\n".join(('{"kinds":{', kinds, '},"actions":{', actions, "}}"))


# --- data inside a prompt ---


def quoted(value: object) -> str:
    """JSON on one line without `<`, which begins the marks of a prompt, and with invisible characters as escapes.

    It reads back as the same value. Lone surrogates are escaped, too, so that it can be sent as UTF-8.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return safe_json_text(text, "utf-8").replace("<", "\\u003c")


def within(mark: str, text: str) -> str:
    """A text between marks that nothing in it can close, if it is made of `quoted` parts."""
    return f"<{mark}>\n{text}\n</{mark}>"
