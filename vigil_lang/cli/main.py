"""The command group: verbs are found by name and imported when they are called."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from errno import ENOSPC
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from vigil_lang.base.inputs import remembered
from vigil_lang.cli.exit_codes import BAD_INPUT, BROKEN_TOOL, CLEAN
from vigil_lang.diagnostics.secrets import one_output
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

# One file a verb; the help shown for the group must not import them.
VERBS = {
    "abstract": "Turn recorded runs into typed events.",
    "audit": "Read, check and export the log of the gate.",
    "check": "Find what is wrong with policies, without running them.",
    "compile": "Write a statement and a run as an SMT-LIB 2.6 script.",
    "completion": "Print a completion script for bash, zsh or fish.",
    "demo": "Judge the shipped example runs.",
    "draft": "Draft a policy from documents, with a language model or without one.",
    "eval": "Hold policies against labelled runs: precision, recall, F1 and more.",
    "explain": "Explain a diagnostic code.",
    "fmt": "Format policies.",
    "gate": "Decide about actions before they take effect: pass, hold or block.",
    "grant": "Pass authority on, narrower than it was; show and check chains of grants.",
    "hook": "Register the hook with an agent's host, and answer it before each call.",
    "hold": "Show, confirm or deny the actions that a gate holds.",
    "init": "Begin here: a first policy, and the hook of the agents of this project.",
    "key": "Make and show keys that sign grants and confirmations.",
    "kill": "Revoke an agent, a run, a key or everyone, and say who has seen it.",
    "lint": "Find all that is wrong with policies, as a project wants it.",
    "lsp": "Start the language server, for editors.",
    "mcp": "Put MCP servers behind a proxy that decides about each call.",
    "replay": "Replay recorded runs: what policies would have blocked, and when.",
    "resume": "Lift the halt of a run.",
    "rollback": "Undo what calls of a run changed in the workspace.",
    "run": "Draft a policy from documents and judge runs by it.",
    "scan": "Judge very many runs: which break what, how often, since when.",
    "serve": "Answer hooks faster, from a daemon; hooks start it by themselves.",
    "runs": "Show what agents do and did: runs, their calls, verdicts, and what is owed.",
    "signature": "Print the vocabulary of runs or tool definitions.",
    "test": "Test policies: expected verdicts on recorded and invented runs.",
    "verify": "Judge recorded runs by policies.",
    "why": "Show why a call of a run passed, was held or was blocked.",
}


class _Verbs(click.Group):
    """A group whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = import_module(f"vigil_lang.cli.{cmd_name}")
        return module.command  # type: ignore[no-any-return]

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would answer with status 1, which says that there are findings
            _let_go()
            ctx.exit(CLEAN)
        except KeyboardInterrupt:  # click would write an empty line, which only the `^C` of a terminal needs
            if sys.stderr.isatty():
                print(file=sys.stderr)
            raise click.Abort from None
        except Exception as error:
            from vigil_lang.diagnostics import InputError

            if not isinstance(error, InputError):
                raise
            from vigil_lang.cli.output import show_errors

            show_errors(error.diagnostics)
            ctx.exit(BAD_INPUT)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from vigil_lang.diagnostics import nearest

        if args and not args[0].startswith("-") and args[0] not in VERBS:
            near = nearest(args[0], VERBS, 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such verb '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="vigil %(version)s")
def group() -> None:
    """Write the rules of an agent's skills as policies; judge its runs by them, and its calls before they are made.

    Exit status: 0 clean, 1 findings or a violation, 2 the input or the call is at fault, 3 the tool is.
    """


def run(args: list[str] | None = None) -> int:
    """Run one verb and return its exit status; nothing escapes as a traceback."""
    _prepare_streams()
    given = sys.argv[1:] if args is None else args
    try:
        with remembered(), one_output():
            result = group.main(args=args, prog_name="vigil", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        _show(error, given)
        return BROKEN_TOOL if error.exit_code == BROKEN_TOOL else BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        print("vigil: interrupted", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        _let_go()
        return CLEAN
    except OSError as error:
        _last_words(f"vigil: {_reason(error)}")
        if error.filename is None:
            _let_go()
        return BAD_INPUT
    except MemoryError:
        _last_words("vigil: there is not enough memory for this input")
        return BAD_INPUT
    except Exception as error:  # the last line of defence: one line, not a traceback
        if os.environ.get("VIGIL_DEBUG"):
            raise
        from vigil_lang.diagnostics.visible import visible

        _last_words(
            f"vigil: internal error: {type(error).__name__}: {visible(str(error))}\n"
            "This is a fault in vigil. Set VIGIL_DEBUG=1 for the traceback and please report it."
        )
        return BROKEN_TOOL
    return result if isinstance(result, int) else CLEAN


def _let_go() -> None:
    """Our output cannot be written: what is still buffered goes nowhere, without a complaint at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_streams() -> None:
    """Closed standard streams become empty ones; what an encoding cannot express is escaped, not fatal."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we
        elif name != "stdin" and isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _show(error: click.ClickException, given: Sequence[str]) -> None:
    """A message of click's, with what it quotes from the command line made fit for a terminal and a log."""
    from vigil_lang.cli.output import for_log
    from vigil_lang.diagnostics.visible import visible, visible_lines

    message = error.message
    quoted = {part for argument in given for part in (argument, *argument.split("=")) if "\n" in part}
    for part in sorted(quoted, key=len, reverse=True):
        message = message.replace(part, visible(part))
    error.message = visible_lines(message)  # type: ignore[misc]
    with suppress(OSError):
        error.show(for_log(sys.stderr))


def _reason(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:
        return f"cannot write the result: {reason}" if error.errno == ENOSPC else reason
    from vigil_lang.diagnostics.visible import visible

    return f"{visible(str(error.filename))}: {reason}"


def _last_words(text: str) -> None:
    from vigil_lang.cli.output import for_log

    with suppress(OSError, ValueError):
        print(text, file=for_log(sys.stderr))
