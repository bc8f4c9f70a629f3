"""AgentDojo's recordings with what the attacker planted between `<untrusted>` and `</untrusted>`.

`python tests/benchmarks/mark_planted.py DATA FOLDER`

DATA is a folder of JSON Lines, one run an object with `events` and what was planted (`injections`). FOLDER gets files
of the same names. It is an oracle: only a recording knows what was planted.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any


def marked(run: dict[str, Any]) -> dict[str, Any]:
    """The run with what the attacker planted between `<untrusted>` and `</untrusted>`."""
    planted = [_loosely(text) for text in run["injections"].values() if re.search(r"\w", text)]
    events = []
    for event in run["events"]:
        output = re.sub("<(?=/?untrusted>)", "&lt;", event["output"])
        for text in planted:
            output = text.sub(lambda found: f"<untrusted>{found.group()}</untrusted>", output)
        events.append(event | {"output": output})
    return run | {"events": events}


def _loosely(text: str) -> re.Pattern[str]:
    """A text however a tool wrapped, indented and quoted it."""
    return re.compile(r"(?:\\n|[\W_])*?".join(re.findall(r"[^\W_]+", text)))


def main(data: str, folder: str) -> None:
    """Write the marked recordings."""
    for path in sorted(Path(data).glob("*.jsonl")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        text = "".join(json.dumps(marked(row), ensure_ascii=False) + "\n" for row in rows)
        (Path(folder) / path.name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
