"""`vigil check`: what is wrong with policies, found without running them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.options import against_options, complete, config_option, fail_level_option, levels_from, settings_of
from vigil_lang.cli.output import FORMATS, Format, each_once, output_options, show_findings, written
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import policy_paths
from vigil_lang.project.recordings import traces, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature


@click.command("check")
@click.argument("policies", metavar="POLICY...", nargs=-1, required=True, shell_complete=complete)
@against_options
@click.option("--core", is_flag=True, help="Also report every use of an extension of the paper's language.")
@click.option(
    "--enforce",
    is_flag=True,
    help="Also say of each statement whether refusing calls can prevent a violation; human or json.",
)
@params_options
@config_option
@fail_level_option("warning", "finding")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    policies: tuple[str, ...],
    signatures: tuple[str, ...],
    runs: tuple[str, ...],
    allow_empty: bool,
    core: bool,
    enforce: bool,
    settings: tuple[str, ...],
    params: str | None,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: Format,  # noqa: A002 - the option's name
) -> int:
    """Find what is wrong with policies: files, folders, globs, standard modules (std.secrets), or - for standard input.

    By default warnings fail: with errors a policy judges nothing, with warnings maybe not what was meant.

    Exit status: 0 nothing reaches the fail level, 1 something does, 2 a file cannot be read.
    """  # fmt: skip
    if enforce and format not in ("human", "json"):
        raise click.UsageError(f"--enforce is written as human or json, not as {format}.")
    project = settings_of(config, isolated=isolated)
    values = {**project.params, **read_params(settings, params)}
    signature = vocabulary(
        signatures or project.signatures,
        traces(runs or project.runs, allow_empty=allow_empty, tools=project.known_tools),
    )
    found: list[Diagnostic] = []
    paths = policy_paths(policies, project.excludes, found)
    checked: list[Policy] = []
    unreadable = bool(found)
    for path in paths:
        try:
            policy, findings = _check(path, values, signature, core=core)
        except InputError as error:
            unreadable = True
            found += error.diagnostics
        else:
            checked.append(policy)
            found += findings
    if not unreadable:
        check_settings(settings, checked)
    found = list(each_once(found))
    levels = levels_from(fail_level, project.fail_level, format)
    failed = any(f.severity in levels for f in found)
    status = BAD_INPUT if unreadable else FINDINGS if failed else CLEAN
    with written(output) as target:
        if enforce and format == "json":
            from vigil_lang.cli.check_enforce import enforce_json

            print(enforce_json(checked, found), file=target)
            return status
        show_findings(found, format, target, files=paths, status=status)
        if format == "human" and not found:
            some = f"{len(paths)} {'policy' if len(paths) == 1 else 'policies'}"
            print(f"{some} checked, no findings", file=target)
        if enforce:
            from vigil_lang.cli.check_enforce import show_enforcement

            show_enforcement(checked, target)
    return status


def _check(
    path: str, values: Mapping[str, object], signature: Signature | None, *, core: bool
) -> tuple[Policy, list[Diagnostic]]:
    from vigil_lang.lint.run import Plan, lint
    from vigil_lang.project.selection import ALL, Selection
    from vigil_lang.semantics.policy import policy_source

    linted = lint(policy_source(path), Plan(Selection((ALL,)), values, signature, basic=True))
    if not core:
        return linted.policy, list(linted.findings)
    from vigil_lang.lint.rules.extension import uses

    found = [*linted.findings, *uses(linted.policy)]
    return linted.policy, sorted(found, key=lambda f: (f.source.path != path, f.source.path, f.span.start))
