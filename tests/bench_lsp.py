"""Timings of the language server as an editor meets them, each beside its target: part of `make bench`.

`python tests/bench_lsp.py` prints these rows alone. A real server process is typed into: a policy of 500 lines, first
without runs, then beside 20 runs of 200 events. Times are from the keystroke to the answer's arrival, at the 99th
percentile, since it is the slow ones that are felt; the median stands beside it.
"""

from __future__ import annotations

import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bench import ROOT, row, run_lines

from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse
from vigil_lang.syntax.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

KEYSTROKES = 300
PAUSE = 0.03
"""Seconds between the answer to a keystroke and the next one: faster than anybody types."""
PATIENCE = 60.0

Message = dict[str, Any]


OWN = """
/// Reads or edits a file of module {n}.
pattern touches{n}(x) = action in {{Read, Edit}} and file_path = x and file_path ~ "*module_{n}.py"

/// What is changed of module {n} was read before.
@severity(error)
@on_violation(hold)
@message("`{{x}}` was changed although nobody had read it")
statement read_first{n}: prec(Edit(file_path = x, status = ok) and file_path ~ "*module_{n}.py", touches{n}(x))

/// What is changed of module {n} is tested after.
statement tested{n}: resp(touches{n}(x) and action = Edit, Test(target = x))
"""


def policy_of_examples(root: Path) -> str:
    """The rules of all example skills as one policy of some 500 lines, with the documents they cite below a folder."""
    text = "/// What is asked of an agent that works on a repository.\npolicy work\n"
    for path in sorted((ROOT / "examples" / "skills").glob("*/*.vgl")):
        skill = path.parent.name
        if path.name.endswith("_test.vgl"):
            continue
        own = path.read_text(encoding="utf-8").split(f"policy {skill}\n", 1)[1]
        names = re.findall(r"^(?:pattern|statement|let) (\w+)", own, re.M)
        if any(re.search(rf"^(?:pattern|statement|let) {name}\b", text, re.M) for name in names):
            continue  # two skills that share a name
        text += re.sub(r'(@source\(\s*")(?!arXiv)', rf"\g<1>{skill}/", own)
        for document in path.parent.glob("*.md"):
            (root / skill).mkdir(exist_ok=True)
            shutil.copy(document, root / skill)
    return text + "".join(OWN.format(n=n) for n in range(15))


class Client:
    """An editor at the other end of a server's standard streams."""

    def __init__(self, root: Path, text: str, *, pulls: bool) -> None:
        command = (sys.executable, "-m", "vigil_lang", "lsp")
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.uri, self.text, self.version = (root / "work.vgl").as_uri(), text, 1
        self._arrived: queue.SimpleQueue[tuple[float, Message]] = queue.SimpleQueue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        refresh = {"refreshSupport": True}
        documents: Message = {"completion": {"completionItem": {"snippetSupport": True}}, "publishDiagnostics": {}}
        if pulls:
            documents["diagnostic"] = {}
        self.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "work"}],
                "capabilities": {
                    "textDocument": documents,
                    "workspace": {"inlayHint": refresh, "codeLens": refresh, "diagnostics": refresh},
                },
            },
        )
        self.notify("initialized", {})
        document = {"uri": self.uri, "languageId": "vigil", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        self.call("textDocument/diagnostic", self.document)  # once it is known what is wrong with it, it is settled

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.call("shutdown", None)
        self.notify("exit", None)
        if status := self.server.wait(PATIENCE):
            raise RuntimeError(f"the server ended with status {status}")

    @property
    def document(self) -> Message:
        """The parameters of a request about the policy."""
        return {"textDocument": {"uri": self.uri}}

    def at(self, offset: int) -> Message:
        """The parameters of a request about a place in it."""
        before = self.text[:offset]
        return {**self.document, "position": {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}}

    def type(self, offset: int, old: int, new: str) -> None:
        """Replaces so many characters."""
        start, end = self.at(offset)["position"], self.at(offset + old)["position"]
        self.text = self.text[:offset] + new + self.text[offset + old :]
        self.version += 1
        change = {"range": {"start": start, "end": end}, "text": new}
        document = {"uri": self.uri, "version": self.version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def call(self, method: str, params: Message | None) -> Any:
        """The result of a request."""
        self._number += 1
        number = self._number
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        _, answer = self.until(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def timed(self, method: str, params: Message) -> float:
        """Seconds that a request takes."""
        started = time.perf_counter()
        self.call(method, params)
        return time.perf_counter() - started

    def notify(self, method: str, params: Message | None) -> None:
        """Sends a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def until(self, wanted: Callable[[Message], bool]) -> tuple[float, Message]:
        """The next message that is wanted, and when it arrived; those before it are dropped."""
        while True:
            arrived, message = self._arrived.get(timeout=PATIENCE)
            if "method" in message and "id" in message:
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            if wanted(message):
                return arrived, message

    def memory(self) -> tuple[float, float]:
        """Megabytes that the server's process and those that it started hold."""
        own, *others = [_resident(pid) for pid in (self.server.pid, *_children(self.server.pid))]
        return own / 1e6, sum(others) / 1e6

    def _send(self, message: Message) -> None:
        body = json.dumps(message).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def _read(self) -> None:
        stream = self.server.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.partition(b":")[2])
            while stream.readline().strip():
                pass
            body = stream.read(length)
            self._arrived.put((time.perf_counter(), json.loads(body)))


def language_server() -> None:
    """Print the rows."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        text = policy_of_examples(root)
        (root / "work.vgl").write_text(text, encoding="utf-8")
        print(f"language server, a policy of {text.count(chr(10))} lines, no runs")
        with Client(root, text, pulls=False) as client:
            _report("diagnostics after a keystroke, the first", _first_shown(client), 0.05)
        with Client(root, text, pulls=True) as client:
            _report("diagnostics after a keystroke, complete", _complete(client), 0.05)
            _report("hover", _hovers(client), 0.02)
            _report("completion after a keystroke", _completions(client), 0.02)
        _record(root, 0)
        (root / "vigil.toml").write_text('runs = ["runs/*.jsonl"]\n', encoding="utf-8")
        text += "".join(OWN.format(n=n) for n in range(15, 145 - text.count("\nstatement ") // 2))
        (root / "work.vgl").write_text(text, encoding="utf-8")
        print(f"{text.count(chr(10) + 'statement ')} statements beside 20 runs of 200 events")
        _read_again(text)
        with Client(root, text, pulls=False) as client:
            _report("diagnostics after a keystroke, the first", _first_shown(client), 0.05)
        with Client(root, text, pulls=True) as client:
            _settle(client)
            complete = _complete(client)
            _report("diagnostics after a keystroke, complete", complete, 0.1)
            _report("the same", complete, 0.05, 0.5)
            _report("hover", _hovers(client), 0.02)
            _report("completion after a keystroke", _completions(client), 0.02)
            _report("match counts after a keystroke", _counts(client), 0.3)
            _report("completion while the runs are read anew", _disturbed(client, root), 0.02)
            own, others = client.memory()
            mark = "ok  " if own + others <= 200 else "MISS"
            what = "memory of the server and its process"
            print(f"{what:<58}{own + others:8.1f} MB  target     200 MB  {mark:<11}{own:.0f} + {others:.0f}")


def _read_again(text: str) -> None:
    """Reading a policy after a key at its top, in this process, beside reading it from nothing."""
    memory, own, whole = Memory(), [], []
    place = text.index("\npattern ") + len("\npattern ")
    for number in range(40):
        source = Source("work.vgl", f"{text[:place]}x{text[place:]}" if number % 2 else text)
        for times, known in ((own, memory), (whole, None)):
            started = time.perf_counter()
            parse(source, known)
            times.append(time.perf_counter() - started)
    again, anew = sorted(own)[20], sorted(whole)[20]
    row(
        "  reading it after a key at its top", again, 0.02, f"{again / anew:.2f} of reading {len(text) // 1000} kB anew"
    )


def _report(what: str, times: list[float], target: float | None, share: float = 0.99) -> None:
    ordered = sorted(times)
    middle, late = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * share))]
    note = f"median {middle * 1000:.1f} ms, slowest of {len(ordered)}: {ordered[-1] * 1000:.1f} ms"
    row(f"  {what}, p{share * 100:.0f}", late, target, note)


def _keystrokes(client: Client, measure: Callable[[int], float], count: int | None = None) -> list[float]:
    """Types letters, each of which the next keystroke takes back; `measure` waits for what comes of either."""
    chosen = random.Random(1)
    places = [
        at
        for at in range(len(client.text))
        if client.text.startswith(("action", "read", "status", "message", "path"), at)
    ]
    times = []
    for number in range((count or KEYSTROKES) // 2):
        place = chosen.choice(places) + 1
        client.type(place, 0, "x" if number % 3 else "(")
        times.append(measure(place + 1))
        time.sleep(PAUSE)
        client.type(place, 1, "")
        times.append(measure(place))
        time.sleep(PAUSE)
    return times


def _first_shown(client: Client) -> list[float]:
    def measure(_: int) -> float:
        started = time.perf_counter()

        def shown(message: Message) -> bool:
            method, params = message.get("method"), message.get("params")
            return method == "textDocument/publishDiagnostics" and params["version"] == client.version

        return client.until(shown)[0] - started

    return _keystrokes(client, measure)


def _complete(client: Client) -> list[float]:
    return _keystrokes(client, lambda _: client.timed("textDocument/diagnostic", client.document))


def _completions(client: Client, count: int | None = None) -> list[float]:
    return _keystrokes(client, lambda place: client.timed("textDocument/completion", client.at(place)), count)


def _hovers(client: Client) -> list[float]:
    chosen = random.Random(2)
    times = []
    for _ in range(KEYSTROKES):
        times.append(client.timed("textDocument/hover", client.at(chosen.randrange(len(client.text)))))
        time.sleep(0.005)
    return times


def _shown_count(client: Client, line: int) -> str:
    """The count that stands beside the pattern in a line."""
    bounds = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
    hints = client.call("textDocument/inlayHint", {**client.document, "range": bounds}) or []
    labels = [hint["label"] if isinstance(hint["label"], str) else hint["label"][0]["value"] for hint in hints]
    return next((label for label in labels if label.split()[0].isdigit()), "")


def _counts(client: Client) -> list[float]:
    """From a keystroke that changes what a pattern matches to the new count, asked for when the server says so."""
    at = client.text.index("module_0.py") + len("module_")
    line = client.text[:at].count("\n")

    def until_it_is(wanted: Callable[[str], bool]) -> str:
        end = time.perf_counter() + PATIENCE
        while not wanted(found := _shown_count(client, line)):
            if time.perf_counter() > end:
                raise RuntimeError(f"the count stays {found!r}")
            client.until(lambda message: message.get("method") == "workspace/inlayHint/refresh")
        return found

    times, shown = [], until_it_is(bool)
    for number in range(KEYSTROKES // 3):
        client.type(at, 1, "1" if number % 2 == 0 else "0")
        started = time.perf_counter()
        before = shown
        shown = until_it_is(lambda found, before=before: found not in ("", before))
        times.append(time.perf_counter() - started)
        time.sleep(PAUSE)
    return times


def _disturbed(client: Client, root: Path) -> list[float]:
    """Typing goes on while all runs are others."""
    times = []
    for number in range(1, 6):
        _record(root, number)
        events = [{"uri": path.as_uri(), "type": 2} for path in (root / "runs").iterdir()]
        client.notify("workspace/didChangeWatchedFiles", {"changes": events})
        times += _completions(client, 40)
    return times


def _record(root: Path, shift: int) -> None:
    """Twenty runs of 200 events, others for each shift."""
    (root / "runs").mkdir(exist_ok=True)
    for run in range(20):
        lines = run_lines(200 + run + shift)[run + shift :]
        (root / "runs" / f"r{run}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _settle(client: Client) -> None:
    """Waits until the runs are known: the first pattern has its count."""
    line = client.text[: client.text.index("pattern ")].count("\n")
    end = time.perf_counter() + PATIENCE
    while not _shown_count(client, line):
        if time.perf_counter() > end:
            raise RuntimeError("the runs were never read")
        time.sleep(0.1)
    time.sleep(1)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _children(pid: int) -> list[int]:
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            found += [child, *_children(child)]
    return found


if __name__ == "__main__":
    language_server()
