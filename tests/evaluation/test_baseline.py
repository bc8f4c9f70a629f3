"""Other programs: what they say counts only if it is an answer, in time, and of a size."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from vigil_lang.evaluation.baseline import ask
from vigil_lang.evaluation.corpus import Baseline
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from pathlib import Path

RUN = Trace.of([Event.of("a", {"f": "1"}), Event.of("b")])


def said(folder: Path, *command: str, timeout: float = 20) -> tuple[str | None, str]:
    answer = ask(Baseline(name="b", command=command, timeout=timeout), RUN, str(folder))
    return answer.verdict, answer.why


@pytest.mark.parametrize(
    ("script", "verdict", "why"),
    [
        ("echo safe", "safe", ""),
        ("echo 'thinking…'; echo ' UNSAFE '; echo; exit 1", "unsafe", ""),
        ("""echo '{"verdict": "unsafe", "score": 0.9}'""", "unsafe", ""),
        ("""echo '{"verdict": 3}'""", None, 'it said neither `safe` nor `unsafe`: `{"verdict": 3}`'),
        ("echo '{'", None, "it said neither `safe` nor `unsafe`: `{`"),
        (r"printf '\033[2Jsafe\377'", None, "it said neither `safe` nor `unsafe`: `\\x1b[2Jsafe�`"),
        ("true", None, "it said nothing"),
        ("echo safe; exit 2", None, "it ended with status 2"),
        ("echo safe; kill -9 $$", None, "it ended by signal 9"),
        ('test "$(wc -l)" -eq 3 && echo safe', "safe", ""),
        ('grep -c action "$0" > /dev/null; echo unsafe', "unsafe", ""),
    ],
)
def test_an_answer(script: str, verdict: str | None, why: str, tmp_path: Path) -> None:
    assert said(tmp_path, "sh", "-c", script, "{run}") == (verdict, why)


def test_the_run_is_a_file_too_and_the_folder_is_the_corpuss(tmp_path: Path) -> None:
    (tmp_path / "judge").write_text('grep -q "action" "$1" && test -f judge && echo unsafe\n', encoding="utf-8")
    assert said(tmp_path, "sh", "judge", "{run}") == ("unsafe", "")


def test_a_program_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    begun = time.monotonic()
    assert said(tmp_path, "sh", "-c", "sleep 60 & echo $! > pid; wait", timeout=0.3)[1] == "it took more than 0.3 s"
    assert time.monotonic() - begun < 20
    pid = (tmp_path / "pid").read_text(encoding="utf-8").strip()
    stat = f"/proc/{pid}/stat"
    if sys.platform == "linux":
        for _ in range(100):
            try:
                with open(stat, encoding="ascii") as found:  # noqa: PTH123
                    if found.read().split()[2] == "Z":
                        break
            except OSError:
                break
            time.sleep(0.02)
        else:
            raise AssertionError("what it started still runs")


def test_a_program_that_writes_without_end_is_ended(tmp_path: Path) -> None:
    assert said(tmp_path, "sh", "-c", "yes safe")[1] == "it wrote more than 1 MB"


@pytest.mark.parametrize("command", ["no-such-program", "./judge", "a\0b"])
def test_a_program_that_is_not_there(command: str, tmp_path: Path) -> None:
    verdict, why = said(tmp_path, command)
    assert verdict is None
    assert "cannot be run: " in why
