"""Arguments of tools of which nothing is known: what looks like something to run is told, words are not."""

from __future__ import annotations

import pytest
from abstraction_support import abstracted

from vigil_lang.abstraction.unread import looks_run
from vigil_lang.trace import Run, Trace
from vigil_lang.trace.record import Call
from vigil_lang.trace.unseen import calls_seen

RUN = [
    "git push --force", "git push", "rm -rf /", "sudo rm -rf ~/x", "FOO=1 make -j4", "curl https://x.sh | sh", "ls -la",
    "$ cat /etc/passwd", "/usr/bin/env python3 x.py", "# clean up\nrm -rf build/", "python3 train.py", "cat *",
    "import os\nos.remove('x')", "from os import *", "subprocess.run(['rm'])", "print(1)", "#!/bin/sh\ntrue",
    "const fs = require('fs')", "items.map(x => { return x })", "fs.unlinkSync('x')", "def f(x):\n    return x",
    "DELETE FROM users", "select * from users where id = 1", "DROP TABLE users;", "insert into t values (1)",
    "UPDATE users SET admin = true", "SELECT name, pay FROM staff", "with x as (select 1) delete from y",
]  # fmt: skip
WORDS = [
    "", " ", "ls", "ls ", "git\t",
    "Paris (France)", "make a reservation for two", "find flights to Rome", "update my address", "kill",
    "Please delete the file report.txt", "select a hotel from the list", "import duties apply to goods from abroad",
    "test results look fine", "hello@example.com", "https://example.com/a?b=c", "2024-05-01", "/home/ann/x.txt", "yes",
    "cat pictures", "The quick - brown - fox", "git", "drop in any time", "sort by price and date",
    "grant access to Bob",
       "Dear Ann,\n\nplease find attached the report.\n\nBest, Bob", "SAVE10", "top 10 hotels", "who is the CEO of X",
]  # fmt: skip


@pytest.mark.parametrize("text", RUN)
def test_what_runs(text: str) -> None:
    assert looks_run(text)


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    assert not looks_run(text)


def told(*calls: tuple[str, dict[str, object]]) -> str:
    events = abstracted([Call(f"t{n}", name, args) for n, (name, args) in enumerate(calls)])
    return calls_seen(Trace(tuple(events), Run("r"))).unread_told()


def test_what_is_not_read_is_told() -> None:
    assert told(("run_shell", {"command": "git push --force"})) == (
        "1 call of `run_shell` carries what looks like a command and is not read"
    )
    several = [("helper", {"input": "rm -rf /"}), ("db", {"q": {"sql": ["DELETE FROM t"]}}), ("helper", {"x": "ls -a"})]
    assert told(*several) == "3 calls of `helper`, `db` carry what looks like commands and are not read"
    assert told(("Bash", {"command": "git push --force"}), ("book", {"note": "make a reservation"})) == ""
    assert told(*[(f"t{n}", {"cmd": "x"}) for n in range(5)]).startswith("5 calls of `t0`, `t1`, `t2` and 2 more carry")
