"""What can be chosen of a draft: values of options, which the help of a verb shows without msgspec."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
"""How much effort the model makes."""
EFFORTS: tuple[Effort, ...] = get_args(Effort)

Taken: TypeAlias = Literal["step", "shown", "language", "advice", "condition", "part", "reason", "description"]
"""Why a sentence is no obligation that is to be a clause all the same."""
TAKEN: tuple[Taken, ...] = get_args(Taken)
