"""`vigil verify --follow`: verdicts on a run while it is recorded."""

from __future__ import annotations

import gc
import signal
import threading
from array import array
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from vigil_lang.base import inputs
from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.judging import Strictness, hardly_read
from vigil_lang.cli.output import Format, console, for_log, show_errors, width
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.secrets import learn, masked_value
from vigil_lang.diagnostics.visible import safe_json, safe_json_text, shown_path, visible
from vigil_lang.engines.explanation import Wording, required
from vigil_lang.engines.interface import Outcome, Rule, Violation
from vigil_lang.engines.monitor import MonitorEngine
from vigil_lang.engines.wording import span_of
from vigil_lang.ingest.growing import growing, growing_records
from vigil_lang.ingest.json_text import encode
from vigil_lang.ingest.load import STDIN
from vigil_lang.runs import following, why_unusable
from vigil_lang.semantics import core
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.record import Call, Start
from vigil_lang.trace.unseen import is_wholly_seen
from vigil_lang.verdict.concise import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.abstraction.run import Options
    from vigil_lang.engines.interface import Monitor, Owed, PrefixVerdict, Unjudged
    from vigil_lang.engines.smt.breach import Breaches
    from vigil_lang.ingest.growing import Growing
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace.record import Record
    from vigil_lang.verdict import StatementVerdict

Certify: TypeAlias = Literal["none", "violations", "all"]
CERTIFY: tuple[Certify, ...] = ("none", "violations", "all")

_RECENT_CALLS = 4_096
"""Calls that are known again when another event of theirs comes; an older one would count once more."""


def follow(
    policies: Sequence[Policy],
    path: str,
    target: IO[str],
    *,
    format: Format,  # noqa: A002 - the option's name
    source: str | None,
    options: Options,
    strictness: Strictness,
    reached: Sequence[str],
    certify: Certify,
    idle: float | None,
) -> int:
    """Judge a run while it is recorded, until it ends or somebody interrupts; gives the exit status.

    Every violation is written as soon as it is certain. Events are kept only for certificates.

    Raises:
        InputError: what cannot be read or judged; what was found by then is written.
    """
    inputs.note(path)
    engine = MonitorEngine([Rule(s.name, s.requirement) for policy in policies for s in policy.statements])
    status = CLEAN
    with growing(path, idle=idle) as lines, _interruptible(lines):
        places = _Places(lines) if format == "concise" and lines.path != STDIN else None
        records = growing_records(lines, source, endless=certify == "none")
        if places is not None:
            records = places.noting(records)
        gc.freeze()  # what was loaded stays: looking for garbage in it again and again would take half of the time
        output = _Output(target, format)
        found: _Followed | None = None
        refused: list[Diagnostic] = []
        for item in following(records, lines.path, options):
            if not isinstance(item, Run):
                assert found is not None
                found.take(item)
                if output.unsent and not lines.at_hand:
                    output.flush()
            elif found is None:
                found = _Followed(policies, engine.run(), item, output, certify, places)
            else:
                doubt = None if options.allow_empty else why_unusable(item, found.events)
                if doubt is not None:
                    refused.append(doubt)
                else:
                    status = max(status, found.finish(item, strictness, reached, interrupted=lines.stopped))
                found = None
    if refused:
        raise InputError(refused)
    return status


@contextmanager
def _interruptible(lines: Growing) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run; the second one ends the program."""
    before: dict[int, Any] = {}

    def stop(number: int, frame: object) -> None:  # noqa: ARG001 - a signal handler's signature
        lines.stop()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        restore()


@dataclass(slots=True)
class _Statement:
    """One statement on the run so far."""

    policy: Policy
    statement: Statement
    wording: Wording
    looks_ahead: bool
    about: str
    """What every line about it begins with, as JSON."""
    violations: int = 0
    known: set[int] = field(default_factory=set)
    """The events at fault that were told, by their indices, where more may come to be at fault at the end."""
    unjudged: str | None = None


class _Places:
    """The lines of a file on which events stand: four bytes an event, and what was noted of the latest records."""

    def __init__(self, lines: Growing) -> None:
        self._lines = lines
        self._noted: dict[tuple[type, str], int] = {}
        self._before: dict[tuple[type, str], int] = {}
        """What was noted of the run before, of which calls may be left when the next one begins."""
        self._of_events = array("I")

    def noting(self, records: Iterator[Record]) -> Iterator[Record]:
        """The records, of each of which the line is noted."""
        for record in records:
            match record:
                case Event(id=name) | Call(key=name):
                    self._noted.setdefault((type(record), name), self._lines.number)
                    if len(self._noted) >= 2 * _RECENT_CALLS:
                        self._noted = dict(islice(self._noted.items(), _RECENT_CALLS, None))
                case Start(again=False):
                    self._before, self._noted = self._noted, {}
            yield record

    def begin(self) -> None:
        """Another run begins."""
        self._before, self._of_events = {}, array("I")

    def take(self, event: Event) -> None:
        """The next event of the run."""
        names = ((Event, event.id), (Call, event.call))
        found = (noted[name] for noted in (self._noted, self._before) for name in names if name in noted)
        self._of_events.append(next(found, 0))

    def line(self, event: int) -> int | None:
        """The line of an event, by its index; None where that is not known."""
        return self._of_events[event] or None


class _Followed:
    """One run, followed."""

    def __init__(
        self,
        policies: Sequence[Policy],
        monitor: Monitor,
        run: Run,
        output: _Output,
        certify: Certify,
        places: _Places | None,
    ) -> None:
        self.events = 0
        self._run = run
        self._policies = policies
        self._monitor = monitor
        self._output = output
        self._certify = certify
        self._places = places
        if places is not None:
            places.begin()
        self._kept: list[Event] = []
        self._breaches: Breaches | None = None
        """What certifies violations by the events so far."""
        self._found = [
            _Statement(policy, s, Wording(s), looks_ahead(s.requirement.theta), _about(run.path, policy, s))
            for policy in policies
            for s in policy.statements
        ]
        self._said_only = True
        self._calls = self._unseen = 0
        self._recent: dict[str, bool] = {}
        self._last = ""

    def take(self, event: Event) -> None:
        """Judge the next event; what it violates is written at once."""
        self._count(event)
        if self._places is not None:
            self._places.take(event)
        if self._certify != "none":
            self._kept.append(event)
        progress = self._monitor.step((event,))
        for unjudged in progress.unjudged:
            self._cannot_judge(unjudged)
        if progress.breaches:
            for breach in progress.breaches:
                at_fault = event if breach.event == self.events - 1 else None
                self._tell(breach.rule, Violation(breach.event, breach.binding), breach.id, at_fault)

    def finish(self, run: Run, strictness: Strictness, reached: Sequence[str], *, interrupted: bool) -> int:
        """Write what the run comes to; gives the exit status. What is owed when it is interrupted is only owed."""
        verdicts: list[PrefixVerdict | Literal["unjudged"]] = [
            verdict or "unjudged" for verdict in self._monitor.verdicts()
        ]
        pending = self._monitor.pending()
        ids = {owed.event: owed.id for owed in pending} | {self.events - 1: self._last}
        outcomes = self._monitor.close()
        for rule, outcome in enumerate(outcomes):
            found = self._found[rule]
            if not isinstance(outcome, Outcome):
                self._cannot_judge(outcome)
            elif found.unjudged is None and not interrupted and found.looks_ahead:
                for violation in outcome.violations:
                    if violation.event not in found.known:
                        self._tell(rule, violation, ids[violation.event], None)
        if interrupted:
            for owed in pending:
                self._output.owed(self._place(owed.event, owed.id), self._found[owed.rule], owed)
        failing = False
        vacuous = True
        for rule, (found, outcome) in enumerate(zip(self._found, outcomes, strict=True)):
            broken = isinstance(outcome, Outcome) and bool(outcome.violations)
            if found.unjudged is not None:
                verdicts[rule] = "unjudged"
            elif not interrupted:
                verdicts[rule] = "violated" if broken else "satisfied"
            failing |= broken and found.statement.metadata.severity in reached
            vacuous &= isinstance(outcome, Outcome) and not outcome.exercised
        remarks = list(self._remarks(run, strictness, vacuous=vacuous))
        show_errors(remarks)
        failing |= any(remark.severity == "error" for remark in remarks)
        certified = self._certified_all() if self._certify == "all" and not interrupted else {}
        exercised = [isinstance(outcome, Outcome) and outcome.exercised for outcome in outcomes]
        summary = _Summary(run, self.events, self._calls, self._unseen, interrupted, verdicts, exercised)
        self._output.end(summary, self._found, certified)
        self._output.flush()
        if any(found.unjudged is not None for found in self._found):
            return BAD_INPUT
        return FINDINGS if failing else CLEAN

    # --- events ---

    def _count(self, event: Event) -> None:
        self.events += 1
        self._last = event.id
        if event.action in MESSAGES:
            return
        self._said_only = False
        recent, call = self._recent, event.call
        seen = recent.get(call)
        whole = "unresolved" not in event.args or is_wholly_seen(event)
        if seen is None:
            self._calls += 1
            if len(recent) >= 2 * _RECENT_CALLS:
                self._recent = recent = dict(islice(recent.items(), _RECENT_CALLS, None))
        self._unseen += not whole and seen is not False
        recent[call] = whole if seen is None else seen and whole

    # --- what is found ---

    def _tell(self, rule: int, violation: Violation, name: str, event: Event | None) -> None:
        found = self._found[rule]
        found.violations += 1
        if found.looks_ahead:
            found.known.add(violation.event)
        certified = None
        if self._certify != "none":
            certified = self._certified(found, violation)
        learn({} if event is None else event.args)
        message = found.wording.message(violation.binding, event)
        where = self._place(violation.event, name)
        self._output.violation(where, found, name, violation, message, certified)

    def _place(self, event: int, name: str) -> str:
        """Where an event stands, as `verify` says it."""
        return place(self._run, name, None if self._places is None else self._places.line(event))

    def _cannot_judge(self, unjudged: Unjudged) -> None:
        found = self._found[unjudged.rule]
        if found.unjudged is None:
            found.unjudged = unjudged.why
            message = f"`{found.statement.name}` cannot be judged from here on: {unjudged.why}"
            show_errors([Diagnostic.of("VGL003", message, Source(self._run.path, ""))])

    def _certified(self, found: _Statement, violation: Violation) -> StatementVerdict:
        from vigil_lang.engines.smt.breach import Breaches

        breaches = self._breaches
        if breaches is None or len(breaches.trace) < len(self._kept):
            breaches = self._breaches = Breaches(Trace(tuple(self._kept), self._run))
        return breaches.certified(found.policy, found.statement, violation)

    def _certified_all(self) -> dict[int, StatementVerdict]:
        from vigil_lang.cli.judging import judge

        verdict = judge(self._policies, Trace(tuple(self._kept), self._run))
        return dict(enumerate(verdict.statements))

    def _remarks(self, run: Run, strictness: Strictness, *, vacuous: bool) -> Iterator[Diagnostic]:
        from msgspec.structs import replace

        source = Source(run.path, "")
        for doubt in hardly_read(run, self.events, said_only=self._said_only):
            allowed = strictness.allow_empty and doubt.code in ("VGL605", "VGL609")
            yield replace(doubt, severity="error") if strictness.strict and not allowed else doubt
        if self._unseen and strictness.strict:
            message = f"{self._unseen} of {self._calls} calls are not wholly seen"
            yield Diagnostic.of("VGL607", message, source, severity="error")
        if vacuous and strictness.fail_on_vacuous:
            message = "no statement was put to the test: nothing the policies speak of happened"
            yield Diagnostic.of("VGL616", message, source, severity="error")


@dataclass(frozen=True, slots=True)
class _Summary:
    """What a run comes to, statement by statement."""

    run: Run
    events: int
    calls: int
    unseen: int
    interrupted: bool
    verdicts: Sequence[PrefixVerdict | Literal["unjudged"]]
    exercised: Sequence[bool]

    @property
    def verdict(self) -> Literal["unsafe", "pending", "safe"]:
        """`pending` where nothing is violated so far, and something is owed."""
        return "unsafe" if "violated" in self.verdicts else "pending" if "pending" in self.verdicts else "safe"


def looks_ahead(theta: core.Theta) -> bool:
    """Whether later events may put an event at fault, or the end of the run."""
    return any(isinstance(body, core.Later | core.Until | core.Clear | core.Last) for body in core.bodies(theta))


class _Output:
    """Writes what is found, each in one piece."""

    def __init__(self, target: IO[str], format: Format) -> None:  # noqa: A002 - the option's name
        self._target = for_log(target) if format == "concise" else target
        self._format = format
        self.unsent = False
        """Whether something was written that nobody has yet."""

    @cached_property
    def _screen(self) -> Console:
        return console(self._target)

    def flush(self) -> None:
        """Hand over what was written."""
        self._target.flush()
        self.unsent = False

    def violation(
        self,
        where: str,
        found: _Statement,
        event: str,
        violation: Violation,
        message: str,
        certified: StatementVerdict | None,
    ) -> None:
        """An event at fault; with a certificate the near misses and the solver's answer."""
        statement = found.statement
        offence = certified.offending[0] if certified else None
        message = offence.message if offence else message
        if self._format in ("json", "json-lines"):
            line: dict[str, Any] = {
                "event": event,
                "index": violation.event,
                "bindings": dict(zip(statement.requirement.variables, violation.binding, strict=True)),
                "message": message,
            }
            if certified is not None and offence is not None:
                line["near_misses"] = [{"event": miss.event, "why": miss.why} for miss in offence.near_misses]
                line["solver"] = certified.to_json()["solver"]
            self._line("violation", found.about, line)
            return
        notes = [f"near miss `{miss.event}`: {miss.why}" for miss in offence.near_misses] if offence else []
        self._told("✗", where, statement, event, message, notes)

    def owed(self, where: str, found: _Statement, owed: Owed) -> None:
        """What is owed since an event when the run is interrupted."""
        statement = found.statement
        until = "before the run ends" if owed.left is None else f"within {span_of(owed.left)}"
        message = f"{required(statement, owed.binding)} is owed, {until}"
        if self._format in ("json", "json-lines"):
            bindings = dict(zip(statement.requirement.variables, owed.binding, strict=True))
            line = {"event": owed.id, "index": owed.event, "bindings": bindings, "message": message}
            self._line("owed", found.about, line)
            return
        self._told("…", where, statement, owed.id, message, [])

    def end(self, summary: _Summary, found: Sequence[_Statement], certified: dict[int, StatementVerdict]) -> None:
        """What the run comes to; nothing in the format of one line an offence."""
        if self._format in ("json", "json-lines"):
            self._line("end", f'"path":{safe_json(summary.run.path)}', _end_json(summary, found, certified))
        elif self._format == "human":
            self._end_human(summary, found, certified)

    def _line(self, kind: str, about: str, line: dict[str, Any]) -> None:
        """A line as JSON: what it is about, and what it says."""
        self.unsent = True
        text = safe_json_text(encode(masked_value(line)).decode())
        self._target.write(f'{{"schema":"vigil.follow/1","kind":"{kind}",{about},{text[1:]}\n')

    def _told(self, sign: str, where: str, statement: Statement, event: str, message: str, notes: list[str]) -> None:
        self.unsent = True
        if self._format == "concise":
            print(f"{where}: {visible(statement.name)} {visible(message)}", file=self._target)
            return
        from vigil_lang.diagnostics.human import STYLES, beside, print_lines

        columns, screen = width(), self._screen
        head = [(f"{sign} ", STYLES[statement.metadata.severity]), (visible(event), "bold")]
        head.append((f"  {visible(statement.name)}  ", ""))
        lines = [*beside(screen, head, message, columns)]
        for note in notes:
            lines += beside(screen, [("    ", "")], note, columns, "yellow")
        print_lines(lines, screen)

    def _end_human(
        self, summary: _Summary, found: Sequence[_Statement], certified: dict[int, StatementVerdict]
    ) -> None:
        from rich.text import Text

        screen = self._screen
        word = summary.verdict
        style = {"unsafe": "bold red", "pending": "bold yellow", "safe": "bold green"}[word]
        facts = f" · {summary.events} event{'s' * (summary.events != 1)}" + (" so far" if summary.interrupted else "")
        if summary.unseen:
            facts += f" · {summary.unseen} of {summary.calls} calls are not wholly seen"
        if any(statement.violations for statement in found):
            screen.print()
        screen.print(Text.assemble((word, style), "  ", (shown_path(summary.run.path), "bold"), facts))
        column = max((len(visible(one.statement.name)) for one in found), default=0)
        for at, one in enumerate(found):
            verdict = summary.verdicts[at]
            told: str = verdict
            if verdict == "satisfied" and not summary.exercised[at]:
                told = "satisfied, vacuously"
            if one.violations:
                told = f"violated by {one.violations} event{'s' * (one.violations != 1)}"
            if at in certified:
                told += f" (Z3: {certified[at].solver.result})"
            screen.print(f"  {visible(one.statement.name):<{column}}  {told}")


def _about(path: str, policy: Policy, statement: Statement) -> str:
    severity = statement.metadata.severity
    return safe_json({"path": path, "policy": policy.path, "name": statement.name, "severity": severity})[1:-1]


def _end_json(summary: _Summary, found: Sequence[_Statement], certified: dict[int, StatementVerdict]) -> dict[str, Any]:
    run = summary.run
    line: dict[str, Any] = {
        "events": summary.events,
        "calls": summary.calls,
        "unseen": summary.unseen,
    }
    if run.not_executed:
        line["not_executed"] = run.not_executed
    if run.not_understood:
        line |= {"records": run.records, "not_understood": run.not_understood}
    line["interrupted"] = summary.interrupted
    line["verdict"] = summary.verdict
    line["statements"] = [
        {
            "policy": visible(one.policy.path),
            "name": one.statement.name,
            "form": one.statement.form,
            "verdict": verdict,
            "vacuous": not exercised,
            "violations": one.violations,
        }
        | ({"solver": certified[at].to_json()["solver"]} if at in certified else {})
        for at, (one, verdict, exercised) in enumerate(zip(found, summary.verdicts, summary.exercised, strict=True))
    ]
    return line
