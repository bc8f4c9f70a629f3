"""`vigil draft --eval`: drafts held against gold policies, to compare prompts and models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vigil_lang.base.outputs import check_outputs
from vigil_lang.cli.draft_common import answers_in, drafted, plan_of, taken
from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.output import console, written
from vigil_lang.draft.evaluation.evaluate import evaluate
from vigil_lang.draft.evaluation.gold import stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.cli.draft_options import Options
    from vigil_lang.draft.answer_sources import Task
    from vigil_lang.draft.clause_result import Draft
    from vigil_lang.draft.evaluation.gold import Gold
    from vigil_lang.project.settings import Settings


def show_evaluation(options: Options, project: Settings) -> int:
    """Draft for every gold policy of a folder, by a model or from `draft.json` files, and write how they compare.

    Raises:
        click.UsageError: there is no such folder.
        InputError: something cannot be read, or the model cannot be asked.
    """
    folder = str(options.eval_dir)
    for name, given in (("--eval", folder), ("--from-json", options.from_json)):
        if given is not None and not Path(given).is_dir():
            raise click.UsageError(f"{name}: there is no folder '{given}'.")
    draft_of = _from_answers(options, project, folder) if options.from_json is not None else _asked(options, project)
    evaluation = evaluate(folder, draft_of)
    with written(options.output or "-") as target:
        if options.format == "json":
            from vigil_lang.diagnostics.visible import safe_json
            from vigil_lang.draft.evaluation.evaluation_report import evaluation_json

            print(safe_json(evaluation_json(evaluation)), file=target)
        else:
            from vigil_lang.draft.evaluation.evaluation_report import print_evaluation

            print_evaluation(evaluation, console(target))
    return CLEAN


def _from_answers(options: Options, project: Settings, folder: str) -> Callable[[Gold], Draft | None]:
    """Drafts from the answers that lie at the same places below another folder."""
    from vigil_lang.draft.drafting import from_document

    def draft_of(gold: Gold) -> Draft | None:
        path = stored(str(options.from_json), folder, gold)
        if path is None:
            return None
        task = _task(gold, options, project)
        return from_document(answers_in(path), task.clauses, task.signature, task.runs, task.plan)

    return draft_of


def _asked(options: Options, project: Settings) -> Callable[[Gold], Draft | None]:
    """Drafts of the model. The limit on what they cost is one for all of them."""
    from vigil_lang.draft.answer_sources import check_model

    terms = options.terms(project)
    check_model(None, terms)
    spent = 0.0

    def draft_of(gold: Gold) -> Draft | None:
        nonlocal spent
        check_outputs(options.output)  # all gold policies were read, and nobody was asked yet
        left = None if terms.limit is None else max(terms.limit - spent, 0.0)
        task = _task(gold, options, project, limited=left is not None)
        found = drafted(task, replace(terms, limit=left))
        spent += found.draft.usage.cost or 0.0
        return found.draft

    return draft_of


def _task(gold: Gold, options: Options, project: Settings, *, limited: bool = False) -> Task:
    """What is to be drafted in place of a gold policy: its documents, in the vocabulary of the runs beside it."""
    from vigil_lang.draft.answer_sources import Task
    from vigil_lang.draft.clauses import read_clauses
    from vigil_lang.draft.prompting import vocabulary as names
    from vigil_lang.project.recordings import vocabulary
    from vigil_lang.trace import observe

    signature = vocabulary(options.signatures, gold.runs) or observe(())
    plan = plan_of(project, gold.path, options.rounds, options.batch, limited=limited)
    clauses = read_clauses(gold.documents, gold.path, taken(options.take, project))
    return Task(clauses, signature, gold.runs, names.describe(signature, gold.runs), plan)
