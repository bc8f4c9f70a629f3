"""`vigil signature`: the vocabulary that runs show or tool definitions declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from vigil_lang.base.outputs import write_text
from vigil_lang.cli.options import abstraction_options, allow_empty_option, complete, config_option, settings_of
from vigil_lang.cli.output import Format, console, output_options
from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from vigil_lang.trace import Action, Argument, Signature

_NOT_IN_A_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]")


@click.command("signature")
@click.argument("sources", metavar="RUN|TOOLS...", nargs=-1, required=True, shell_complete=complete)
@allow_empty_option
@config_option
@click.option("--server", metavar="NAME", help="Name declared tools as an agent host does: mcp__NAME__tool.")
@click.option("-o", "--output", metavar="FILE", help="Save the signature as JSON for check --signature.")
@output_options("human", "json")
def command(
    sources: tuple[str, ...],
    allow_empty: bool,
    config: str | None,
    isolated: bool,
    server: str | None,
    output: str | None,
    format: Format,  # noqa: A002 - the option's name
) -> None:
    """Print the actions, arguments and values that policies may speak of.

    Each source is a run, tool definitions (MCP tools/list, JSON Schema), or a saved signature; folders, globs and - for
    standard input work too. Several are merged.
    """
    from vigil_lang.diagnostics.secrets import learn
    from vigil_lang.signatures import load_signature
    from vigil_lang.trace import merge
    from vigil_lang.trace.signature_file import signature_to_json

    paths = trace_paths(sources, definitions=True)
    options = abstraction_options(allow_empty=allow_empty, tools=settings_of(config, isolated=isolated).known_tools)
    found = merge(*(_named(load_signature(path, options), server) for path in paths))
    for action in found.actions.values():
        learn({name: sorted(argument.values or ()) for name, argument in action.args.items()})
    if output is not None:
        write_text(output, signature_to_json(found))
    elif format == "json":
        from vigil_lang.diagnostics.visible import safe_json_text

        click.echo(safe_json_text(signature_to_json(found, masked=True)), nl=False)
    else:
        screen = console()
        for line in _table(found, len(paths), screen.width):
            screen.print(line)


def _named(signature: Signature, server: str | None) -> Signature:
    """The signature with the names a host gives to the tools of an MCP server; what was observed has them already."""
    if server is None or signature.origin == "observed":
        return signature
    prefix = f"mcp__{_NOT_IN_A_TOOL_NAME.sub('_', server)}__"
    return replace(
        signature,
        actions={n if n.startswith("mcp__") else prefix + n: action for n, action in signature.actions.items()},
    )


def _table(signature: Signature, sources: int, width: int) -> Iterator[Text]:
    from rich.cells import cell_len
    from rich.text import Text

    from vigil_lang.diagnostics.shorten import middle

    where = f"{sources} source{'s' * (sources != 1)}"
    actions = len(signature.actions)
    yield Text(f"{actions} action{'s' * (actions != 1)}, {signature.origin} in {where}", "bold")
    rows = [row for name, action in sorted(signature.actions.items()) for row in _rows(name, action)]
    if not rows:
        return
    head: tuple[str, ...] = ("action", "argument", "type", "values")
    shown = [[middle(cell, 40) for cell in row[:3]] for row in [head, *rows]]
    columns = [max(cell_len(row[n]) for row in shown) for n in range(3)]
    yield Text()
    for n, (cells, row) in enumerate(zip(shown, [head, *rows], strict=True)):
        padded = [cell + " " * (size - cell_len(cell)) for cell, size in zip(cells, columns, strict=True)]
        line = Text("  ".join(padded) + "  ", "dim" if n == 0 else "")
        line.append(_fitted(row[3:], max(width - line.cell_len, 20)))
        line.rstrip()
        if row[0]:
            line.stylize("bold", 0, columns[0])
        yield line


def _rows(name: str, action: Action) -> Iterator[tuple[str, ...]]:
    """An action's arguments, one a row; the first row has its name and kinds."""
    title = name + (f" ({', '.join(sorted(action.kinds))})" if action.kinds else "")
    for argument in sorted(action.args):
        yield (title, argument, *_values(argument, action.args[argument]))
        title = ""
    if action.open or not action.args:
        yield (title, "…" if action.open else "–", "any" if action.open else "", "")


def _values(name: str, argument: Argument) -> tuple[str, ...]:
    from vigil_lang.diagnostics.secrets import masked_words

    types = "|".join(sorted(argument.types)) or "–"
    shown = types + (" list" if argument.many else "")
    return (shown, "any") if argument.values is None else (shown, *masked_words(name, sorted(argument.values)))


def _fitted(values: tuple[str, ...], room: int) -> str:
    """As many values as there is room for, and how many more there are."""
    from vigil_lang.diagnostics.shorten import middle

    shown: list[str] = []
    for n, value in enumerate(values):
        rest = f", … {len(values) - n} more"
        part = middle(value, max(room // 2, 20))
        if shown and len(", ".join([*shown, part])) + len(rest) > room:
            return ", ".join(shown) + rest
        shown.append(part)
    return ", ".join(shown)
