"""What items that could not be read seem to declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.base.identity import by_identity

if TYPE_CHECKING:
    from vigil_lang.syntax import tree

_DECLARES = re.compile(r"\b[A-Za-z]+\s+(\w+(?:[.-]\w+)*)\s*[=(:]")


@by_identity
def seemingly_declared(file: tree.File) -> frozenset[str]:
    """The names that stand in broken items as those of declarations do."""
    text = file.source.text
    return frozenset(name for span in file.broken for name in _DECLARES.findall(text, span.start, span.end))
