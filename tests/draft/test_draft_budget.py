"""A draft costs no more than its limit, whatever the model answers and however requests fail (VGL613)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages_api import Breaks, Fails, Raw, Says

from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.budget import LEAST, Budget, Exhausted
from vigil_lang.draft.api.client import Client, Message
from vigil_lang.draft.api.models import ModelSettings, Prices, model_settings
from vigil_lang.project.settings import Draft

if TYPE_CHECKING:
    from messages_api import MessagesAPI

PRICES = Prices(4, 20)
SETTINGS = ModelSettings("house-model", prices=PRICES, retries=3)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
QUESTION = [Message("user", "q")]


def test_a_request_has_as_many_tokens_as_are_affordable() -> None:
    budget = Budget(0.1, PRICES)
    # 4000 tokens of input at 5 are 0.02; the other 0.08 are 4000 of output at 20.
    assert budget.reserve(4000, 16_000).tokens == pytest.approx(4000, abs=1)
    assert Budget(0.1, PRICES).reserve(4000, 3000).tokens == 3000


def test_what_was_set_aside_is_free_again() -> None:
    budget = Budget(0.1, PRICES)
    for _ in range(4):
        reserved = budget.reserve(4000, 3000)
        assert reserved.cost == pytest.approx(0.02 + 0.06)
        budget.settle(reserved, 0.005)
    assert budget.spent == pytest.approx(0.02)


def test_too_little_is_nothing() -> None:
    budget = Budget(0.05, PRICES)
    each = PRICES.output / 1_000_000
    budget.settle(budget.reserve(0, 1), 0.05 - (LEAST - 1) * each)
    with pytest.raises(Exhausted, match=r"^0\.0295 of 0\.0500 USD are spent, and the next request could cost 0\.0205$"):
        budget.reserve(0, 4000)
    assert budget.reserve(0, 1000).tokens == 1000, "all that is wanted"


@pytest.mark.parametrize(("limit", "prices"), [(0.0, PRICES), (0.001, Prices(100, 0))])
def test_a_limit_that_is_too_low_for_anything(limit: float, prices: Prices) -> None:
    with pytest.raises(Exhausted):
        Budget(limit, prices).reserve(100, 4000)


def test_without_a_limit_all_is_granted() -> None:
    assert Budget().reserve(10**9, 128_000).tokens == 128_000
    assert Budget(None, PRICES).reserve(10**9, 128_000).tokens == 128_000
    assert Budget(0.0, Prices(0, 0)).reserve(10**9, 128_000).tokens == 128_000, "nor where nothing costs anything"


@given(
    st.floats(0, 1),
    st.builds(Prices, st.floats(0, 100), st.floats(0, 500)),
    st.lists(st.tuples(st.integers(0, 100_000), st.integers(1, 128_000), st.floats(0, 1)), max_size=20),
)
def test_the_limit_is_never_passed(limit: float, prices: Prices, requests: list[tuple[int, int, float]]) -> None:
    budget = Budget(limit, prices)
    for input_tokens, wanted, share in requests:
        try:
            reserved = budget.reserve(input_tokens, wanted)
        except Exhausted:
            continue
        assert min(LEAST, wanted) <= reserved.tokens <= wanted
        worst = prices.most_for_input(input_tokens) + reserved.tokens * prices.output / 1_000_000
        assert reserved.cost == pytest.approx(worst)
        assert budget.spent + reserved.cost <= limit * (1 + 1e-9)
        budget.settle(reserved, reserved.cost * share)


def test_requests_at_once_wait_for_each_other_rather_than_pass_it() -> None:
    budget = Budget(0.1, PRICES)
    held = budget.reserve(0, 4000)  # 0.08
    granted: list[int] = []

    def reserve() -> None:
        reserved = budget.reserve(0, 4000)
        granted.append(reserved.tokens)
        budget.settle(reserved, 0.01)

    thread = threading.Thread(target=reserve)
    thread.start()
    thread.join(0.05)
    assert granted == []
    budget.settle(held, 0.005)
    thread.join(5)
    assert granted == [4000]
    assert budget.spent == pytest.approx(0.015)


def test_the_api_counts_what_is_asked(messages_api: MessagesAPI) -> None:
    messages_api.script(Says("{}", input_tokens=1000))
    messages_api.counts = 1000
    with Client(SETTINGS, Budget.of(0.1, SETTINGS)) as client:
        client.ask("system", QUESTION, SCHEMA, 16_000)
    (count,), (body,) = messages_api.counted, messages_api.asked
    assert count == {name: value for name, value in body.items() if name not in ("max_tokens", "stream")}
    # A little more than counted, all of it written to the cache: (1000 * 1.02 + 100) at 5.
    assert body["max_tokens"] == pytest.approx((0.1 - 1120 * 5e-6) / 20e-6, abs=1)


@pytest.mark.parametrize(
    "counts",
    [Fails(404), Fails(529), Raw(b"<html>", 200, "text/html"), Raw(b'{"input_tokens": "x"}'), Raw(status=None)],
)
def test_where_it_does_not_count_bytes_are_counted(messages_api: MessagesAPI, counts: Fails | Raw) -> None:
    messages_api.script("{}")
    messages_api.counts = counts
    with Client(SETTINGS, Budget.of(0.1, SETTINGS)) as client:
        client.ask("system " * 500, QUESTION, SCHEMA, 16_000)
    assert messages_api.asked[0]["max_tokens"] < (0.1 - 3500 * 5e-6) / 20e-6


def test_it_stops_before_the_limit_is_passed(messages_api: MessagesAPI) -> None:
    """With a model that writes as much as it may."""

    def babble(body: dict[str, Any]) -> Says:
        return Says("x", stop="max_tokens", input_tokens=0, cache_write=900, output_tokens=body["max_tokens"])

    messages_api.script(babble)
    messages_api.counts = 900
    budget = Budget.of(0.2, SETTINGS)
    with Client(SETTINGS, budget) as client, pytest.raises(Exhausted, match="are spent"):  # noqa: PT012 - many requests
        while True:
            client.ask("system", QUESTION, SCHEMA, 4000)
    assert 0.2 - LEAST * 20e-6 - 0.01 < budget.spent <= 0.2
    assert client.usage.cost == pytest.approx(budget.spent)
    assert len(messages_api.asked) == 3
    assert messages_api.asked[-1]["max_tokens"] < 4000


def test_attempts_that_break_off_count_for_what_they_may_have_cost(messages_api: MessagesAPI) -> None:
    messages_api.script(lambda _: Breaks(Says("long " * 40, input_tokens=500), after=5))
    messages_api.counts = 500
    budget = Budget.of(0.1, SETTINGS)
    with Client(SETTINGS, budget, pause=lambda _: None) as client, pytest.raises(Exhausted):
        client.ask("system", QUESTION, SCHEMA, 2000)
    assert len(messages_api.asked) == 2
    assert 0.04 < budget.spent <= 0.1
    assert client.usage.estimated


def test_attempts_that_fail_by_their_status_cost_nothing(messages_api: MessagesAPI) -> None:
    messages_api.script(Fails(529), Fails(429), Fails(500), Says("{}", input_tokens=10, output_tokens=10))
    budget = Budget.of(0.05, SETTINGS)
    with Client(SETTINGS, budget, pause=lambda _: None) as client:
        client.ask("system", QUESTION, SCHEMA, 2000)
    assert budget.spent == pytest.approx(10 * 4e-6 + 10 * 20e-6)


def test_nothing_is_asked_without_a_budget_for_it(messages_api: MessagesAPI) -> None:
    with Client(SETTINGS, Budget.of(0.001, SETTINGS)) as client, pytest.raises(Exhausted):
        client.ask("system", QUESTION, SCHEMA, 2000)
    assert messages_api.asked == []
    assert client.usage.requests == 0


def test_no_limit_can_be_kept_where_prices_are_not_known() -> None:
    with pytest.raises(InputError) as caught:
        Budget.of(1.0, replace(SETTINGS, model="house-model", prices=None))
    (found,) = caught.value.diagnostics
    assert found.code == "VGL613"
    assert "`house-model`" in found.message
    assert "input-price" in (found.help or "")
    assert "output-price" in (found.help or "")
    assert Budget.of(None, replace(SETTINGS, prices=None)).limit is None
    priced = model_settings(Draft(model="house-model", input_price=1.0, output_price=2.0))
    assert Budget.of(1.0, priced).prices == Prices(1, 2)


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), -1.0])
def test_what_is_no_amount_is_no_limit(limit: float) -> None:
    with pytest.raises(InputError, match="is no limit"):
        Budget.of(limit, SETTINGS)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("claude-opus-5-5", Prices(4, 20)),
        ("claude-opus-5-5-20261101", Prices(4, 20)),
        ("claude-of-another-year", Prices(10, 50)),
        ("eu.anthropic.claude-x", Prices(10, 50)),
        ("house-model", Prices(0, 0)),
    ],
)
def test_no_configuration_lifts_a_limit_by_prices_of_its_own(model: str, least: Prices) -> None:
    free = model_settings(Draft(model=model, input_price=0.0, output_price=0.0))
    assert Budget.of(0.0001, free).prices == least
    dear = model_settings(Draft(model=model, input_price=100.0, output_price=500.0))
    assert Budget.of(0.0001, dear).prices == Prices(100, 500)


def test_a_limit_holds_whatever_price_the_configuration_names(messages_api: MessagesAPI) -> None:
    free = model_settings(Draft(model="claude-opus-5-5", input_price=0.0, output_price=0.0))
    with Client(free, Budget.of(0.0001, free)) as client, pytest.raises(Exhausted):
        client.ask("system", QUESTION, SCHEMA, 2000)
    assert messages_api.asked == []
