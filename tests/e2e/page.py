"""`python -m tests.e2e.page`: how each case ended when it was last played, as `results.json` and in docs/e2e.md."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.e2e import install_hosts
from tests.e2e.host_cases import CASES
from tests.e2e.hosts import HOSTS

PARTS = install_hosts.PROGRAMS / "results"
"""What each case found, a file each, while a run is under way."""
RESULTS = Path(__file__).with_name("results.json")
FILE = install_hosts.ROOT / "docs" / "e2e.md"
TEMPLATE = Path(__file__).with_name("page.md")
_SHOWN = {"holds": "yes", "fails": "**no**", "cannot": "–", "not run": "not run"}


def record(host: str, case: str, outcome: str, why: str = "") -> None:
    """Keeps how a case ended."""
    PARTS.mkdir(parents=True, exist_ok=True)
    found = {"outcome": outcome, "why": why}
    (PARTS / f"{host}-{case}.json").write_text(json.dumps(found), encoding="utf-8")


def collected() -> dict[str, Any]:
    """What the cases found, of all hosts."""
    cases = []
    for case in CASES.values():
        results = {}
        for host in HOSTS:
            part = PARTS / f"{host}-{case.name}.json"
            results[host] = json.loads(part.read_text("utf-8")) if part.exists() else {"outcome": "not run", "why": ""}
        cases.append({"name": case.name, "says": case.says, "results": results})
    versions = {name: install_hosts.KNOWN[host.program].version for name, host in HOSTS.items()}
    hosts = {name: {"title": HOSTS[name].title, "version": version} for name, version in versions.items()}
    return {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "hosts": hosts, "cases": cases}


def written(found: dict[str, Any]) -> str:
    """The page."""
    hosts = found["hosts"]
    rows = [
        ["", *(f"{host['title']} {host['version'].partition('-')[0]}" for host in hosts.values())],
        ["---", *(["---"] * len(hosts))],
    ]
    notes: dict[str, None] = {}
    for case in found["cases"]:
        cells = []
        for name, result in case["results"].items():
            cell = _SHOWN[result["outcome"]]
            if result["outcome"] == "cannot":
                note = f"{hosts[name]['title']}: {result['why']}"
                notes.setdefault(note)
                cell += f" ({list(notes).index(note) + 1})"
            cells.append(cell)
        rows.append([case["says"], *cells])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    listed = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{date}", found["date"]).replace("{table}", table).replace("{notes}", listed).rstrip() + "\n"


def main() -> int:
    """Write both files; gives 1 where a case fails."""
    found = collected()
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    FILE.write_text(written(found), encoding="utf-8")
    outcomes = [result["outcome"] for case in found["cases"] for result in case["results"].values()]
    print(", ".join(f"{outcomes.count(each)} {each}" for each in _SHOWN if each in outcomes))
    return 1 if "fails" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
