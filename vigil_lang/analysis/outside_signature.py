"""Events that no tool definition lists: what is derived from a call (kinds, programs), and messages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.trace import Signature


def may_be_derived(name: str, signature: Signature) -> bool:
    """Whether an event may have a name that a declared signature does not list; in runs all names are seen."""
    return signature.origin == "declared" and _is_known(name)


@lru_cache(maxsize=4096)
def _is_known(name: str) -> bool:
    if name in vocabulary().kinds:
        return True
    from vigil_lang.abstraction.catalogue.load import program  # late: most names are those of tools

    return program(name) is not None
