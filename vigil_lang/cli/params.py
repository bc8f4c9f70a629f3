"""`--set` and `--params`: values from outside for `param` declarations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic, Source
    from vigil_lang.semantics.policy import Policy

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$| \(at end of document\)$")


def params_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--set` (as `settings`) and `--params`."""
    command = click.option("--params", metavar="FILE.toml", help="Values for `param` declarations.")(command)
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for a `param` (repeatable)."
    )(command)


def read_params(settings: Sequence[str], params: str | None) -> dict[str, object]:
    """The values by name; what is set on the command line wins over the file.

    Raises:
        click.UsageError: a setting is not `NAME=VALUE`.
        InputError: the file cannot be read or is no TOML (VGL210).
    """
    values = _from_file(params) if params else {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set takes NAME=VALUE, not '{setting}'.")
        values[name.strip()] = value
    return values


def check_settings(settings: Iterable[str], policies: Sequence[Policy]) -> None:
    """See that each `--set` sets something: a misspelt one would judge by the default without a word.

    Raises:
        click.UsageError: no policy has such a param.
    """
    known = {name for policy in policies for name in policy.declared}
    for setting in settings:
        name = setting.partition("=")[0].strip()
        if name not in known:
            from vigil_lang.diagnostics import nearest

            near = nearest(name, known, 1)
            hint = f"Did you mean '{near[0]}'?" if near else f"There is {', '.join(sorted(known)) or 'none'}."
            raise click.UsageError(f"--set: no policy has a param '{name}'. {hint}")


def _from_file(path: str) -> dict[str, object]:
    from vigil_lang.base.files import read_source
    from vigil_lang.project.toml import parsed

    source = read_source(path)
    try:
        return parsed(source.text)
    except (ValueError, RecursionError) as error:
        from vigil_lang.diagnostics import InputError

        raise InputError([_not_toml(source, error)]) from None


def _not_toml(source: Source, error: Exception) -> Diagnostic:
    from vigil_lang.diagnostics import Diagnostic, Span

    text = str(error)
    at = len(source.text)
    if (place := _PLACE.search(text)) is not None:
        text = text[: place.start()]
        if place[1]:
            line, column = int(place[1]), int(place[2])
            at = min(source.line_starts[line - 1] + column - 1, at)
    reason = text[:1].lower() + text[1:] if isinstance(error, ValueError) else "it is nested too deeply"
    return Diagnostic.of(
        "VGL210", f"the file is no valid TOML: {reason}", source, Span(at, min(at + 1, len(source.text)))
    )
