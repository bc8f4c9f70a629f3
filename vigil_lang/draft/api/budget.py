"""What a draft may cost: no request is made that could pass the limit."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.draft.api.models import bounding

if TYPE_CHECKING:
    from vigil_lang.draft.api.models import ModelSettings, Prices
    from vigil_lang.draft.clause_result import Usage

LEAST = 1024
"""Output tokens below which a request is not worth making."""


class Exhausted(Exception):
    """Too little of the budget is left for the next request; VGL613 in reports."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """What is set aside for a request: the output tokens it may have, and the most it can cost, in USD."""

    tokens: int
    cost: float = 0.0


@dataclass(slots=True)
class Budget:
    """A limit in USD, None for none, and what is spent and set aside of it. Threads may share it."""

    limit: float | None = None
    prices: Prices | None = None
    spent: float = 0.0
    _aside: list[float] = field(default_factory=list, repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @classmethod
    def of(cls, limit: float | None, settings: ModelSettings) -> Budget:
        """The budget for asking a model.

        Raises:
            InputError: VGL613, the limit is none, or there is a limit and the model's prices are not known.
        """
        if limit is not None and not 0 <= limit < math.inf:  # of NaN, too, which no comparison would ever pass
            message, help_text = f"`{limit:g}` is no limit", "it is an amount in USD, such as 0.50"
            raise InputError([Diagnostic.of("VGL613", message, Source("max-cost", ""), help=help_text)])
        if limit is not None and settings.prices is None:
            message = f"the prices of `{settings.model}` are not known, so no limit can be kept"
            help_text = "set `input-price` and `output-price` of `[draft]`, in USD per million tokens"
            raise InputError([Diagnostic.of("VGL613", message, Source(settings.model, ""), help=help_text)])
        return cls(limit, settings.prices and bounding(settings.model, settings.prices))

    def reserve(self, input_tokens: int, wanted: int) -> Reserved:
        """Set aside what a request can cost at most; to be settled, whatever becomes of the request.

        Where not all `wanted` output tokens are affordable, requests under way are waited for, since they may cost
        less than was set aside; what is affordable then is granted.

        Raises:
            Exhausted: that is less than `LEAST` tokens, and less than wanted.
        """
        if self.limit is None or self.prices is None:
            return Reserved(wanted)
        fixed = self.prices.most_for_input(input_tokens)
        each = self.prices.output / 1_000_000
        with self._changed:
            while self._aside and self._left() < fixed + wanted * each:
                self._changed.wait()
            tokens = wanted
            while tokens > 0 and fixed + tokens * each > self._left():
                # The quotient, one less each time it was rounded up.
                tokens = min(tokens - 1, int(max(0.0, self._left() - fixed) / each)) if each else 0
            if tokens < min(LEAST, wanted) or tokens == 0:
                raise Exhausted(self._said(fixed + min(LEAST, wanted) * each))
            reserved = Reserved(tokens, fixed + tokens * each)
            self._aside.append(reserved.cost)
            return reserved

    def cost(self, used: Usage) -> float:
        """What requests count, in USD; 0 without prices, when no limit is kept."""
        return 0.0 if self.prices is None else self.prices.cost(used)

    def settle(self, reserved: Reserved, cost: float) -> None:
        """Spend what a request did cost instead of what was set aside for it."""
        with self._changed:
            self.spent += cost
            if reserved.cost in self._aside:
                self._aside.remove(reserved.cost)
            self._changed.notify_all()

    def _left(self) -> float:
        return (self.limit or 0.0) - self.spent - sum(self._aside)

    def _said(self, needed: float) -> str:
        return f"{self.spent:.4f} of {self.limit or 0:.4f} USD are spent, and the next request could cost {needed:.4f}"
