"""`vigil lsp`: the language server, for editors to start."""

from __future__ import annotations

import logging
import sys

import click


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Use standard input and output, which is the default.")
@click.option("--tcp", metavar="[HOST:]PORT", help="Listen for one client instead, for debugging; HOST is 127.0.0.1.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="error",
    help="What is logged to standard error.",
)
def command(stdio: bool, tcp: str | None, log_level: str) -> None:
    """Start the language server, as an editor does."""
    if stdio and tcp is not None:
        raise click.UsageError("Give either --stdio or --tcp.")
    address = _address(tcp) if tcp is not None else None
    logging.basicConfig(stream=sys.stderr, level=log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
    if log_level != "debug":
        logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs what a client did wrong, with tracebacks
    from vigil_lsp.run import over_stdio, over_tcp

    if address is None:
        over_stdio()
    else:
        over_tcp(*address)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise click.UsageError(f"--tcp: '{text}' is no [HOST:]PORT.")
    return host or "127.0.0.1", int(port)
