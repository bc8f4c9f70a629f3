"""What the kernel is given and what it answers: plain data, which can be stored, hashed and sent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal, TypeAlias

from vigil_lang.base.node import Plain
from vigil_lang.gate.decide.conditions import Asked, compiled, every
from vigil_lang.semantics.core import Condition
from vigil_lang.trace import Event

Mode: TypeAlias = Literal["pass", "hold", "block"]
"""What becomes of an action, from the weakest to the strongest."""

Asks: TypeAlias = Literal["pass", "warn", "hold", "block"]
"""What a reason asks for; `warn` and `pass` stand in nothing's way."""

Layer: TypeAlias = Literal["organisation", "default", "personal"]
"""Whose a rule is: nothing lowers what the organisation asks for; `default` ships with Vigil."""

Who: TypeAlias = Literal["user", "organisation"]
"""Who may confirm: the user herself, or somebody whom the organisation names."""


class Rule(Plain, frozen=True):
    """`rule NAME when CONDITION then ASKS record … relaxes …` of a layer.

    `record` has the names of arguments and `context.` fields; `relaxes` the names of rules and statements of the
    default layer; `at` says where it is written, `FILE:LINE:COLUMN`. An organisation's hold that is `delegable` may be
    confirmed by the user.
    """

    name: str
    layer: Layer
    asks: Mode
    condition: Condition
    message: str = ""
    at: str = ""
    record: tuple[str, ...] = ()
    relaxes: tuple[str, ...] = ()
    delegable: bool = False


class Broken(Plain, frozen=True):
    """A statement that the action would violate. `event` is the id of the action's event at fault, None for another."""

    name: str
    layer: Layer
    asks: Literal["warn", "hold", "block"]
    message: str
    at: str = ""
    event: str | None = None
    delegable: bool = False


class Action(Plain, frozen=True):
    """A pending call, as events, and what is known of the moment.

    `context` has the values of the `context.` fields by their full names, but for the tier's. `binding` is the digest
    of this very action, `likeness` that of the kind of call it is; `at` is in POSIX seconds. `faults` say why something
    that is needed to judge it is not known.
    """

    events: tuple[Event, ...]
    context: Mapping[str, tuple[str, ...]]
    binding: str
    likeness: str
    at: int
    broken: tuple[Broken, ...] = ()
    faults: tuple[str, ...] = ()


class Authority(Plain, frozen=True, gc=True, dict=True):
    """What the agent may do unconditionally: where every one of `grants` allows it, or anything where it is `open`.

    `refused` says why the chain counts for nothing, `revoked` what of it was revoked, `exhausted` which limits this
    action would exceed, `stale` that nobody knows whether anything was revoked.
    """

    grants: tuple[Condition, ...] = ()
    open: bool = False
    refused: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    exhausted: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @cached_property
    def allowing(self) -> tuple[Asked, ...]:
        """The grants as functions: made once, where one authority serves the decisions of a run.

        Raises:
            ValueError: a grant has a variable, a pattern that is none, or is nested too deeply.
        """
        return tuple(compiled(grant, every) for grant in self.grants)


class Tier(Plain, frozen=True):
    """The detection tier, 0 to 3; `doubts` say which of its sources is stale or missing."""

    level: int = 0
    doubts: tuple[str, ...] = ()


class Approval(Plain, frozen=True):
    """A confirmed hold. `covers` is the binding of one action or the likeness of a kind of call.

    It lifts those holds that were shown to who confirmed, named `LAYER.NAME` in `reasons`, before `expires` (POSIX
    seconds), and as often as `uses` says.
    """

    hold: str
    covers: str
    reasons: tuple[str, ...]
    by: Who
    expires: int
    uses: int


class Reason(Plain, frozen=True):
    """One thing that speaks to an action. `lifted` names the approval, or the rule, that takes its weight away."""

    kind: Literal["rule", "statement", "authority", "tier", "revocation", "fault"]
    asks: Asks
    name: str
    message: str
    layer: Layer | None = None
    at: str = ""
    who: Who = "user"
    lifted: str | None = None

    @property
    def key(self) -> str:
        """What an approval calls it by."""
        return f"{self.layer or self.kind}.{self.name}"


class Decision(Plain, frozen=True):
    """The mode, every reason with the greatest first, the approvals that it rests on, and what is to be recorded."""

    mode: Mode
    reasons: tuple[Reason, ...] = ()
    approvals: tuple[str, ...] = ()
    record: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def who(self) -> Who:
        """Who may confirm, where it is a hold."""
        open_holds = [each for each in self.reasons if each.asks == "hold" and each.lifted is None]
        return "organisation" if any(each.who == "organisation" for each in open_holds) else "user"
