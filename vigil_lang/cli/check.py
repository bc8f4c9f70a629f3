"""`vigil check`: what is wrong with policies, found without running them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.levels import fail_level_option, levels_from
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.cli.paths import complete, policy_paths, trace_paths
from vigil_lang.cli.settings import config_option, settings_of
from vigil_lang.cli.show import FORMATS, Format, output_options, show_findings, written
from vigil_lang.diagnostics import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature

_CLEAN, _FINDINGS, _BAD_INPUT = 0, 1, 2


@click.command("check")
@click.argument("policies", metavar="POLICY...", nargs=-1, required=True, shell_complete=complete)
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    metavar="FILE",
    shell_complete=complete,
    help="Tool definitions or a saved signature to check names against (repeatable).",
)
@click.option(
    "--trace",
    "runs",
    multiple=True,
    metavar="RUN",
    shell_complete=complete,
    help="A run whose vocabulary to check names against (repeatable; a folder gives all its runs).",
)
@click.option("--core", is_flag=True, help="Also report every use of an extension of the paper's language.")
@params_options
@config_option
@fail_level_option("warning", "finding")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*FORMATS)
def command(
    policies: tuple[str, ...],
    signatures: tuple[str, ...],
    runs: tuple[str, ...],
    core: bool,
    settings: tuple[str, ...],
    params: str | None,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: Format,  # noqa: A002 - the option's name
) -> int:
    """Find what is wrong with policies: files, folders, globs, standard modules (std.secrets), or - for standard input.

    Exit status: 0 nothing reaches the fail level, 1 something does, 2 a file cannot be read.
    """  # fmt: skip
    project = settings_of(config, isolated=isolated)
    values = {**project.params, **read_params(settings, params)}
    signature = _signature(signatures or project.signatures, runs or project.runs)
    named = set(policies)
    paths = [path for path in policy_paths(policies) if path in named or not project.excludes(path)]
    found: list[Diagnostic] = []
    checked: list[Policy] = []
    unreadable = False
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
    found = _distinct(found)
    levels = levels_from(fail_level, project.fail_level, format)
    failed = any(f.severity in levels for f in found)
    status = _BAD_INPUT if unreadable else _FINDINGS if failed else _CLEAN
    with written(output) as target:
        show_findings(found, format, target, files=paths, status=status)
        if format == "human" and not found:
            some = f"{len(paths)} {'policy' if len(paths) == 1 else 'policies'}"
            print(f"{some} checked, no findings", file=target)
    return status


def _check(
    path: str, values: Mapping[str, object], signature: Signature | None, *, core: bool
) -> tuple[Policy, list[Diagnostic]]:
    from vigil_lang.lint.run import Plan, lint
    from vigil_lang.lint.select import ALL, Selection
    from vigil_lang.semantics.policy import policy_source

    linted = lint(policy_source(path), Plan(Selection((ALL,)), values, signature, basic=True))
    if not core:
        return linted.policy, list(linted.findings)
    from vigil_lang.semantics.extensions import uses

    found = [*linted.findings, *uses(linted.policy)]
    return linted.policy, sorted(found, key=lambda f: (f.source.path != path, f.source.path, f.span.start))


def _distinct(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each finding once: what is wrong with a module is found again with every policy that uses it."""
    seen: dict[object, Diagnostic] = {}
    for found in findings:
        seen.setdefault((found.code, os.path.realpath(found.source.path), found.span, found.message), found)
    return list(seen.values())


def _signature(signatures: Iterable[str], runs: Iterable[str]) -> Signature | None:
    """What the given files and runs allow together; None when there are none."""
    if not signatures and not runs:
        return None
    from vigil_lang.runs import load_traces
    from vigil_lang.signatures import load_signature
    from vigil_lang.trace import merge, observe

    parts = [load_signature(path) for path in signatures]
    if runs:
        parts.append(observe(trace for path in trace_paths(runs) for trace in load_traces(path)))
    return merge(*parts)
