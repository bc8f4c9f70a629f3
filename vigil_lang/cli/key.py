"""`vigil key`: keys that sign grants, confirmations and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.output import output_options

if TYPE_CHECKING:
    from collections.abc import Callable


def key_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--key` (as `key_file`) and `--key-command`: where the private key comes from."""
    command = click.option(
        "--key-command",
        metavar="COMMAND",
        help="A command that prints the private key, as `age -d key.age`; it runs without a shell.",
    )(command)
    return click.option(
        "--key",
        "key_file",
        metavar="FILE",
        help="The private key; else --key-command, VIGIL_KEY (the PEM itself), or your own key.",
    )(command)


@click.group("key")
def command() -> None:
    """Make and show Ed25519 keys.

    A private key is PKCS#8 in PEM, in a file that its owner alone may read. A public key is written `ed25519:…`.
    """


@command.command("new")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("-o", "--output", metavar="FILE", help="The same as FILE; - writes the private key to standard output.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@output_options("human", "json")
def new(file: str | None, output: str | None, force: bool, format: str) -> int:  # noqa: A002 - the option's name
    """Make a key and print its public half. FILE is your own key in your configuration folder unless you name one.

    Exit status: 0 it is written, 2 it cannot be, or something is there.
    """
    from vigil_lang.gate.authority.keys import Key, default_path, write_key

    if file is not None and output is not None:
        raise click.UsageError("FILE and --output say the same: give one of them.")
    key, path = Key.new(), file or output
    if path == "-":
        click.echo(key.pem(), nl=False)
        click.echo(key.public, err=True)
        return CLEAN
    if path is None:
        own = default_path()
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = str(own)
    write_key(key, path, force=force)
    _show(key.public, path, format)
    return CLEAN


@command.command("show")
@click.argument("key_file", metavar="[KEY]", required=False)
@click.option("--key-command", metavar="COMMAND", help="A command that prints the private key.")
@output_options("human", "json")
def show(key_file: str | None, key_command: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Print the public half of a key: of a file, private or public, else of the key that would sign.

    Exit status: 0, or 2 where there is no key or it cannot be used.
    """
    from vigil_lang.gate.authority.keys import load_key, read_public

    if key_file is not None and key_command is not None:
        raise click.UsageError("KEY and --key-command are two keys: give one of them.")
    public = load_key(command=key_command).public if key_file is None else read_public(key_file)
    _show(public, None if key_file == public else key_file, format)
    return CLEAN


def _show(public: str, path: str | None, format: str) -> None:  # noqa: A002 - the option's name
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json

        click.echo(safe_json({"schema": "vigil.key/1", "public": public, "path": path}))
    else:
        click.echo(public)
