"""What can be asked for at a place of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from vigil_lsp.completing.constraints import Names

Role: TypeAlias = Literal[
    "item", "annotation", "annotation value", "module", "imported", "declared", "value", "form", "type", "bound",
    "condition", "field", "term", "action", "action glob", "status", "operand", "set", "element", "member", "glob",
    "number", "contained", "operator", "view", "variable", "window", "limit",
    "clause", "setting", "recording", "event", "event argument", "event value",
    "recorded", "relaxed", "violated",
    "kind", "moment", "param value", "expected", "verdict", "offender", "binding", "binding value", "none",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """What is asked for. `subject` is what it belongs to: the argument that is tested (empty for `output`), the
    annotation, the module, the pattern or action that is called, the type of a param, the param that is set, or the
    name of the set whose `member` it is.

    `actions` are the names that the event at hand can have by what stands beside the place (None: any); `used` what
    is said already; `index` counts terms; `temporal`, it is in the body of `always`; `without_events`, in
    `where` or among the tests of an entry; `about_action`, what is tested is the action's name. `within` is the item
    whose condition it is in; elsewhere, and in a pattern, which both may apply, empty.
    """

    role: Role
    subject: str = ""
    actions: Names = None
    used: frozenset[str] = frozenset()
    index: int = 0
    temporal: bool = False
    without_events: bool = False
    about_action: bool = False
    within: Literal["", "statement", "rule"] = ""
