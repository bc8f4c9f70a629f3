"""`vigil demo`: the shipped examples, judged before the reader's eyes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from vigil_lang.base.resources import resource
from vigil_lang.cli.judging import judge, load_policies
from vigil_lang.cli.output import console, output_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

    from vigil_lang.semantics.policy import Policy
    from vigil_lang.verdict import Verdict


@dataclass(frozen=True, slots=True)
class _Example:
    """A policy with a run that breaks it and one that does not."""

    folder: str
    policy: str
    good: str
    title: str

    def path(self, name: str) -> str:
        return str(resource("examples", self.folder, name))


_BAD_RUN = "violating.jsonl"
_EXAMPLES = (
    _Example("dashcam", "dashcam.vgl", "repaired.jsonl", "A perception pipeline, nine calls long"),
    _Example("skills/glm-backup", "glm-backup.vgl", "benign.jsonl", "A real transcript of Claude Code"),
)


@click.command("demo")
@output_options("human")
def command(format: str) -> None:  # noqa: A002, ARG001 - one format, so that --color is where it is elsewhere
    """Judge the shipped example runs, show how to read the verdict, and play a session behind the gate."""
    from vigil_lang.cli.demo_gate import show_session

    screen = console()
    screen.print("A policy says in a line what an agent may do, and when. Vigil judges recorded runs by it.")
    for number, example in enumerate(_EXAMPLES, 1):
        screen.print()
        screen.print(_title(f"{number}. {example.title}"))
        _show(example, screen)
    screen.print()
    screen.print(_title(f"{len(_EXAMPLES) + 1}. Three agents behind the gate: decided before it happens"))
    screen.print()
    show_session(screen)
    screen.print()
    screen.print(_title("Next"))
    for line in _next():
        screen.print(line)


def _title(text: str) -> Text:
    from rich.text import Text

    return Text(f"── {text} ──", "bold")


def _show(example: _Example, screen: Console) -> None:
    """The rule in its own words, the run that breaks it, and the one that does not."""
    from vigil_lang.runs import load_trace
    from vigil_lang.verdict.human import headline, print_verdict

    policies = load_policies([example.path(example.policy)])
    bad = judge(policies, load_trace(example.path(_BAD_RUN)))
    screen.print()
    for line in _rules(policies[0], bad, screen):
        screen.print(line)
    screen.print()
    print_verdict(bad, screen, in_full=1)
    screen.print()
    screen.print(headline(judge(policies, load_trace(example.path(example.good))), width=screen.width))


def _rules(policy: Policy, verdict: Verdict, screen: Console) -> Iterator[Text]:
    """The violated statements as the file has them, with their comments."""
    from rich.text import Text

    from vigil_lang.diagnostics.human import hanging
    from vigil_lang.diagnostics.visible import shown_path

    yield Text(f"{shown_path(policy.path)} says, among other things:", "dim")
    for found in verdict.statements:
        if found.verdict == "violated":
            source, span = found.statement.source, found.statement.syntax.span
            yield Text()
            for line in (found.statement.metadata.doc or "").splitlines():
                yield from hanging(screen, Text("    /// ", "green"), line, "green")
            for line in source.text[span.start : span.end].splitlines():
                yield Text(f"    {line}", "cyan")


def _next() -> Iterator[Text]:
    from rich.text import Text

    from vigil_lang.diagnostics.visible import as_argument

    example = _EXAMPLES[0]
    policy, run = (as_argument(example.path(name)) for name in (example.policy, _BAD_RUN))
    real = as_argument(_EXAMPLES[1].path(_BAD_RUN))
    commands = (
        (f"vigil verify {policy} {run} --format json", "the verdict for programs"),
        (f"vigil abstract {real} --explain", "what each call of the transcript was taken to do"),
        (f"vigil signature {run}", "the names a policy for such runs may use"),
        (f"vigil check {policy} --trace {run}", "what is wrong with a policy, before it judges"),
        ("vigil verify YOUR.vgl ~/.claude/projects/*/*.jsonl", "your own sessions of Claude Code"),
        ("vigil gate init --help", "a gate of your own, in front of your agents"),
        ("vigil --help", "every verb"),
    )
    for words, meaning in commands:
        yield Text.assemble(f"  {meaning}:")
        yield Text.assemble("    ", (words, "bold"))
