"""`vigil completion`: the script that teaches a shell to complete `vigil`."""

from __future__ import annotations

import click

_HINTS = """\b
  bash  vigil completion bash > ~/.local/share/bash-completion/completions/vigil
  zsh   vigil completion zsh > "${fpath[1]}/_vigil"
  fish  vigil completion fish > ~/.config/fish/completions/vigil.fish
"""


@click.command("completion", help=f"Print a completion script for a shell. To install it:\n\n{_HINTS}")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script."""
    from click.shell_completion import ShellComplete, get_completion_class

    from vigil_lang.cli.main import group

    kind = get_completion_class(shell)
    assert kind is not None
    # The base class's: bash's own would start a bash to warn of versions older than 4.4.
    click.echo(ShellComplete.source(kind(group, {}, "vigil", "_VIGIL_COMPLETE")))
