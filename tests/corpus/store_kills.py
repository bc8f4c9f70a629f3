"""Making a store is killed at random moments; whatever was there then, the next run makes the same, byte for byte.

Run by hand: `make differential`, or `python -m tests.corpus.store_kills --count 100`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.corpus.stores import content, recordings

ROOT = Path(__file__).parents[2]


def command(folder: Path, store: Path) -> list[str]:
    return [sys.executable, "-m", "vigil_lang", "abstract", str(folder), "--format", "parquet", "-o", str(store)]


def killed(folder: Path, count: int, random: Random) -> int:
    """Kill so many runs, each with all its processes, and let one finish; how many were killed before they had."""
    runs = folder / "runs"
    runs.mkdir()
    recordings(runs, 12, events=100, wide=1000)
    begun = time.monotonic()
    subprocess.run(command(runs, folder / "whole"), cwd=ROOT, check=True, capture_output=True, timeout=300)
    long = time.monotonic() - begun
    expected = content(folder / "whole")
    early = 0
    for _ in range(count):
        with subprocess.Popen(
            command(runs, folder / "s"),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            time.sleep(random.uniform(0, long * 1.1))
            early += process.poll() is None
            subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=False, capture_output=True)
        if random.random() < 0.3:  # else the next run finds what this one left
            subprocess.run(command(runs, folder / "s"), cwd=ROOT, check=True, capture_output=True, timeout=300)
            assert content(folder / "s") == expected
            for path in sorted((folder / "s").rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()
            (folder / "s").rmdir()
    subprocess.run(command(runs, folder / "s"), cwd=ROOT, check=True, capture_output=True, timeout=300)
    assert content(folder / "s") == expected
    return early


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        early = killed(Path(folder), options.count, Random(options.seed))
    print(f"{options.count} runs were killed, {early} of them before they had finished: the store is the same")


if __name__ == "__main__":
    main()
