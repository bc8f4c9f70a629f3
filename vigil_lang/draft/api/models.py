"""Which model drafts, what it costs, and how it is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from vigil_lang.draft.clause_result import Usage
    from vigil_lang.project.drafting import Effort
    from vigil_lang.project.settings import Draft

_DATED = re.compile(r"[-@]20[0-9]{6}$")
_CACHE_WRITE, _CACHE_READ = 1.25, 0.1


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What tokens cost, in USD per million."""

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        """What requests cost, in USD."""
        read = usage.input_tokens + _CACHE_WRITE * usage.cache_write_tokens + _CACHE_READ * usage.cache_read_tokens
        return (read * self.input + usage.output_tokens * self.output) / 1_000_000

    def or_more(self, other: Prices) -> Prices:
        """Of each price the higher."""
        return Prices(max(self.input, other.input), max(self.output, other.output))

    def most_for_input(self, tokens: int) -> float:
        """The most that input can cost, in USD: all of it is written to the cache."""
        return tokens * _CACHE_WRITE * self.input / 1_000_000


class _Models(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    default: str
    prices: dict[str, Prices]


@cache
def _models() -> _Models:
    return msgspec.toml.decode(Path(__file__).with_name("models.toml").read_bytes(), type=_Models)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is asked.

    `max_tokens` bounds a reply; `timeout` is how many seconds may pass without a word of it; `retries` is how often a
    request that fails is made again. `base_url` is None for what the environment says; `prices` for unknown ones.
    """

    model: str
    effort: Effort | None = None
    max_tokens: int = 16_000
    timeout: float = 600.0
    retries: int = 4
    base_url: str | None = None
    stream: bool = True
    prices: Prices | None = None


def default_model() -> str:
    """The model that is asked unless another is named."""
    return _models().default


def known_prices(model: str) -> Prices | None:
    """The prices of a model, which may be named with the date of its snapshot."""
    prices = _models().prices
    return prices.get(model) or prices.get(_DATED.sub("", model))


def bounding(model: str, prices: Prices) -> Prices:
    """The prices by which a limit is kept, for one who pays may not know who wrote the configuration.

    It can make no request cheaper than the table does, nor one to a Claude model that is not in it cheaper than the
    dearest there.
    """
    if known := known_prices(model):
        return prices.or_more(known)
    if "claude" not in model.lower():
        return prices
    for dearest in _models().prices.values():
        prices = prices.or_more(dearest)
    return prices


def model_settings(
    draft: Draft, *, model: str | None = None, effort: Effort | None = None, base_url: str | None = None
) -> ModelSettings:
    """The settings of the configuration, with what a call says instead.

    Raises:
        InputError: VGL613, only one of the two prices is set.
    """
    name = model or draft.model or default_model()
    return ModelSettings(
        model=name,
        effort=effort or draft.effort,
        max_tokens=draft.max_tokens,
        timeout=draft.timeout,
        retries=draft.retries,
        base_url=base_url,
        stream=draft.stream,
        prices=_prices(draft, name),
    )


def _prices(draft: Draft, model: str) -> Prices | None:
    match draft.input_price, draft.output_price:
        case None, None:
            return known_prices(model)
        case float(paid), float(asked):
            known = known_prices(model)
            return Prices(paid, asked) if known is None else known.or_more(Prices(paid, asked))
    message = "a price is set for one of input and output alone"
    help_text = "`input-price` and `output-price` of `[draft]` go together"
    raise InputError([Diagnostic.of("VGL613", message, Source("[draft]", ""), help=help_text)])
