"""Spark says what Polars says, in one process and on a cluster of two workers: `make spark`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_support import called

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="PySpark is not installed: `make spark`"),
    pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed: `make spark`"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]

# A sum, a text beside a value and a count in a window are judged run by run; the rest are queries.
POLICIES = ("examples/dashcam/dashcam.vgl", "std.guard", "examples/team/team.vgl")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark") / "s"
    assert called("abstract", "examples/team", "examples/dashcam", "--format", "parquet", "-o", folder).status == 0
    return folder


def vigil(*args: str | Path, policies: tuple[str, ...] = POLICIES) -> str:
    """In a process of its own: Java writes where this one is captured."""
    done = subprocess.run(
        [sys.executable, "-m", "vigil_lang", "scan", *policies, *map(str, args), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_in_one_process(store: Path) -> None:
    assert vigil(store, "--engine", "spark", "--master", "local[2]") == vigil(store)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master and two workers on this machine, with one core each."""
    import pyspark

    home = Path(pyspark.__file__).parent
    env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    spark_class, port = str(home / "bin" / "spark-class"), 17077
    kind = "org.apache.spark.deploy"
    commands = [[f"{kind}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]]
    commands += [
        [f"{kind}.worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"w{n}"), "--webui-port",
         "0", "--host", "127.0.0.1", f"spark://127.0.0.1:{port}"]
        for n in range(2)
    ]  # fmt: skip
    running = []
    try:
        for number, command in enumerate(commands):
            log = (folder / f"log{number}").open("w")
            running.append(subprocess.Popen([spark_class, *command], env=env, stdout=log, stderr=log))
        end = time.monotonic() + 90
        while (folder / "log0").read_text().count("Registering worker") < 2:
            assert time.monotonic() < end, (folder / "log0").read_text()
            time.sleep(0.2)
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(60)


def test_on_a_cluster_of_two_workers(store: Path, tmp_path: Path) -> None:
    with cluster(tmp_path) as master:
        few = POLICIES[:1]
        assert vigil(store, "--engine", "spark", "--master", master, policies=few) == vigil(store, policies=few)
