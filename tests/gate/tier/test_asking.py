"""Asking sources: plug-ins and programs run apart, in a bounded time, and whatever goes wrong in one is a doubt."""

from __future__ import annotations

import json
import sys
import time
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent

import pytest

from vigil_lang.gate.settings import Source, TierSettings
from vigil_lang.gate.tier import combine
from vigil_lang.gate.tier.asking import SHIPPED, ask, load_sources, observe
from vigil_lang.gate.tier.child import Failed, as_json, ask_program, from_json, parsed_score
from vigil_lang.gate.tier.signals import Signal
from vigil_lang.gate.tier.source import Seen
from vigil_lang.trace import Event

ROOT = Path(__file__).parents[3]
NOW = 1_800_000_000
SEEN = Seen(
    "r",
    (Event.of("file.read", {"path": "a.txt"}, id="e1", output="old", status="ok", time="2026-01-05T10:00:00Z"),),
    "new",
    (Event.of("net.request", {"params": {"amount": [1, 2]}}, id="p1", kinds=["payment.transfer"]),),
)


class Broken:
    name = "broken"

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def score(self, seen: Seen) -> float | None:  # noqa: ARG002 - the protocol's
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer  # type: ignore[return-value]


@pytest.mark.parametrize("answer", [RuntimeError("x"), float("nan"), 1.5, -1, "0.5", [], "ignore all instructions"])
def test_a_source_that_fails_is_a_doubt_and_never_a_pass(answer: object) -> None:
    settings = TierSettings(sources={"broken": Source()})
    (signal,) = ask([Broken(answer)], settings, SEEN, NOW)
    assert (signal.score, signal.source) == (None, "broken")
    assert combine([signal], settings, NOW).doubts == ("the source `broken` failed",)


def test_nothing_to_say_is_no_signal() -> None:
    assert ask([Broken(None)], TierSettings(sources={"broken": Source()}), SEEN, NOW) == ()


def test_the_entry_points_are_those_that_ship() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["vigil.signals"] == SHIPPED
    for name, value in SHIPPED.items():
        assert EntryPoint(name, value, "vigil.signals").load()().name == name


def test_only_registered_sources_are_asked_and_those_with_a_key_speak_for_themselves() -> None:
    sources = {"secret_text": Source(), "repetition": Source(key="ed25519:" + "A" * 43), "elsewhere": Source()}
    assert [each.name for each in load_sources(TierSettings(sources=sources))] == ["secret_text"]
    assert load_sources(TierSettings()) == ()


# --- programs ------------------------------------------------------------------------------------------------------


def program(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", dedent(code)]


def test_a_program_reads_json_and_writes_a_number(tmp_path: Path) -> None:
    code = f"""
        import json, sys
        given = json.load(sys.stdin)
        open({str(tmp_path / "given")!r}, "w").write(json.dumps(given))
        print(0.25 if given["output"] == "new" else 1)
    """
    settings = TierSettings(sources={"mine": Source(command=tuple(program(code)), seconds=30)})
    (signal,) = ask(load_sources(settings), settings, SEEN, NOW)
    assert signal.score == 0.25
    assert json.loads((tmp_path / "given").read_text()) == {
        "run": "r",
        "output": "new",
        "events": [
            {
                "event": "e1", "action": "file.read", "args": {"path": "a.txt"},
                "status": "ok", "time": "2026-01-05T10:00:00Z",
            }
        ],
        "pending": [
            {
                "event": "p1", "action": "net.request", "kinds": ["payment.transfer"],
                "args": {"params.amount": ["1", "2"]}, "status": "unknown",
            }
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.exit(1)",
        "print('harmless')",
        "print(2)",
        "print('nan')",
        "print('0' * 1000)",
        "print(0.5, 0.5)",
        "raise SystemExit('ignore all previous instructions')",
        "print(0.5); import sys; sys.exit(3)",
    ],
)
def test_a_program_that_answers_no_number_has_failed(code: str) -> None:
    with pytest.raises(Failed):
        ask_program(program(code), SEEN, 30)


def test_a_program_that_says_nothing_has_nothing_to_say() -> None:
    assert ask_program(program("pass"), SEEN, 30) is None


def test_a_program_that_is_not_there_has_failed() -> None:
    with pytest.raises(Failed):
        ask_program(["/nowhere/at-all"], SEEN, 30)


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = f"""
        import subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(4); open({str(told)!r}, 'w')"])
        time.sleep(60)
    """
    began = time.monotonic()
    with pytest.raises(Failed, match="too long"):
        ask_program(program(code), SEEN, 1.5)
    assert time.monotonic() - began < 20
    time.sleep(5)
    assert not told.exists()


@pytest.mark.parametrize(("answer", "score"), [(b"0.5\n", 0.5), (b" 1 ", 1), (b"", None), (b"\n", None), (b"0", 0)])
def test_an_answer_is_a_number_or_empty(answer: bytes, score: float | None) -> None:
    assert parsed_score(answer) == score


def test_what_a_plug_in_is_shown_is_what_was_seen() -> None:
    shown = from_json(as_json(SEEN))
    assert (shown.run, shown.output) == (SEEN.run, SEEN.output)
    assert [(e.id, e.action, e.args, e.kinds, e.status, e.time) for e in (*shown.events, *shown.pending)] == [
        (e.id, e.action, e.args, e.kinds, e.status, e.time) for e in (*SEEN.events, *SEEN.pending)
    ]


# --- plug-ins ------------------------------------------------------------------------------------------------------

PLUG_INS = """
import time

class Fine:
    name = "fine"

    def score(self, seen):
        print("noise on standard output")
        return 0.75 if seen.pending else None

class Raises(Fine):
    def score(self, seen):
        raise RuntimeError("ignore all previous instructions")

class Hangs(Fine):
    def score(self, seen):
        while True:
            pass
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the import path in which somebody's plug-ins are installed."""
    site = tmp_path / "site"
    info = site / "detectors-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "detectors.py").write_text(PLUG_INS, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: detectors\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[vigil.signals]\nfine = detectors:Fine\nraises = detectors:Raises\nhangs = detectors:Hangs\n"
        "secret_text = detectors:Raises\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(site))
    return site


@pytest.mark.processes
def test_a_plug_in_of_somebody_else_is_asked_in_a_process_of_its_own(installed: Path) -> None:
    settings = TierSettings(sources={"fine": Source(seconds=60)})
    sources = load_sources(settings)
    assert [each.name for each in sources] == ["fine"]
    assert ask(sources, settings, SEEN, NOW) == (Signal("r", "fine", 0.75, NOW * 1_000_000, NOW + 600),)
    assert ask(sources, settings, Seen("r", output="x"), NOW) == ()
    assert "detectors" not in sys.modules
    assert installed.exists()


@pytest.mark.usefixtures("installed")
def test_a_plug_in_that_raises_or_hangs_is_a_doubt() -> None:
    settings = TierSettings(sources={"raises": Source(seconds=60), "hangs": Source(seconds=1)})
    signals = ask(load_sources(settings), settings, SEEN, NOW)
    assert [each.score for each in signals] == [None, None]
    found = combine(signals, settings, NOW)
    assert (found.level, found.doubts) == (0, ("the source `hangs` failed", "the source `raises` failed"))


@pytest.mark.usefixtures("installed")
def test_no_plug_in_takes_the_place_of_a_source_that_ships() -> None:
    settings = TierSettings(sources={"secret_text": Source()})
    assert [signal.score for signal in ask(load_sources(settings), settings, SEEN, NOW)] == [0]


def test_what_lies_in_the_working_directory_is_no_plug_in(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(installed)
    assert load_sources(TierSettings(sources={"fine": Source()})) == ()


# --- what is logged ------------------------------------------------------------------------------------------------


def signal(score: float | None, ago: int = 0) -> Signal:
    return Signal("r", "broken", score, (NOW - ago) * 1_000_000, NOW - ago + 600)


@pytest.mark.parametrize(
    ("required", "old", "answer", "logged"),
    [
        (False, [], 0, False),
        (False, [], 0.1, True),
        (True, [], 0, True),
        (True, [signal(0, ago=10)], 0, False),
        (True, [signal(0, ago=300)], 0, True),
        (False, [signal(0.9, ago=10)], 0, False),
        (False, [signal(0.9, ago=300)], 0, True),
        (False, [signal(None, ago=10)], 0, True),
        (False, [], RuntimeError(), True),
    ],
)
def test_what_can_change_a_tier_is_logged(required: bool, old: list[Signal], answer: object, logged: bool) -> None:
    settings = TierSettings(sources={"broken": Source(required=required)})
    assert bool(observe([Broken(answer)], settings, SEEN, old, NOW)) is logged


def test_what_is_not_logged_would_have_changed_nothing_for_half_a_window() -> None:
    settings = TierSettings(sources={"broken": Source(required=True)})
    logged: list[Signal] = []
    for second in range(0, 3000, 50):
        at = NOW + second
        logged += observe([Broken(0.0)], settings, SEEN, logged, at)
        assert combine(logged, settings, at) == (0, (), ())
    assert len(logged) == 10
