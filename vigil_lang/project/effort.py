"""How much effort a drafting model makes: the values of `--effort`, which the help of a verb shows without msgspec."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
