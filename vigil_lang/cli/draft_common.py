"""What the verbs that draft have in common: how a model may be asked, and where a draft may be written."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from vigil_lang.diagnostics import InputError
from vigil_lang.project.drafting import EFFORTS, TAKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.draft.answer_sources import Obtained, Task, Terms
    from vigil_lang.draft.clause_result import PolicyDocument
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.drafting import DraftPlan
    from vigil_lang.draft.reports.report import Report
    from vigil_lang.draft.second_reader import SecondReading
    from vigil_lang.project.drafting import Effort, Taken
    from vigil_lang.project.settings import Settings

_NAMED = 80
# Files whose name says what they are and not what they are about: the folder does.
_GENERIC = frozenset({"agents", "claude", "draft", "index", "policies", "policy", "readme", "rules", "skill"})


class _Dollars(click.FloatRange):
    """An amount above nothing that has an end: no cost passes what is not a number, and none reaches infinity."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        amount: float = super().convert(value, param, ctx)
        if not math.isfinite(amount):
            self.fail(f"{value} is no amount of money.", param, ctx)
        return amount


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The value, if it is an address of HTTP. It may hold a password, so no message repeats it."""
    from urllib.parse import urlsplit

    if value is None:
        return None
    try:
        parts = urlsplit(value)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise click.BadParameter("that is no address of HTTP, such as https://gateway.example.", ctx, param)
    return value


def take_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--take`: which sentences that state no obligation are clauses, too."""
    return click.option(
        "--take", type=click.Choice((*TAKEN, "none")), multiple=True,
        help="What to draft besides obligations, by its reason (repeatable); without it `step` and `language`.",
    )(command)  # fmt: skip


def taken(reasons: Sequence[str], project: Settings) -> tuple[Taken, ...]:
    """What is drafted beside obligations, by the options or else the configuration.

    Raises:
        click.UsageError: for `none` beside a reason.
    """
    if "none" in reasons and len(set(reasons)) > 1:
        raise click.UsageError("--take none goes without another --take.")
    return tuple(reason for reason in TAKEN if reason in reasons) if reasons else project.draft.take


def no_obligation(clauses: Clauses) -> str:
    """That documents have no clause, and which option would give some."""
    steps = sum(other.why == "step" for other in clauses.others)
    hint = f" (--take step takes {steps} instruction{'s' * (steps != 1)})" if steps else ""
    return f"No sentence of {', '.join(clauses.files[:3])} states an obligation{hint}"


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what says how a model may be asked."""
    for option in reversed(
        (
            click.option("--model", metavar="NAME", help="The model that drafts."),
            click.option("--effort", type=click.Choice(EFFORTS), help="How much effort the model makes."),
            click.option(
                "--rounds", type=click.IntRange(0, 10), metavar="N",
                help="How often what the checks find goes back to the model; 2.",
            ),
            click.option(
                "--batch", type=click.IntRange(1, 100), default=1, metavar="N",
                help="How many clauses share a conversation; 1, so that none can change another's answer.",
            ),
            click.option(
                "--max-cost", type=_Dollars(0, min_open=True), metavar="USD",
                help="Stop asking before the cost can exceed this.",
            ),
            click.option(
                "--base-url", callback=_address, metavar="URL", help="Where the Messages API is; ANTHROPIC_BASE_URL."
            ),
            click.option(
                "--second-reader/--no-second-reader", default=True,
                help="Let the model add clauses that the patterns miss; on by default.",
            ),
            click.option("--offline", is_flag=True, help="Ask no model; use stored answers alone."),
            click.option("--refresh", is_flag=True, help="Ask the model even if answers are stored, and replace them."),
            click.option("--no-cache", is_flag=True, help="Neither use nor store answers."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def terms_of(
    project: Settings,
    *,
    model: str | None,
    effort: str | None,
    max_cost: float | None,
    base_url: str | None,
    offline: bool,
    refresh: bool,
    no_cache: bool,
) -> Terms:
    """How a model may be asked, by the command line first and the configuration second.

    Raises:
        click.UsageError: the options contradict each other.
        InputError: VGL613, the prices that are set are not complete, or there is a limit and no price.
    """
    from vigil_lang.draft.answer_sources import Terms
    from vigil_lang.draft.api.budget import Budget
    from vigil_lang.draft.api.models import model_settings

    if offline and (refresh or no_cache):
        other = "--refresh" if refresh else "--no-cache"
        raise click.UsageError(f"--offline uses stored answers and {other} does not: choose one.")
    if refresh and no_cache:
        raise click.UsageError("--refresh stores answers and --no-cache does not: choose one.")
    settings = model_settings(project.draft, model=model, effort=cast("Effort | None", effort), base_url=base_url)
    limit = max_cost if max_cost is not None else project.draft.max_cost
    if not offline:
        Budget.of(limit, settings)  # whoever set a limit that cannot be kept learns it before runs are read
    return Terms(settings, limit, offline, not no_cache, refresh)


def plan_of(
    project: Settings, path: str | None, rounds: int | None, batch: int = 1, *, limited: bool = False
) -> DraftPlan:
    """How to draft for a policy at a path; with a limit on the cost one question is asked after the other."""
    from vigil_lang.draft.drafting import DraftPlan

    plan = DraftPlan(rounds=project.draft.rounds if rounds is None else rounds, batch=batch)
    if limited:
        plan = replace(plan, parallel=1)
    return plan if path is None or path == "-" else replace(plan, path=path)


def reader_of(clauses: Clauses, terms: Terms, *, second: bool) -> Callable[[DraftPlan], SecondReading]:
    """What reads the documents a second time, if that is wanted. It is seen now that the model can be asked.

    Raises:
        InputError: VGL612, the model cannot be asked.
    """
    from vigil_lang.draft.answer_sources import check_model
    from vigil_lang.draft.second_reader import SecondReading, known, second_reading

    found = known(clauses, terms) if second else SecondReading(clauses)
    if found is not None:
        check_model(found.clauses, terms)
    else:
        check_model(None, replace(terms, refresh=True))  # it has to be asked, whatever else is stored

    def read(plan: DraftPlan) -> SecondReading:
        if found is not None:
            return found
        from vigil_lang.cli.progress import waiting

        with waiting(terms.settings.model, 0) as told:
            return second_reading(clauses, terms, plan.parallel, told.received, told.delayed)

    return read


def drafted(task: Task, terms: Terms, reading: SecondReading | None = None) -> Obtained:
    """A draft, with its progress on standard error where a person watches. Raises as `obtain` does.

    What a second reading took is part of the draft's cost and of its limit.
    """
    from vigil_lang.cli.progress import waiting
    from vigil_lang.draft.answer_sources import obtain

    usage = None if reading is None else reading.usage
    if usage is not None and terms.limit is not None:
        terms = replace(terms, limit=max(terms.limit - (usage.cost or 0.0), 0.0))
    with waiting(terms.settings.model, len(task.clauses.clauses)) as told:
        found = obtain(task, terms, told, told.delayed)
    if reading is None:
        return found
    draft = found.draft
    notes = (*((reading.note,) if reading.note else ()), *draft.notes)
    whole = draft.usage if usage is None else usage + draft.usage
    return replace(found, draft=replace(draft, usage=whole, problems=(*reading.problems, *draft.problems), notes=notes))


def answers_in(path: str) -> PolicyDocument:
    """The answers of a PolicyDocument that somebody has filled in.

    Raises:
        InputError: it cannot be read, or is none.
    """
    from vigil_lang.base.files import read_source
    from vigil_lang.draft.document import MAX_CHARACTERS, read_document
    from vigil_lang.draft.skeleton import filled_in

    return filled_in(read_document(read_source(path, 4 * MAX_CHARACTERS)))


def policy_name(wanted: str | None, output: str | None, specs: Sequence[str]) -> str:
    """What the policy is called: as wanted, else as its file or its document is.

    Raises:
        click.UsageError: the wanted one is no name.
    """
    from vigil_lang.draft.building import compose

    if wanted is not None:
        name = compose.policy_name(wanted)
        if name != wanted:
            raise click.UsageError(f"--name: '{wanted}' cannot be the name of a policy; '{name}' can.")
        return name
    document = Path(specs[0]).absolute()
    stems = [] if output is None or output == "-" else [Path(output).stem]
    stems += [document.stem if document.suffix else document.name, document.parent.name]
    return compose.policy_name(next((stem for stem in stems if stem.lower() not in _GENERIC), stems[0]))


def refuse_to_overwrite(path: str | None, option: str, *, force: bool) -> None:
    """See that a file can be written before a model is paid for what goes into it.

    Raises:
        click.UsageError: it is there, and may hold somebody's work.
        InputError: VGL004, it cannot be written.
    """
    if path is None or path == "-":
        return
    from vigil_lang.diagnostics import Diagnostic, Source

    place = Path(path)
    try:
        if (place.is_file() or place.is_symlink()) and not force:
            message = f"{option}: '{path}' is there already and may have been worked on; --force replaces it."
            raise click.UsageError(message)
        folder = place.absolute().parent
        reason = (
            "is a directory" if place.is_dir()
            else "no such directory" if path.endswith(("/", os.sep))
            else "no such file or directory" if not folder.is_dir()
            else "permission denied" if not os.access(folder, os.W_OK)
            else None
        )  # fmt: skip
    except (OSError, ValueError) as error:
        reason = str(error)
    if reason is not None:
        raise InputError([Diagnostic.of("VGL004", f"cannot write `{path}`: {reason}", Source(path, ""))])


def header(report: Report) -> str:
    """What stands at the top of a drafted policy: what it was made from, and that nobody has looked at it yet."""
    from vigil_lang.draft.reports.report import many

    documents = ", ".join(report.draft.documents)
    if len(documents) > _NAMED:
        documents = many(len(report.draft.documents), "document")
    if report.origin == "document":
        by = f"with the answers of {report.source}"
    else:
        by = f"by {report.draft.model or 'a model'}"
    return f"Drafted from {documents} {by}.\nTo be reviewed: read each statement beside its sentence."
