"""Which tests need not be measured for coverage, as all they reach is reached by others: `make unmeasured`.

It runs all that are measured once, but for those whose processes are measured too: what a process reaches bears no
test's name, so that they stay measured. It asks for each line and branch which tests reach it, and leaves out tests,
the slowest first, as long as nothing is lost by it. What is left out stands in `unmeasured.txt`, and tests/conftest.py
leaves it unmeasured; a test that is not named there is measured. So an old list only makes coverage look lower than
it is: make it anew when coverage falls although tests reach what is new, or when `make test` has become slow.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Place = tuple[int, ...]
    """A file, a line, and the line that came next."""

HERE = Path(__file__).parent
LIST = HERE / "unmeasured.txt"
LEAST = 0.3
"""Seconds that a test takes, all of its cases together, for which it is worth a line."""
CONTEXTS = "select id, context from context"
ARCS = "select context_id, file_id, fromno, tono from arc"
HEAD = """\
# Tests that are not measured for coverage: others reach all that they reach. `make unmeasured` writes this file.
"""


class Seconds:
    """How long the cases of each test take together, as pytest tells whoever starts it."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what is told of one case: that it is set up, called or done."""
        self.of[function(report.nodeid)] += report.duration


def function(case: str) -> str:
    """The test that a case is of: its id without the parameters."""
    return case.partition("[")[0]


def redundant(seconds: Mapping[str, float], reached: Mapping[str, Iterable[Place]]) -> Iterator[str]:
    """The tests without which all places are reached still, the slowest first.

    Args:
        seconds: What each test takes.
        reached: The places that each test reaches.
    """
    times = Counter(place for places in reached.values() for place in set(places))
    for test in sorted(seconds, key=lambda test: (-seconds[test], test)):
        places = set(reached.get(test, ()))
        if seconds[test] >= LEAST and all(times[place] > 1 for place in places):
            times.subtract(places)
            yield test


def places_by_test(data: Path) -> dict[str, set[Place]]:
    """What each test reached, of a measurement that has the tests as contexts; "" is what was reached without one.

    The database is read as coverage documents it: asked by its own functions, each test in each file is a query.
    """
    reached: dict[str, set[Place]] = defaultdict(set)
    with closing(sqlite3.connect(data)) as database:
        tests = {number: function(name.partition("|")[0]) for number, name in database.execute(CONTEXTS)}
        for context, *place in database.execute(ARCS):
            reached[tests[context]].add(tuple(place))
    return reached


def main() -> int:
    """Run the tests, with the arguments of pytest that are given, and write the list; where one fails, it stays."""
    before = LIST.read_text()
    LIST.write_text(HEAD)
    seconds = Seconds()
    measured = ["-m", "not unmeasured and not processes"]
    contexts = ["--cov", "--cov-report=", "--cov-context=test", "--cov-fail-under=0"]
    status = pytest.main([*measured, *contexts, *sys.argv[1:]], plugins=[seconds])
    if status:
        LIST.write_text(before)
        return status
    left_out = redundant(seconds.of, places_by_test(Path(os.environ.get("COVERAGE_FILE", ".coverage"))))
    LIST.write_text(HEAD + "".join(f"{test}\n" for test in sorted(left_out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
