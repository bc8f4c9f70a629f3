"""`vigil hook`: decide about an agent's calls where its host asks, and answer in the host's own form."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from vigil_lang.cli.gate import state_option
from vigil_lang.cli.hook_install import install, package, show_status, uninstall

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Hook(click.Group):
    """A group that is a verb itself: without one of its verbs the arguments are the hook's own to read.

    A registration that is written wrongly has to block in the host's own form, which click's messages do not.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> Sequence[str]:  # type: ignore[override]
        if not args or args[0] in self.commands or "--help" in args or "-h" in args:
            return super().parse_args(ctx, args or ["--help"])
        ctx.obj = tuple(args)
        return super().parse_args(ctx, [])


@click.group("hook", cls=_Hook, invoke_without_command=True)
@click.option("--host", metavar="HOST", help="Whose payload it is: claude, codex, gemini, copilot or cursor.")
@click.option(
    "--policy", multiple=True, metavar="FILE", help="A policy, or a standard module, that runs go by (repeatable)."
)
@state_option
@click.option("--agent", metavar="NAME", help="What grants and the log call the agent; by default its host's name.")
@click.option("--wait", metavar="S", help="Seconds that a held call waits for its confirmation; none by default.")
@click.option("--observe", is_flag=True, help="Monitor mode: decide and log, but let every call pass.")
@click.option("--after-block", metavar="WHAT", help="`deny`, `ask` the host's user where it can, or `halt` the run.")
@click.option("--checkpoint", metavar="HOW", help="Keep the workspace before calls that change it: `git` or `copy`.")
@click.option("--deadline", metavar="S", help="Seconds until the call is blocked without an answer: 20, and --wait.")
@click.option("--policy-changes", metavar="WHAT", help="`keep` the policies that a run began with, or `apply` changes.")
@click.pass_context
def command(ctx: click.Context, /, **_: object) -> int | None:
    """Read a host's payload from standard input and answer it: what a host runs before and after each call.

    `vigil hook install` registers it with a host; these options are for a registration by hand.
    """
    if ctx.invoked_subcommand is not None:
        return None
    from vigil_lang.points.hook import Gates, handle
    from vigil_lang.points.invocation import Invocation

    invocation = Invocation(ctx.obj or (), sys.stdin.buffer.read(), os.getcwd(), os.environ)  # noqa: PTH109
    reply = handle(invocation, Gates())
    sys.stderr.buffer.write(reply.stderr)
    sys.stderr.flush()
    sys.stdout.buffer.write(reply.stdout)
    sys.stdout.flush()
    return reply.status


command.add_command(install)
command.add_command(package)
command.add_command(show_status)
command.add_command(uninstall)
