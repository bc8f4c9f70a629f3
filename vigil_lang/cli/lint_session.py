"""One call of `vigil lint`: what its options and the configuration come to, and what it makes of the policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.options import levels_from
from vigil_lang.cli.output import each_once
from vigil_lang.cli.params import check_settings, read_params
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.project.paths import policy_paths, trace_paths
from vigil_lang.project.recordings import traces, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.cli.output import Format
    from vigil_lang.documents.coverage import Coverage
    from vigil_lang.lint.batch import Result
    from vigil_lang.lint.run import Plan
    from vigil_lang.lint.store import Store
    from vigil_lang.project.selection import Selection
    from vigil_lang.project.settings import Settings


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    signatures: tuple[str, ...]
    runs: tuple[str, ...]
    allow_empty: bool
    benign: tuple[str, ...]
    benign_threshold: float | None
    obligations: bool
    documents: tuple[str, ...]
    baseline: str | None
    update_baseline: bool
    fix: bool
    unsafe_fixes: bool
    diff: bool
    statistics: bool
    no_ignores: bool
    no_cache: bool
    jobs: int | None
    settings: tuple[str, ...]
    params: str | None
    fail_level: str | None
    format: Format
    output: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings that count, those that a baseline or a comment lets pass, and how many were mended.

    `gone` is the number of findings that the baseline knows and that are no more.
    """

    findings: tuple[Diagnostic, ...]
    paths: Sequence[str]
    unreadable: bool
    ignored: tuple[Diagnostic, ...] = ()
    known: tuple[Diagnostic, ...] = ()
    gone: int = 0
    mended: int = 0
    coverage: Sequence[Coverage] = ()
    """How much of what documents ask for is cited, where that was asked for."""


class Linting:
    """A call with what it is linted by; runs and signatures are read when they are needed first."""

    def __init__(self, options: Options, settings: Settings) -> None:
        lint = settings.lint
        self.options = options
        self._settings = settings
        self._plan: Plan | None = None
        self.refused: list[Diagnostic] = []
        self._runs = options.runs or settings.runs
        self._benign = options.benign or lint.benign
        self._signatures = options.signatures or settings.signatures
        self._threshold = lint.benign_threshold if options.benign_threshold is None else options.benign_threshold
        self._values = {**settings.params, **read_params(options.settings, options.params)}
        self._obligations = options.obligations or lint.obligations
        self._baseline = options.baseline or lint.baseline
        self.levels = levels_from(options.fail_level, settings.fail_level, options.format)
        if options.update_baseline and self._baseline is None:
            raise click.UsageError("--update-baseline needs --baseline FILE, or `baseline` in the configuration.")

    def paths(self) -> list[str]:
        """The policies, without those that the configuration excludes; links out of the project are `refused`."""
        paths = policy_paths(self.options.paths or (".",), self._settings.excludes, self.refused)
        if not self.options.paths:
            paths = [path.removeprefix("./") for path in paths]
        if self.options.settings:
            from vigil_lang.semantics.policy import policy_source, read_policy

            check_settings(self.options.settings, [read_policy(policy_source(path)) for path in paths])
        return paths

    def plan(self) -> Plan:
        """What policies are linted by.

        Raises:
            InputError: a run or a signature cannot be read.
        """
        if self._plan is None:
            from vigil_lang.lint.run import Plan

            allow_empty, tools = self.options.allow_empty, self._settings.known_tools
            runs, benign = (traces(given, allow_empty=allow_empty, tools=tools) for given in (self._runs, self._benign))
            self._plan = Plan(
                self._selection(),
                self._values,
                vocabulary(self._signatures, runs),
                runs or None,
                benign or None,
                self._threshold,
                inline_ignores=self._settings.lint.inline_ignores and not self.options.no_ignores,
                tools=tools,
            )
        return self._plan

    def _selection(self) -> Selection:
        from vigil_lang.project.selection import Selection

        lint, options = self._settings.lint, self.options
        chosen, further = _codes(options.select), _codes(options.extend_select)
        away = (code for code in lint.ignore if code not in (*chosen, *further))  # the command line comes first
        return Selection(
            (*(chosen or lint.select), *lint.extend_select, *further),
            (*away, *_codes(options.ignore)),
            lint.per_file_ignores,
            lint.severity,
            str(self._settings.folder),
        )

    def run(self, paths: Sequence[str]) -> Outcome:
        """Lint the policies, after mending them where that was asked for.

        Raises:
            InputError: beside the policies something cannot be read or written.
        """
        from vigil_lang.lint.batch import lint_files

        mended = sum(self._mend(path) for path in paths) if self.options.fix else 0
        results = lint_files(paths, self.plan, self._store(), self.options.jobs)
        uncited, figures = self._uncited(results)
        found = each_once((*self.refused, *(f for result in results for f in result.findings), *uncited))
        ignored = each_once(f for result in results for f in result.suppressed)
        unreadable = bool(self.refused) or any(result.unreadable for result in results)
        if self._baseline is None:
            return Outcome(found, paths, unreadable, ignored, mended=mended, coverage=figures)
        from vigil_lang.lint import baseline

        counts = self._selection().counts
        if self.options.update_baseline:
            baseline.update(found, paths, self._baseline, counts)
        compared = baseline.compare(found, paths, self._baseline, counts)
        return Outcome(compared.new, paths, unreadable, ignored, compared.known, compared.gone, mended, figures)

    def _uncited(self, results: Iterable[Result]) -> tuple[list[Diagnostic], Sequence[Coverage]]:
        """What documents ask for and no statement cites (VGL706), and the share that is cited.

        Raises:
            InputError: a document that was named cannot be read (VGL705).
        """
        if not self._obligations and not self.options.documents:
            return [], ()
        from vigil_lang.documents.coverage import uncited
        from vigil_lang.documents.library import Library, Unreadable

        library = Library()
        for path in self.options.documents:
            if isinstance(found := library.read(path), Unreadable):
                message = f"cannot read `{path}`: {found.message}"
                raise InputError([Diagnostic.of("VGL705", message, Source(path, ""), severity="error")])
        cites = [(result.path, result.cites) for result in results]
        findings, figures = uncited(cites, library, self.options.documents)
        by_path = {f.source.path for f in findings}
        counted = [f for path in by_path for f in self._selection().applied(findings, path) if f.source.path == path]
        return counted, figures

    def fixed(self, paths: Iterable[str]) -> Iterator[tuple[Source, Source]]:
        """The policies that fixes would change, each before and after.

        Raises:
            InputError: a policy cannot be read.
        """
        from vigil_lang.lint.fixing import mend
        from vigil_lang.semantics.policy import policy_source

        for path in paths:
            source = policy_source(path)
            after = mend(source, self.plan(), unsafe=self.options.unsafe_fixes).source
            if after.text != source.text:
                yield source, after

    def _mend(self, path: str) -> int:
        """Write a policy with its fixes applied; how many there were. What cannot be read is reported later."""
        from vigil_lang.base.outputs import rewrite
        from vigil_lang.lint.fixing import mend
        from vigil_lang.semantics.modules import is_shipped
        from vigil_lang.semantics.policy import policy_source

        try:
            source = policy_source(path)
        except InputError:
            return 0
        if path != "-" and is_shipped(source.path):
            return 0
        mended = mend(source, self.plan(), unsafe=self.options.unsafe_fixes)
        if mended.source.text != source.text:
            rewrite(path, mended.source.text)
        return len(mended.applied)

    def _store(self) -> Store | None:
        if self.options.no_cache or "-" in self.options.paths:
            return None
        from vigil_lang.lint.store import Digests, Store

        lint, options, digests = self._settings.lint, self.options, Digests()
        beside = [*trace_paths(self._runs), "benign", *trace_paths(self._benign), "signatures", *self._signatures]
        shown = (
            options.select, options.extend_select, options.ignore, options.no_ignores, lint, self._settings.folder,
            sorted(self._values.items()), sorted(self._settings.known_tools.items()), self._threshold,
            [(path, digests.of(path)) for path in beside],
        )  # fmt: skip
        return Store(repr(shown))


def _codes(given: Iterable[str]) -> tuple[str, ...]:
    """Codes and prefixes as the command line gives them, several in one separated by commas.

    Raises:
        click.UsageError: there is no such code.
    """
    from vigil_lang.diagnostics import CODES, nearest
    from vigil_lang.project.selection import is_selector

    codes = tuple(part.strip().upper() for text in given for part in text.split(","))
    for code in codes:
        if not is_selector(code):
            near = nearest(code, CODES, 1)
            hint = f" Did you mean '{near[0]}'?" if near else " `vigil explain` lists them."
            raise click.UsageError(f"There is no code '{code}'.{hint}")
    return codes
