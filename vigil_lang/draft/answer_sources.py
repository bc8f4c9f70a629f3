"""Drafts from stored answers or from a model."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.base.files import read_bytes
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.draft import schema, store
from vigil_lang.draft.api.budget import Budget
from vigil_lang.draft.api.client import Client
from vigil_lang.draft.clause_result import PolicyDocument
from vigil_lang.draft.drafting import SILENT, DraftPlan, draft, from_document
from vigil_lang.draft.parallel_requests import ModelAsker
from vigil_lang.draft.prompting import prompt
from vigil_lang.engines.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vigil_lang.draft.api.models import ModelSettings
    from vigil_lang.draft.clause_result import Draft
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.conversations import Progress
    from vigil_lang.draft.prompting.vocabulary import Vocabulary
    from vigil_lang.draft.reports.report import Origin
    from vigil_lang.trace import Signature, Trace


@dataclass(frozen=True, slots=True)
class Task:
    """What to draft, and what to check the statements against."""

    clauses: Clauses
    signature: Signature
    runs: Sequence[Trace]
    vocabulary: Vocabulary
    plan: DraftPlan = field(default_factory=DraftPlan)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a model may be asked: its limit in USD, and which use is made of stored drafts.

    `offline` asks nobody; `stored` reads and writes stored drafts; `refresh` reads none.
    """

    settings: ModelSettings
    limit: float | None = None
    offline: bool = False
    stored: bool = True
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class Obtained:
    """A draft, the origin of its answers, and the file that keeps them, if any."""

    draft: Draft
    origin: Origin
    made_of: store.MadeOf
    path: Path | None = None


def made_of(task: Task, settings: ModelSettings) -> store.MadeOf:
    """What a draft of a model depends on here.

    The form of its answers is part of the prompt, and so is whether clauses share a conversation.
    """
    shared = task.plan.batch > 1
    asked = hashlib.sha256(msgspec.json.encode([prompt.VERSION, schema.for_model(), shared], order="deterministic"))
    # What is said of a vocabulary that was cut is sent, too.
    vocabulary = prompt.about(task.vocabulary)
    return store.made_of(task.clauses.clauses, vocabulary, asked.hexdigest(), settings.model, settings.effort)


def check_model(clauses: Clauses | None, terms: Terms) -> None:
    """See that a model can be asked before runs are read for it, unless stored answers may do; None: for any clauses.

    Raises:
        InputError: VGL612, the model cannot be asked: there is no key, for instance.
    """
    asked = None if clauses is None else clauses.clauses
    may_do = terms.stored and not terms.refresh
    if terms.offline or (may_do and store.may_hold(asked, terms.settings.model, terms.settings.effort)):
        return
    Client(terms.settings).close()


def obtain(
    task: Task,
    terms: Terms,
    progress: Progress = SILENT,
    delayed: Callable[[str, float], None] = lambda *_: None,
) -> Obtained:
    """A draft: a stored one that has the same inputs and still passes all checks, else a model's.

    `delayed` is told why a request is made again, and in how many seconds.

    Raises:
        InputError: VGL614, nothing is stored and nobody may be asked; VGL612, the model cannot be asked; VGL613, there
            is a limit, and prices are not known.
    """
    of = made_of(task, terms.settings)
    found = store.load(of) if terms.stored and not terms.refresh else None
    if found is not None:
        document = PolicyDocument(found.stored.answers)
        again = from_document(document, task.clauses, task.signature, task.runs, task.plan, progress)
        again = store.restored(again, found.stored)
        tried = store.tried(found.stored, task.plan.rounds, terms.settings.max_tokens)
        if terms.offline or (store.still_good(again, found.stored) and tried):
            return Obtained(again, "stored", of, found.path)
    if terms.offline:
        raise InputError([_nothing_stored(of, task)])
    made = _asked(task, terms, progress, delayed)
    path = store.save(of, made, _texts(task.clauses), terms.settings.max_tokens) if terms.stored else None
    return Obtained(made, "model", of, path)


def _asked(task: Task, terms: Terms, progress: Progress, delayed: Callable[[str, float], None]) -> Draft:
    with Client(terms.settings, Budget.of(terms.limit, terms.settings), delayed=delayed) as client:
        asker = ModelAsker(client, terms.settings.max_tokens, prompt.system(), schema.for_model())
        return draft(task.clauses, task.vocabulary, task.signature, task.runs, asker, task.plan, progress)


def _texts(clauses: Clauses) -> dict[str, bytes]:
    """The contents of the documents that can still be read, by name."""
    texts: dict[str, bytes] = {}
    for name, file in zip(clauses.documents, clauses.files, strict=True):
        with suppress(OSError, ValueError):
            texts[name] = read_bytes(file)
    return texts


def _nothing_stored(of: store.MadeOf, task: Task) -> Diagnostic:
    """The error where no stored draft fits; it says how the nearest one differs."""
    near = store.nearest(of)
    if near is None:
        said = "nothing is stored at all"
    else:
        made = near.stored
        named = ", ".join(made.documents) or "some document"
        differs = of.differences(made.made_of)
        said = f"the nearest one, of {named} on {made.made[:10]}, differs in {listed(differs)}"
    source = Source(task.clauses.files[0] if task.clauses.files else "", "")
    help_text = f"{said}; without --offline the model is asked"
    return Diagnostic.of("VGL614", "no stored draft fits these clauses, runs and model", source, help=help_text)
