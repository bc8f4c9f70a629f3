"""A project with a skill and two runs, and a scripted model that drafts for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from messages_api import Fails, Says

if TYPE_CHECKING:
    from pathlib import Path

SKILL = """\
# Deploy helper

Deploys the service.

## Safety

- Always back up `config.yaml` before you change it.
- Never push with `--force`.
- You must run the tests before you deploy.
- Names must be clear to the reader.
"""

BAD = """\
{"event": "e1", "action": "write_file", "kinds": ["file.write"], "args": {"path": "/w/config.yaml"}, "status": "ok"}
{"event": "e2", "action": "run_tests", "args": {"suite": "all"}, "status": "ok"}
{"event": "e3", "action": "deploy", "args": {"cluster": "prod"}, "status": "ok"}
{"event": "e4", "action": "git_push", "args": {"branch": "main", "force": "true"}, "status": "ok"}
"""

GOOD = """\
{"event": "e1", "action": "copy_file", "kinds": ["file.copy"], "args": {"source": "/w/config.yaml", "target": "/w/b"}}
{"event": "e2", "action": "write_file", "kinds": ["file.write"], "args": {"path": "/w/config.yaml"}, "status": "ok"}
{"event": "e3", "action": "git_push", "args": {"branch": "main", "force": "false"}, "status": "ok"}
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call of the command came to."""

    status: int
    out: str
    err: str


Vigil: TypeAlias = Callable[..., Result]


def lay_out(folder: Path) -> None:
    """Write the project into a folder."""
    for name, text in {"SKILL.md": SKILL, "bad.jsonl": BAD, "good.jsonl": GOOD, "vigil.toml": ""}.items():
        (folder / name).write_text(text, encoding="utf-8")


# --- the model -----------------------------------------------------------------------------------------------------


def is_(*names: str) -> dict[str, Any]:
    """The action is one of these."""
    return {"of": "action", "test": "is", "argument": "", "values": list(names), "negated": False}


def argument(name: str, test: str, *values: str) -> dict[str, Any]:
    """A test of an argument."""
    return {"of": "argument", "test": test, "argument": name, "values": list(values), "negated": False}


def all_of(*tests: dict[str, Any]) -> dict[str, Any]:
    """A condition of one case."""
    return {"any": [{"all": list(tests)}]}


def requirement(name: str, form: str, trigger: dict[str, Any], guard: dict[str, Any] | None = None) -> dict[str, Any]:
    """A statement in the intermediate form, as the API's structured outputs have it: with every member."""
    parts = {"name": name, "says": f"It is {name}.", "form": form, "trigger": trigger, "guard": guard}
    return {**parts, "forbidden": None, "after": None, "bound": None}


def answer(outcome: str, *statements: dict[str, Any], reason: str = "") -> dict[str, Any]:
    """A reply about one clause."""
    return {"answers": [{"clause": "c1", "outcome": outcome, "reason": reason, "statements": list(statements)}]}


BACKUP = requirement(
    "backed_up",
    "prec",
    all_of(is_("file.write"), argument("path", "glob", "*/config.yaml"), argument("path", "same", "x")),
    all_of(is_("file.copy"), argument("source", "same", "x")),
)
PUSH = requirement("no_force_push", "abs", all_of(is_("git_push"), argument("force", "is", "true")))
TESTED = requirement("tested", "prec", all_of(is_("deploy")), all_of(is_("run_tests")))

GOOD_ANSWERS = {
    "back up": answer("statements", BACKUP),
    "--force": answer("statements", PUSH),
    "run the tests": answer("statements", TESTED),
    "must be clear": answer("unsupported", reason="what is clear does not show in a call"),
}


def model(answers: dict[str, Any], **more: Any) -> Callable[[dict[str, Any]], Says | Fails]:
    """A model that knows an answer by a few words of the clause; `more` as for `Says`."""

    def say(body: dict[str, Any]) -> Says | Fails:
        asked = json.dumps(body["messages"][0]["content"])
        found = [answer for words, answer in answers.items() if words in asked]
        if len(found) != 1:
            return Fails(400, f"{len(found)} answers fit")
        return found[0] if isinstance(found[0], Says | Fails) else Says(json.dumps(found[0]), **more)

    return say
