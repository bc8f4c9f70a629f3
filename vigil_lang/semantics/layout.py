"""Which items of a module rest on which others, and which of them are as they were in an earlier text.

What an item means rests on its own text, on that of what it names (through what that names in turn), and on what is
the same for the whole module: the values of params, and the modules it uses. Where all of that is as it was, so is the
meaning, however far the text has moved.
"""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax import tree

_WORD = re.compile(r"\w+(?:[.-]\w+)*")
_PART = re.compile(r"\w+")


class Place(NamedTuple):
    """An item by its type, its text with what stands between it and its neighbours, and where it begins."""

    kind: type
    text: str
    start: int
    end: int
    """Where its text ends."""


class Layout:
    """The items of one text of a module, by their names."""

    def __init__(self, module: Module) -> None:
        self.used: tuple[Source, ...] = tuple([one.source for one in _used(module)])
        """The modules that it uses, through others too."""
        self.places: dict[str, Place] = {}
        self._imported = {name: found.source.path for name, (found, _, _) in module.imported.items()}
        named: dict[str, tree.Item] = {**module.judged, **module.own}
        self._names = {id(item): name for name, item in named.items()}
        items, text = module.file.items, module.source.text
        start = 0
        for at, item in enumerate(items):
            end = items[at + 1].span.start if at + 1 < len(items) else len(text)
            if (name := self._names.get(id(item))) is not None:
                self.places[name] = Place(type(item), text[start:end], item.span.start, end)
            start = item.span.end

    def name(self, item: tree.Item) -> str | None:
        """The name that an item of the text goes by; None where it took another's, or has none."""
        return self._names.get(id(item))

    def changed(self, since: Layout) -> frozenset[str] | None:
        """The names that may mean something else than in an earlier text of the module; None where all may.

        Names that only one of the texts has are among them.
        """
        if self.used != since.used:
            return None
        before, now = since.places, self.places
        changed = {
            name
            for name, place in now.items()
            if (old := before.get(name)) is None or old.text != place.text or old.kind is not place.kind
        }
        changed.update(before.keys() - now.keys(), dict(self._imported.items() ^ since._imported.items()))
        waiting = dict(now) if changed else {}
        found = set(changed)
        while found:
            found = {name for name, place in waiting.items() if not found.isdisjoint(words(place.text))} - changed
            changed |= found
        return frozenset(changed)

    def reached(self, name: str) -> set[str]:
        """The names of what an item rests on, its own among them."""
        seen, waiting = {name}, [name]
        while waiting:
            for word in words(self.places[waiting.pop()].text):
                if word in self.places and word not in seen:
                    seen.add(word)
                    waiting.append(word)
        return seen


_known: WeakKeyDictionary[Module, Layout] = WeakKeyDictionary()


def layout_of(module: Module) -> Layout:
    """The layout of a module, worked out once: what its items mean is asked first, then what is found in them."""
    found = _known.get(module)
    if found is None:
        found = _known[module] = Layout(module)
    return found


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """Everything in a text that may be a name, parts of longer words included."""
    return frozenset(map(intern, (*_WORD.findall(text), *_PART.findall(text))))


def _used(module: Module) -> list[Module]:
    found = [module]
    for one in found:
        found += [used for _, used in one.uses if all(used is not other for other in found)]
    return found[1:]
