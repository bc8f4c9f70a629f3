"""The rules that ship with the gate, its default layer: what `relaxes` speaks of."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.base.resources import resource
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.semantics.policy import load_module

if TYPE_CHECKING:
    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax import tree

DEFAULT = "default."
"""What may stand before the names of its rules and statements."""

LAYERS = frozenset({"organisation", "default", "personal"})
"""Where rules and statements may come from; a layer's name may stand before theirs."""


@cache
def default_layer() -> tuple[Module, ...]:
    """Its files, read once."""
    paths = sorted(resource("stdlib", "gate").glob("*.vgl"))
    return tuple([load_module(read_source(str(p))).module for p in paths if not is_test_file(p.name)])


def of_default_layer(name: str) -> tuple[Module, tree.Statement | tree.Rule] | None:
    """The rule or statement of the default layer that a name means, with its file."""
    bare = name.removeprefix(DEFAULT)
    return next(((module, module.judged[bare]) for module in default_layer() if bare in module.judged), None)
