"""`vigil explain`: the page of a diagnostic code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from vigil_lang.base.resources import resource
from vigil_lang.cli.output import console
from vigil_lang.diagnostics import CODES, nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_GROUPS = {
    "0": "files, configuration and comments",
    "1": "syntax",
    "2": "names and modules",
    "3": "conditions and statements by themselves",
    "4": "policies against a signature",
    "5": "extensions of the paper's language",
    "6": "runs, signatures and tests",
    "7": "policies against what they cite",
    "8": "house style",
    "9": "the tool itself",
}


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    from click.shell_completion import CompletionItem

    return [CompletionItem(c.id, help=c.summary) for c in CODES.values() if c.id.startswith(incomplete.upper())]


@click.command("explain")
@click.argument("code", metavar="[CODE]", required=False, shell_complete=_complete)
def command(code: str | None) -> None:
    """Explain a diagnostic code: what it means, why it matters, an example, and the fix.

    Without a code, list all of them.
    """
    if code is None:
        _list()
        return
    wanted = code.upper() if code[:1].isalpha() else f"VGL{code}"
    if wanted not in CODES:
        near = nearest(wanted, CODES)
        hint = f"Did you mean {' or '.join(near)}?" if near else "vigil explain lists all of them."
        raise click.UsageError(f"There is no code '{code}'. {hint}")
    page = resource("codes", f"{wanted}.md").read_text(encoding="utf-8")
    if not _on_terminal():
        click.echo(page, nl=False)
        return
    from vigil_lang.cli.markdown import Page

    screen = console()
    screen.print(Page(page), width=min(screen.width, 100), soft_wrap=False)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _list() -> None:
    group = ""
    for code in CODES.values():
        if code.id[3] != group:
            click.echo(f"{'' if not group else chr(10)}{_GROUPS[code.id[3]]}")
            group = code.id[3]
        click.echo(f"  {code.id}  {code.severity:<7}  {code.summary}")
