"""A scripted model that reads what it is sent: it finds the clauses in a request and answers for each as it is told."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from draft_requirements import any_of, arg, called
from messages_api import MessagesAPI, Says

from vigil_lang import Event, Trace
from vigil_lang.draft import schema
from vigil_lang.draft.api.client import Client
from vigil_lang.draft.api.models import ModelSettings, Prices
from vigil_lang.draft.clause_result import Draft, Entry, Requirement
from vigil_lang.draft.clauses import Clauses, read_clauses
from vigil_lang.draft.drafting import DraftPlan, draft
from vigil_lang.draft.parallel_requests import ModelAsker
from vigil_lang.draft.prompting import prompt
from vigil_lang.draft.prompting.vocabulary import describe
from vigil_lang.syntax.print import to_text
from vigil_lang.trace import observe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Answer: TypeAlias = dict[str, Any]
SETTINGS = ModelSettings("claude-test", prices=Prices(4, 20), retries=0, max_tokens=4000)

DOCUMENT = """\
# Releases

## Rules

- Never delete files under `data/`.
- Always run the tests before you publish a package.
- Do not rewrite the history of `main`.
- Submit a job at most 3 times.
- You must keep the code tidy.
"""

NO_DELETION = Requirement(
    "data_stays",
    "Nothing under `data/` is deleted.",
    "abs",
    any_of(called("file.delete", arg("path", "regex", "(^|/)data/"))),
)
TESTS_FIRST = Requirement(
    "tests_first",
    "A package is published only after the tests.",
    "prec",
    any_of(called("package.publish")),
    any_of(called("test.run")),
)
HISTORY = Requirement(
    "history_stays",
    "The history of `main` is not rewritten.",
    "abs",
    any_of(called("git.rewrite", arg("revision", "is", "main"))),
)
JOBS = Requirement(
    "three_jobs", "A job is submitted three times at most.", "atmost", any_of(called("job.submit")), bound="3"
)


def statements(*requirements: Requirement) -> Answer:
    """An answer with statements, as the API sends it: every member is there."""
    return {
        "outcome": "statements",
        "reason": "",
        "statements": [json.loads(msgspec.json.encode(requirement)) for requirement in requirements],
    }


def unsupported(reason: str = "Events do not show it.") -> Answer:
    return {"outcome": "unsupported", "reason": reason, "statements": []}


def not_normative(reason: str = "It asks nothing of the agent.") -> Answer:
    return {"outcome": "not_normative", "reason": reason, "statements": []}


GOOD: Mapping[str, Answer] = {
    "Never delete": statements(NO_DELETION),
    "Always run the tests": statements(TESTS_FIRST),
    "Do not rewrite": statements(HISTORY),
    "Submit a job": statements(JOBS),
    "keep the code tidy": unsupported("Tidiness leaves no trace."),
}


def event(at: int, action: str, kind: str, **args: str) -> Event:
    given = {name: (value,) for name, value in args.items()}
    return Event(f"e{at}", action, f"e{at}", given, "ok", None, (kind,))


RUNS = (
    Trace(
        (
            event(1, "pytest", "test.run"),
            event(2, "twine", "package.publish", package="a"),
            event(3, "rm", "file.delete", path="/srv/tmp/x"),
        )
    ),
    Trace((event(1, "twine", "package.publish", package="a"), event(2, "rm", "file.delete", path="/srv/data/x"))),
)


@dataclass
class Model:
    """Answers by what is in a clause's sentence: an answer, or several, one for each time it is asked.

    `spoken` is what it makes of everything it can read of a conversation, before it answers: None is to answer as told.
    """

    answers: Mapping[str, Answer | list[Answer | Says]]
    spoken: Callable[[str, list[str]], Says | dict[str, Any] | None] = lambda _text, _ids: None
    asked: list[list[str]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    _times: dict[str, int] = field(default_factory=dict)

    def __call__(self, body: dict[str, Any]) -> Says | dict[str, Any]:
        texts = MessagesAPI.texts(body)
        clauses = read(texts[0])
        self.asked.append([clause["sentence"] for clause in clauses])
        self.questions.append(json.dumps(body, sort_keys=True))
        obeyed = self.spoken("\n".join(texts), [clause["id"] for clause in clauses])
        if obeyed is not None:
            return obeyed
        found: list[Answer] = []
        for clause in clauses:
            answer = self._answer(clause["sentence"])
            if isinstance(answer, Says):
                return answer
            found.append({"clause": clause["id"], **answer})
        return {"answers": found}

    def _answer(self, sentence: str) -> Answer | Says:
        key = next(key for key in self.answers if key in sentence)
        answer = self.answers[key]
        if isinstance(answer, list):
            time = self._times.get(key, 0)
            self._times[key] = time + 1
            return answer[min(time, len(answer) - 1)]
        return answer


def read(question: str) -> list[dict[str, Any]]:
    """The clauses in the first message of a conversation."""
    found = re.search(r"<clauses>\s*(.*?)\s*</clauses>", question, re.DOTALL)
    assert found is not None
    clauses: list[dict[str, Any]] = json.loads(found[1])
    return clauses


def clauses_of(folder: Path, text: str = DOCUMENT) -> Clauses:
    """The clauses of a document, for a policy beside it."""
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return read_clauses([str(folder / "SKILL.md")], str(folder / "policy.vgl"))


def drafted(
    api: MessagesAPI,
    folder: Path,
    model: Model | Callable[[dict[str, Any]], Any],
    text: str = DOCUMENT,
    settings: ModelSettings = SETTINGS,
    **plan: Any,
) -> Draft:
    """A draft of a document by a scripted model."""
    clauses = clauses_of(folder, text)
    api.script(model)
    signature = observe(RUNS)
    with Client(settings) as client:
        asker = ModelAsker(client, settings.max_tokens, prompt.system(), schema.for_model())
        whole = DraftPlan(path=str(folder / "policy.vgl"), **plan)
        return draft(clauses, describe(signature, RUNS), signature, RUNS, asker, whole)


def by_sentence(found: Draft) -> dict[str, Entry]:
    return {entry.clause.text: entry for entry in found.entries}


def said(entry: Entry) -> tuple[object, ...]:
    """All that an entry says but for where its clause stands among the others."""
    written = tuple((to_text(one.statement), one.run_counts, one.notes, one.requirement) for one in entry.statements)
    return entry.clause.text, entry.outcome, written, entry.reason, entry.cause, entry.problems, entry.rounds
