"""A corpus in a folder: its file, a policy, runs that break it or not, and labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vigil_lang.evaluation.corpus import read_corpus
from vigil_lang.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from vigil_lang.evaluation.evaluate import Evaluation

POLICY = 'statement S: abs(bad(x = "1"))\n\nstatement T: prec(use(), make())\n'
BASIC = 'policies = ["p.vgl"]\nruns = ["runs"]\nlabels = ["labels.jsonl"]\n'


def run_of(*actions: str) -> str:
    """A run in Vigil's own format; `bad` has the argument that the policy asks for."""
    lines = [{"action": action, "args": {"x": "1"} if action == "bad" else {}, "status": "ok"} for action in actions]
    return "".join(json.dumps(line) + "\n" for line in lines)


def corpus_in(
    folder: Path,
    runs: Mapping[str, str],
    labels: Iterable[tuple[str, str] | dict[str, Any]] = (),
    text: str = BASIC,
    policy: str = POLICY,
) -> Path:
    """Writes a corpus, and gives the path of its file. A label is a run and what is true of it."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "p.vgl").write_text(policy, encoding="utf-8")
    for name, content in runs.items():
        (folder / "runs" / name).write_text(content, encoding="utf-8")
    rows = [row if isinstance(row, dict) else {"run": row[0], "label": row[1]} for row in labels]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / "corpus.toml"
    path.write_text(text, encoding="utf-8")
    return path


def evaluated(path: Path, **how: Any) -> Evaluation:
    """A corpus evaluated in this process."""
    return evaluate(read_corpus(str(path)), jobs=1, **how)
