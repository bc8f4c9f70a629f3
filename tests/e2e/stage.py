"""What a case is played on: a host with Vigil in it, a workspace with something to protect, a model that follows."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.hosts import HOSTS, Ran, finish
from tests.e2e.scenario import Run, Script, Turn
from vigil_lang.points.daemon import client

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.e2e.hosts import Host
    from tests.e2e.models import Model

POLICY = Path(__file__).with_name("shop.vgl")
FILES = {
    "precious.txt": "precious\n",
    "deploy.sh": "echo deployed >> deployed.txt\n",
    "release.sh": "echo released >> released.txt\n",
    "announce.sh": "echo announced >> announced.txt\n",
    "links.sh": "echo checked >> checked.txt\n",
    "notes.txt": "a draft\n",
    "test_shop.py": "import unittest\n\n\nclass Shop(unittest.TestCase):\n"
    "    def test_open(self):\n        self.assertFalse(__import__('os').path.exists('broken'))\n",
}
TESTS = "python3 -m unittest -q"
LONG = 60_000
"""Tokens of a conversation that hosts compact."""
SECONDS = 100
"""How long a test waits for something to happen."""


class Stage:
    """A host that is ready to run; see `staged`."""

    def __init__(self, host: Host, model: Model, policy: Path) -> None:
        self.host = host
        self.model = model
        self.policy = policy

    @property
    def workspace(self) -> Path:
        return self.host.workspace

    def register(self, *flags: str) -> None:
        """Registers the hook as a user would."""
        done = self.host.vigil(
            *("hook", "install", "--host", self.host.name, "--user"),
            *("--policy", str(self.policy), "--state", str(self.host.state), *flags),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def play(self, *turns: Turn, delegated: tuple[Turn, ...] = (), bypass: bool = False, again: bool = False) -> Ran:
        """Has the model say the turns to a run of the host, and waits for its end."""
        return finish(self.begin(*turns, delegated=delegated, bypass=bypass, again=again))

    def begin(
        self, *turns: Turn, delegated: tuple[Turn, ...] = (), bypass: bool = False, again: bool = False
    ) -> subprocess.Popen[str]:
        """As `play`, without waiting."""
        self.model.say(Script(turns, delegated))
        return self.host.start(self.model, bypass=bypass, again=again)

    def compact(self, first: Turn) -> None:
        """Plays a turn, and has the host compact the conversation."""
        long = dataclasses.replace(first, tokens=LONG)
        self.play(long, Turn((Run("echo on"),), tokens=LONG), Turn(text=" ".join(map(str, range(12_000)))))
        if self.host.compacts is not None:
            finish(self.host.start(self.model, self.host.compacts, again=True))

    def client(self) -> str:
        """The program that is registered."""
        return str(Path(client.__file__).resolve())

    def replace(self, old: str, new: str) -> None:
        """Changes what is registered, as an accident would."""
        settings = self.host.settings
        text = settings.read_text(encoding="utf-8")
        assert old in text
        settings.write_text(text.replace(old, new), encoding="utf-8")

    def has(self, name: str) -> bool:
        """Whether the workspace has the file."""
        return (self.workspace / name).exists()

    def log(self) -> list[dict[str, object]]:
        """The entries of the gate's log."""
        with suppress(FileNotFoundError):
            whole = (self.host.state / "log.jsonl").read_text("utf-8").split("\n")[:-1]
            return [json.loads(line) for line in whole]
        return []

    def modes(self) -> list[str]:
        """The decisions in the log, in order."""
        return [str(entry["mode"]) for entry in self.log() if entry.get("kind") == "decision"]

    def hold(self) -> str:
        """The id of the last action that was held, as soon as one is."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for entry in reversed(self.log()):
                if isinstance(hold := entry.get("hold"), dict):
                    return str(hold["id"])
            time.sleep(0.1)
        raise AssertionError("nothing is held")

    def approve(self, hold: str) -> None:
        """Confirms what is held."""
        done = self.host.vigil("hold", "approve", hold)
        assert done.returncode == 0, done.stdout + done.stderr

    def deny(self, hold: str) -> None:
        """Denies what is held."""
        done = self.host.vigil("hold", "deny", hold)
        assert done.returncode == 0, done.stdout + done.stderr

    def processes(self, word: bytes = b"") -> list[int]:
        """The processes that were started for this state folder, with the word among their arguments."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if str(self.host.state).encode() in words and (not word or word in words):
                    found.append(int(entry.name))
        return found

    def daemons(self) -> list[int]:
        """The processes that serve this state folder."""
        return self.processes(b"serve")


@contextmanager
def staged(name: str, folder: Path) -> Iterator[Stage]:
    """A host with a workspace and a model; what was started for it is stopped at the end."""
    host = HOSTS[name](folder)
    for file, text in FILES.items():
        (host.workspace / file).write_text(text, encoding="utf-8")
    policy = folder / "policies" / POLICY.name
    policy.parent.mkdir()
    policy.write_text(POLICY.read_text(encoding="utf-8"), encoding="utf-8")
    with host.model(Script(())) as model:
        host.prepare(model.url)
        stage = Stage(host, model, policy)
        try:
            yield stage
        finally:
            while pids := stage.processes():
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.05)
