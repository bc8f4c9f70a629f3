"""The command line of `vigil draft`, and what of it goes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from vigil_lang.cli.draft_common import terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.draft.answer_sources import Terms
    from vigil_lang.project.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line, as the verb declares it."""

    specs: tuple[str, ...]
    runs: tuple[str, ...]
    allow_empty: bool
    signatures: tuple[str, ...]
    output: str | None
    force: bool
    name: str | None
    report: str | None
    show_prompt: bool
    skeleton: bool
    from_json: str | None
    eval_dir: str | None
    take: tuple[str, ...]
    cached: bool
    config: str | None
    isolated: bool
    format: Literal["human", "json", "markdown"]
    model: str | None
    effort: str | None
    rounds: int | None
    batch: int
    max_cost: float | None
    base_url: str | None
    second_reader: bool
    offline: bool
    refresh: bool
    no_cache: bool

    def terms(self, project: Settings) -> Terms:
        """How a model may be asked. Raises as `terms_of` does."""
        return terms_of(
            project,
            model=self.model,
            effort=self.effort,
            max_cost=self.max_cost,
            base_url=self.base_url,
            offline=self.offline,
            refresh=self.refresh,
            no_cache=self.no_cache,
        )


def refuse_contradictions(options: Options) -> None:
    """See that the options go together.

    Raises:
        click.UsageError: two of them contradict each other, or one would do nothing.
    """
    modes = {
        "--skeleton": options.skeleton,
        "--show-prompt": options.show_prompt,
        "--cached": options.cached,
        "--eval": options.eval_dir is not None,
        "--from-json": options.from_json is not None,
    }
    chosen = [mode for mode, given in modes.items() if given]
    if len(chosen) > 1 and chosen != ["--eval", "--from-json"]:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} cannot be used together: choose one.")
    needs_documents = not (options.cached or options.eval_dir is not None)
    if needs_documents and not options.specs:
        raise click.UsageError("There is no document to draft from: vigil draft SKILL.md --trace run.jsonl")
    if not needs_documents and options.specs:
        raise click.UsageError(f"{chosen[0]} goes without documents.")
    if options.report is not None and chosen and chosen != ["--from-json"]:
        raise click.UsageError(f"{chosen[0]} makes no report: it goes without --report.")
    if options.eval_dir is not None and options.runs:
        raise click.UsageError("--eval goes without --trace: the runs are those beside each gold policy.")
    if options.format == "markdown" and (options.skeleton or options.show_prompt or not needs_documents):
        raise click.UsageError(f"{chosen[0]} goes without --format markdown.")
    if options.show_prompt and options.format == "json":
        raise click.UsageError("--show-prompt goes without --format json.")
    if options.output in (None, "-") and options.report == "-":
        raise click.UsageError("The policy and the report cannot both go to standard output; -o FILE takes the policy.")
    _refuse_idle(options, chosen)


def _refuse_idle(options: Options, chosen: Sequence[str]) -> None:
    """See that no option is given that would do nothing, and seem to have done something."""
    asking = {
        "--model": options.model,
        "--effort": options.effort,
        "--rounds": options.rounds,
        "--batch": options.batch if options.batch > 1 else None,
        "--max-cost": options.max_cost,
        "--base-url": options.base_url,
        "--no-second-reader": None if options.second_reader else True,
        "--offline": options.offline or None,
        "--refresh": options.refresh or None,
        "--no-cache": options.no_cache or None,
    }
    against = {"--trace": options.runs or None, "--signature": options.signatures or None}
    kept = {"-o": options.output, "--name": options.name, "--report": options.report}
    idle: dict[str, tuple[str, Mapping[str, object]]] = {
        "--skeleton": ("asks no model and reads no runs", {**asking, **against}),
        "--from-json": ("asks no model", asking),
        "--eval": ("never uses the second reader", {"--no-second-reader": None if options.second_reader else True}),
        "--cached": ("lists what is stored", {**asking, **against, **kept, "--take": options.take or None}),
    }
    for mode in chosen:
        why, unused = idle.get(mode, ("", {}))
        for option, value in unused.items():
            if value is not None:
                raise click.UsageError(f"{mode} {why}: it goes without {option}.")
