"""What policies are held against: tool definitions and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vigil_lang.base.files import real_path
from vigil_lang.cli.paths import complete
from vigil_lang.cli.run_options import allow_empty_option, options_of
from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.trace import Signature, Trace


def against_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--signature` (as `signatures`), `--trace` (as `runs`) and `--allow-empty`."""
    command = allow_empty_option(command)
    command = click.option(
        "--trace",
        "runs",
        multiple=True,
        metavar="RUN",
        shell_complete=complete,
        help="A run that the policies should have something to say about (repeatable; a folder gives all its runs).",
    )(command)
    return click.option(
        "--signature",
        "signatures",
        multiple=True,
        metavar="FILE",
        shell_complete=complete,
        help="Tool definitions or a saved signature to check names against (repeatable).",
    )(command)


def traces(args: Sequence[str], *, allow_empty: bool) -> list[Trace]:
    """All runs of some arguments.

    Raises:
        InputError: one of them cannot be read, or holds no events unless that is allowed.
    """
    if not args:
        return []
    from vigil_lang.runs import load_traces

    options = options_of(allow_empty=allow_empty)
    return [trace for path in trace_paths(args) for trace in load_traces(path, options=options)]


def vocabulary(paths: Sequence[str], runs: Sequence[Trace]) -> Signature | None:
    """What signatures and runs allow together; None when there are none.

    Raises:
        InputError: a signature cannot be read.
    """
    if not paths and not runs:
        return None
    from vigil_lang.signatures import load_signature
    from vigil_lang.trace import merge, observe

    parts = [load_signature(path) for path in paths]
    return merge(*parts, *([observe(runs)] if runs else ()))


def once(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once: what is wrong with a module is found again with every policy that uses it."""
    seen: dict[object, Diagnostic] = {}
    places: dict[str, str] = {}
    for found in findings:
        path = found.source.path
        if path not in places:
            places[path] = real_path(path)
        seen.setdefault((found.code, places[path], found.span, found.message), found)
    return tuple(seen.values())
