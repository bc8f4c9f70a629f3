"""Regular expressions that are compiled when they are first asked for.

Python has no form in which compiled expressions are kept: each process compiles its own. A hook needs a few of them,
and `vigil --help` none.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Expression:
    """An expression: whatever is asked of it beside its text is first looked for in vain, and then compiled."""

    __slots__ = (
        "_flags", "findall", "finditer", "flags", "fullmatch", "groupindex", "groups", "match", "pattern", "search",
        "split", "sub", "subn",
    )  # fmt: skip
    _flags: int
    pattern: str | bytes

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in self.__slots__:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for each in self.__slots__:
            if each not in ("_flags", "pattern"):
                setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, compiled at the first use; where it is wrong, that raises `re.error`."""
    return cast("re.Pattern[AnyStr]", _Expression(pattern, flags))
