"""`vigil check`: what is wrong with policies, found without running them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.cli.paths import complete, policy_paths, trace_paths
from vigil_lang.cli.show import Format, output_options, show_findings
from vigil_lang.diagnostics import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature

_CLEAN, _FINDINGS, _BAD_INPUT = 0, 1, 2
_LEVELS = ("error", "warning", "info")


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
@click.option(
    "--fail-level",
    type=click.Choice([*_LEVELS, "never"]),
    default="warning",
    show_default=True,
    help="The least severe finding that makes the status 1.",
)
@output_options("human", "concise", "json")
def command(
    policies: tuple[str, ...],
    signatures: tuple[str, ...],
    runs: tuple[str, ...],
    core: bool,
    settings: tuple[str, ...],
    params: str | None,
    fail_level: str,
    format: Format,  # noqa: A002 - the option's name
) -> int:
    """Find what is wrong with policies: files, folders, globs, standard modules (std.secrets), or - for standard input.

    Exit status: 0 nothing reaches the fail level, 1 something does, 2 a file cannot be read.
    """  # fmt: skip
    values = read_params(settings, params)
    signature = _signature(signatures, runs)
    paths = policy_paths(policies)
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
    show_findings(found, format)
    if format == "human" and not found:
        click.echo(f"{len(paths)} {'policy' if len(paths) == 1 else 'policies'} checked, no findings")
    if unreadable:
        return _BAD_INPUT
    reached = () if fail_level == "never" else _LEVELS[: _LEVELS.index(fail_level) + 1]
    return _FINDINGS if any(f.severity in reached for f in found) else _CLEAN


def _check(
    path: str, values: Mapping[str, object], signature: Signature | None, *, core: bool
) -> tuple[Policy, list[Diagnostic]]:
    from vigil_lang.lint.check import check_policy
    from vigil_lang.semantics.extensions import uses
    from vigil_lang.semantics.policy import policy_source, read_policy

    policy = read_policy(policy_source(path), values)
    found = [*policy.diagnostics, *check_policy(policy, signature), *(uses(policy) if core else ())]
    return policy, sorted(found, key=lambda f: (f.source.path != policy.path, f.source.path, f.span.start))


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
