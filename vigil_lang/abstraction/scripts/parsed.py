"""Scripts as trees, kept for the next run that has the same script."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.tree import Module

MAX_KEPT = 1_000_000
"""Characters, over all scripts whose trees are kept."""

_kept: OrderedDict[tuple[str, str], Module] = OrderedDict()
_size = [0]
"""Characters of the scripts in `_kept`: counted on the way, as there may be thousands of them."""
_lock = Lock()


def parsed(language: str, text: str) -> Module:
    """The tree of a script; nothing changes a tree, so runs can share it."""
    key = (language, text)
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    found = _translated(language, text)
    with _lock:
        if key not in _kept:
            _size[0] += len(text)
        _kept[key] = found
        while _size[0] > MAX_KEPT:
            (_, oldest), _ = _kept.popitem(last=False)
            _size[0] -= len(oldest)
    return found


def _translated(language: str, text: str) -> Module:
    if language == "python":
        from vigil_lang.abstraction.scripts.python import read_python

        return read_python(text)
    from vigil_lang.abstraction.scripts.javascript import read_javascript

    return read_javascript(text)
