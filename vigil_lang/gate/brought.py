"""Policies that a run brings over the service: their texts, with those of the modules that they use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from vigil_lang.diagnostics import InputError
from vigil_lang.gate.layers import Text, loaded, modules_of, policy_of
from vigil_lang.gate.state import StateError
from vigil_lang.semantics.modules import is_standard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vigil_lang.semantics.policy import Policy

MOST = 32
"""Policies of a run."""
LONGEST = 400_000
"""Characters of their texts together."""

_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class Brought(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy by its text, and the texts of modules by their paths; a standard module by its name alone.

    Paths are those of the machine that brings it. Nothing is read there.
    """

    path: _Path
    text: str | None = None
    modules: dict[_Path, str] = {}


def bring(paths: Iterable[str]) -> tuple[Brought, ...]:
    """The policies of some paths, or names of standard modules, as they are now.

    Raises:
        StateError: one cannot be read, has no meaning, or all together are too long.
    """
    found = []
    for path in dict.fromkeys(paths):
        if is_standard(path):
            found.append(Brought(path))
            continue
        policy = loaded(path, {})
        found.append(Brought(policy.path, policy.module.source.text, modules_of(policy)))
    if (why := _excess(found)) is not None:
        raise StateError(f"the policies of the run are not sent: {why}")
    return tuple(found)


def admitted(brought: Sequence[Brought], params: Mapping[str, object]) -> list[Policy]:
    """Policies that were brought, given those of some params that they declare.

    Raises:
        StateError: something in one has no meaning, or they are too long.
    """
    if (why := _excess(brought)) is not None:
        raise StateError(why)
    found = []
    for each in brought:
        if each.text is None:
            if not is_standard(each.path):
                raise StateError(f"the policy {each.path[:200]} is no standard module, and has no text")
            found.append(loaded(each.path, params))
            continue
        text = Text("personal", each.path, each.text, {}, each.modules)
        try:
            policy = policy_of(text)
            own = {name: value for name, value in params.items() if name in policy.declared}
            found.append(policy_of(msgspec.structs.replace(text, params=own)) if own else policy)
        except InputError as error:
            raise StateError(f"the policy {each.path[:200]} has no meaning: {error.diagnostics[0].message}") from error
        except ValueError as error:
            raise StateError(f"the policy {error}") from error
    return found


def _excess(brought: Sequence[Brought]) -> str | None:
    """Why they are too many or too long; None where they are not."""
    if len(brought) > MOST:
        return f"they are more than {MOST}"
    size = sum(len(each.text or "") + sum(map(len, each.modules.values())) for each in brought)
    return f"their texts have more than {LONGEST:,} characters" if size > LONGEST else None
