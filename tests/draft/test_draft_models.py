"""Which model is asked, and what it costs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vigil_lang.diagnostics import InputError
from vigil_lang.draft.api.models import Prices, default_model, known_prices, model_settings
from vigil_lang.draft.clause_result import Usage
from vigil_lang.project.configuration import load
from vigil_lang.project.settings import Draft

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "vigil_lang" / "draft" / "api" / "models.toml"


def test_the_default_model_is_named_in_one_place() -> None:
    stated = tomllib.loads(TABLE.read_text(encoding="utf-8"))["default"]
    assert model_settings(Draft()).model == default_model() == stated
    code = [*(ROOT / "vigil_lang").rglob("*.py"), *(ROOT / "vigil_lang").rglob("*.toml")]
    naming = [path for path in code if stated in path.read_text(encoding="utf-8")]
    assert naming == [TABLE]


def test_its_price_is_known() -> None:
    assert model_settings(Draft()).prices == known_prices(default_model()) == Prices(4, 20)


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        ("claude-opus-4-5-20251101", Prices(5, 25)),
        ("claude-haiku-4-5@20251001", Prices(1, 5)),
        ("claude-haiku-5-5", Prices(0.1, 0.5)),
        ("claude-opus-5-5-20261301x", None),
        ("claude-opus", None),
        ("claude-opus-4-5-99991101", None),
        ("", None),
    ],
)
def test_a_snapshot_costs_what_its_model_does(model: str, prices: Prices | None) -> None:
    assert known_prices(model) == prices


def test_prices_of_every_model_are_whole() -> None:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))["prices"]
    assert list(table) == sorted(table)
    for model, prices in table.items():
        assert re.fullmatch(r"claude-[a-z]+-\d(-\d)?", model)
        assert prices["output"] == 5 * prices["input"]


def test_the_cache_costs_more_to_write_and_less_to_read() -> None:
    prices = Prices(4, 20)
    assert prices.cost(Usage(input_tokens=1_000_000)) == 4
    assert prices.cost(Usage(cache_write_tokens=1_000_000)) == 5
    assert prices.cost(Usage(cache_read_tokens=1_000_000)) == pytest.approx(0.4)
    assert prices.cost(Usage(output_tokens=1_000_000)) == 20
    assert prices.most_for_input(1_000_000) == 5


def test_a_call_comes_before_the_configuration(tmp_path: Path) -> None:
    text = '[draft]\nmodel = "a-model"\neffort = "low"\nmax-tokens = 9000\ntimeout = 5\nretries = 0\nstream = false\n'
    (tmp_path / "vigil.toml").write_text(text + "input-price = 1\noutput-price = 2.5\n", encoding="utf-8")
    loaded = load(tmp_path)
    assert loaded.findings == ()
    found = model_settings(loaded.settings.draft)
    assert (found.model, found.effort, found.max_tokens, found.timeout) == ("a-model", "low", 9000, 5.0)
    assert (found.retries, found.stream, found.prices) == (0, False, Prices(1, 2.5))
    called = model_settings(loaded.settings.draft, model="claude-opus-5", effort="max", base_url="http://127.0.0.1")
    assert (called.model, called.effort, called.base_url) == ("claude-opus-5", "max", "http://127.0.0.1")
    assert called.prices == Prices(5, 25), "a known price is made no lower by a configuration"
    dear = model_settings(Draft(input_price=40.0, output_price=1.0), model="claude-opus-5")
    assert dear.prices == Prices(40, 25)


@pytest.mark.parametrize("draft", [Draft(input_price=1.0), Draft(output_price=0.0)])
def test_half_a_price_is_none(draft: Draft) -> None:
    with pytest.raises(InputError, match="VGL613"):
        model_settings(draft)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("model = 'two words'", "`draft.model` is a name without spaces, not `'two words'`"),
        ("model = ''", "`draft.model` is a name without spaces, not `''`"),
        ("max-tokens = 100", "`draft.max-tokens` is a whole number from 1,024 to 128,000, not `100`"),
        ("max-tokens = 2000.5", "`draft.max-tokens` is a whole number from 1,024 to 128,000, not `2000.5`"),
        ("max-cost = -1", "`draft.max-cost` is a number from 0 to 1,000,000, not `-1`"),
        ("max-cost = inf", "`draft.max-cost` is a number from 0 to 1,000,000, not `inf`"),
        ("max-cost = nan", "`draft.max-cost` is a number from 0 to 1,000,000, not `nan`"),
        ("timeout = 0", "`draft.timeout` is a number from 0.1 to 3,600, not `0`"),
        ("retries = true", "`draft.retries` is a whole number from 0 to 20, not `true`"),
        ("rounds = 11", "`draft.rounds` is a whole number from 0 to 10, not `11`"),
        ("effort = 'huge'", "`draft.effort` is one of `low`, `medium`, `high`, `xhigh`, `max`, not `'huge'`"),
    ],
)
def test_a_setting_that_is_not_valid_is_told(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text(f"[draft]\n{line}\n", encoding="utf-8")
    (found,) = load(tmp_path).findings
    assert found.code == "VGL005"
    assert found.message.startswith(message)


_ELSEWHERE_FIRST = """
from pathlib import Path
from typing import Literal, Optional
other = Optional[Literal["max", "high", "medium", "low", "xhigh"]]  # equal types of all libraries are one object
from vigil_lang.project.configuration import load
print(load(Path()).findings[0].message)
"""


def test_the_values_of_a_setting_are_listed_in_its_own_order(tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text("[draft]\neffort = 'huge'\n", encoding="utf-8")
    found = subprocess.run([sys.executable, "-c", _ELSEWHERE_FIRST], cwd=tmp_path, capture_output=True, check=True)
    assert b"one of `low`, `medium`, `high`, `xhigh`, `max`" in found.stdout


def test_an_address_in_the_configuration_is_no_setting(tmp_path: Path) -> None:
    (tmp_path / "vigil.toml").write_text('[draft]\nbase-url = "http://example.invalid"\n', encoding="utf-8")
    (found,) = load(tmp_path).findings
    assert (found.code, found.message) == ("VGL006", "there is no setting `draft.base-url`")
