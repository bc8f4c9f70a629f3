"""`vigil draft`: from documents to a policy. A language model drafts; what is kept is decided here."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any

import click

from vigil_lang.base import inputs
from vigil_lang.base.outputs import check_outputs, write_text
from vigil_lang.cli.draft_common import (
    answers_in,
    drafted,
    header,
    model_options,
    no_obligation,
    plan_of,
    policy_name,
    reader_of,
    refuse_to_overwrite,
    take_option,
    taken,
)
from vigil_lang.cli.draft_options import Options, refuse_contradictions
from vigil_lang.cli.exit_codes import CLEAN, FINDINGS
from vigil_lang.cli.options import against_options, complete, config_option, settings_of
from vigil_lang.cli.output import console, for_log, output_options, written
from vigil_lang.project.paths import trace_paths
from vigil_lang.project.recordings import traces, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.draft.answer_sources import Task, Terms
    from vigil_lang.draft.clauses import Clauses
    from vigil_lang.draft.reports.report import Report
    from vigil_lang.draft.second_reader import SecondReading
    from vigil_lang.project.settings import Settings


@click.command("draft")
@click.argument("specs", metavar="SPEC...", nargs=-1, shell_complete=complete)
@against_options
@click.option("-o", "--output", metavar="FILE", help="Where to write the policy; standard output by default.")
@click.option("--force", is_flag=True, help="Replace files that are there, but no input.")
@click.option("--name", metavar="NAME", help="What the policy is called; by default as its file or its document.")
@click.option(
    "--report", metavar="FILE", help="Where to write the report; by default standard error, or standard output with -o."
)
@click.option("--skeleton", is_flag=True, help="Without a model: the clauses as comments, with statements to fill in.")
@click.option(
    "--from-json", metavar="FILE", shell_complete=complete, help="Without a model: answers of a PolicyDocument."
)
@click.option("--show-prompt", is_flag=True, help="Print what the model would be sent, and end.")
@click.option("--cached", is_flag=True, help="List the stored answers, and end.")
@click.option("--eval", "eval_dir", metavar="DIR", shell_complete=complete, help="Compare drafts with gold policies.")
@take_option
@model_options
@config_option
@output_options("human", "json", "markdown")
def command(**given: Any) -> int:
    """Draft a policy from documents: skills and their folders, CLAUDE.md, AGENTS.md, lists of rules.

    Every sentence that states an obligation or a step is a clause. A language model drafts statements for each in the
    vocabulary of the runs (--trace) or tools (--signature); what does not pass the checks is not kept but reported.
    Without -o the policy goes to standard output and the report to standard error.

    Exit status: 0 every clause is answered for, 1 some is not or none became a statement, 2 something cannot be read
    or no model be asked.
    """
    options = Options(**given)
    refuse_contradictions(options)
    if options.cached:
        from vigil_lang.cli.draft_cached import show_stored

        return show_stored(options.format)
    project = settings_of(options.config, isolated=options.isolated)
    refuse_to_overwrite(options.output, "-o", force=options.force)
    if options.eval_dir is not None:
        from vigil_lang.cli.draft_eval import show_evaluation

        return show_evaluation(options, project)
    refuse_to_overwrite(options.report, "--report", force=options.force)
    from vigil_lang.draft.clauses import read_clauses

    name = policy_name(options.name, options.output, options.specs)
    clauses = read_clauses(options.specs, options.output, taken(options.take, project))
    answers = [options.from_json] if options.from_json is not None else []
    recordings = [] if options.skeleton else trace_paths(options.runs or project.runs)
    inputs.note(*(options.signatures or project.signatures), *answers)
    check_outputs(options.output, options.report)  # before anybody is asked
    if not clauses.clauses:
        _list_others(clauses)
        raise click.UsageError(f"{no_obligation(clauses)}, so there is nothing to draft.")
    if options.skeleton:
        return _write_skeleton(clauses, name, options)
    return _draft(clauses, recordings, name, options, project)


def _write_skeleton(clauses: Clauses, name: str, options: Options) -> int:
    from vigil_lang.draft import skeleton

    if options.format == "json":
        from msgspec import json

        from vigil_lang.diagnostics.visible import safe_json_text

        document = json.format(json.encode(skeleton.document(clauses)), indent=2).decode()
        write_text(options.output or "-", f"{safe_json_text(document)}\n")
        _list_others(clauses)  # a PolicyDocument has no place for them
    else:
        write_text(options.output or "-", skeleton.policy(clauses, name))
    return CLEAN


def _list_others(clauses: Clauses) -> None:
    """Write what is no clause, with the reasons, to standard error."""
    from vigil_lang.draft.reports.human import print_not_taken

    print_not_taken(clauses.others, console(sys.stderr))


# --- drafting ------------------------------------------------------------------------------------------------------


def _draft(clauses: Clauses, recordings: Sequence[str], name: str, options: Options, project: Settings) -> int:
    terms = options.terms(project) if options.from_json is None else None
    limited = terms is not None and terms.limit is not None
    plan = plan_of(project, options.output, options.rounds, options.batch, limited=limited)
    from vigil_lang.draft.answer_sources import Task
    from vigil_lang.draft.prompting import vocabulary as names

    read = None
    if terms is not None and not options.show_prompt:
        read = reader_of(clauses, terms, second=options.second_reader)  # before runs are read, which may take long
    runs = traces(recordings, allow_empty=options.allow_empty, tools=project.known_tools)
    signature = vocabulary(options.signatures or project.signatures, runs)
    if signature is None:
        raise click.UsageError(
            "No actions are known: --trace RUN reads them from recorded runs, --signature FILE from tool "
            "definitions; --skeleton needs neither."
        )
    reading = read(plan) if read is not None else None
    asked = clauses if reading is None else reading.clauses
    task = Task(asked, signature, runs, names.describe(signature, runs), plan)
    if options.show_prompt:
        return _show_prompt(task, options)
    report = _report(task, name, options, terms, reading)
    if options.report not in (None, "-"):  # first: a policy is there only if everything is
        with written(str(options.report)) as target:
            _write_report(report, options.format, target)
    if report.statements:
        write_text(options.output or "-", _policy_text(report))
    _show(report, options)
    return CLEAN if report.draft.complete and report.statements else FINDINGS


def _show_prompt(task: Task, options: Options) -> int:
    """Write what would be sent to the model before its first reply, for people: nothing in it acts on a terminal."""
    from vigil_lang.diagnostics.visible import visible_lines
    from vigil_lang.draft import schema, second_reader
    from vigil_lang.draft.drafting import questions
    from vigil_lang.draft.prompting import prompt

    asked = questions(task.clauses, task.plan)
    before: list[tuple[str, str]] = []
    if options.second_reader and (again := second_reader.questions(task.clauses)):
        before = [("Second reader's system prompt", second_reader.system())]
        before += [(f"Second reader, question {number}", text) for number, text in enumerate(again, 1)]
    shown = prompt.shown(prompt.about(task.vocabulary), asked, schema.for_model(), before)
    write_text(options.output or "-", visible_lines(shown))
    return CLEAN


def _report(task: Task, name: str, options: Options, terms: Terms | None, reading: SecondReading | None) -> Report:
    """The draft, from the model, the store, or the PolicyDocument that was named."""
    from vigil_lang.draft.reports.report import Report

    if terms is not None:
        found = drafted(task, terms, reading)
        made, origin, source = found.draft, found.origin, str(found.path) if found.path is not None else None
    else:
        from vigil_lang.draft.drafting import from_document

        answers = answers_in(str(options.from_json))
        made = from_document(answers, task.clauses, task.signature, task.runs, task.plan)
        origin, source = "document", options.from_json
    policy = None if options.output in (None, "-") else options.output
    outside = task.clauses.outside
    return Report(made, name, policy, origin, source, len(task.runs), task.vocabulary.cut, outside)


def _policy_text(report: Report) -> str:
    from vigil_lang.draft.building.compose import policy

    draft = report.draft
    return policy(report.name, draft.entries, draft.documents, header(report))


def _show(report: Report, options: Options) -> None:
    """Write the report beside the policy; where it went into a file, a line for whoever watches."""
    from vigil_lang.draft.reports.human import print_headline

    stream = sys.stdout if report.policy is not None else sys.stderr
    if options.report not in (None, "-"):
        print_headline(report, console(stream))
    else:
        _write_report(report, options.format, stream)


def _write_report(report: Report, format: str, target: IO[str]) -> None:  # noqa: A002 - the option's name
    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json
        from vigil_lang.draft.reports.report import to_json

        print(safe_json(to_json(report)), file=target)
    elif format == "markdown":
        from vigil_lang.draft.reports.markdown import to_markdown

        for_log(target).write(to_markdown(report))
    else:
        from vigil_lang.draft.reports.human import print_report

        print_report(report, console(target))
