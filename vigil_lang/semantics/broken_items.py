"""What items that could not be read seem to declare."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.syntax import tree

_DECLARES = re.compile(r"\b[A-Za-z]+\s+(\w+(?:[.-]\w+)*)\s*[=(:]")


_IMPORTS = re.compile(r"^\s*(?:use|import|include|from|require|load)\b", re.MULTILINE)


def may_import(file: tree.File) -> bool:
    """Whether a broken item seems to take names from another file: which ones, nobody can tell."""
    return any(_IMPORTS.search(file.source.text[span.start : span.end]) for span in file.broken)


def seemingly_declared(file: tree.File) -> frozenset[str]:
    """The names that stand in broken items as those of declarations do."""
    return _declared_in(tuple([file.source.text[span.start : span.end] for span in file.broken]))


@lru_cache(maxsize=64)
def _declared_in(items: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for text in items for name in _DECLARES.findall(text))
