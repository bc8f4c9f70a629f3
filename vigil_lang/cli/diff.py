"""What would change in a policy, as a unified diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Source


def difference(source: Source, text: str) -> str:
    """A unified diff that `patch` takes, with colours where a person reads it; empty where nothing changes."""
    return "".join(_lines(source, text)) if text != source.text else ""


def _lines(source: Source, text: str) -> Iterator[str]:
    from difflib import unified_diff

    from vigil_lang.cli.output import console
    from vigil_lang.diagnostics.secrets import masked
    from vigil_lang.diagnostics.visible import shown_path

    name = shown_path(source.path)
    colours = {"-": "red", "+": "green", "@": "cyan"} if console().color_system else {}
    for at, line in enumerate(unified_diff(_cut(source.text), _cut(text), name, name)):
        styled = click.style(line.rstrip("\n"), bold=True) if at < 2 and colours else line.rstrip("\n")
        if at > 1 and line[0] in colours:
            styled = click.style(line.rstrip("\n"), fg=colours[line[0]])
        ending = "" if line.endswith("\n") else "\\ No newline at end of file\n"
        yield f"{masked(styled)}\n{ending}"


def _cut(text: str) -> list[str]:
    """Lines as editors and `patch` count them, with their `\\n`."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
