"""A run abstracted record by record: what calls did, as events in the order the calls were issued.

Every event depends on what the recording says before its call, and only its status and output on what comes later.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace

from vigil_lang.abstraction.bounded_output import KEPT
from vigil_lang.abstraction.events import MOST_UNSEEN, meant, observed, step_event, with_marks
from vigil_lang.abstraction.evidence import is_refusal
from vigil_lang.abstraction.files import KnownFiles
from vigil_lang.abstraction.paths import START, home_is, home_of, is_below, resolve
from vigil_lang.base.structs import Frozen, Mutable
from vigil_lang.patterns import regex
from vigil_lang.trace import Event, Run, Status, checked
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.unseen import STEPS, leaves_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.abstraction.call_steps import Taken
    from vigil_lang.abstraction.calls import Understood
    from vigil_lang.abstraction.catalogue import Program
    from vigil_lang.abstraction.files import Changes
    from vigil_lang.abstraction.shell import ShellState
    from vigil_lang.abstraction.state import AbstractionState, CallState
    from vigil_lang.abstraction.step import Step
    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.trace.record import Record

# Killed by a time limit or by the user.
_CUT_SHORT = frozenset({124, 130, 137, 143})
_EXIT_CODE = regex(r"(?:Error: )?Exit code \d+\s*\Z")
"""What some harnesses put before the output of a command that failed."""
_INTERRUPTED = "[Request interrupted by user"
_READS = frozenset({"file.read", "file.search", "file.copy", "archive.create", "net.upload", "git.read"})
# What an agent answers is typed into one terminal, command by command: all of it, or nothing where it is refused.
_TYPED = frozenset({"terminus"})
_SHOWS_ALL = frozenset({"head", "tail", "cat", "tee", "less", "more"})


class Options(Frozen, frozen=True):
    """How a run is abstracted."""

    kept: int = KEPT
    """Code points of an output that are kept."""
    inferred: bool = True
    """Whether steps that were read out of scripts are events."""
    files: Callable[[], KnownFiles] = KnownFiles
    """What is known of the files when a run begins."""
    probe: Callable[[str], Program | None] | None = None
    """Finds out the options of a program that the catalogue does not know."""
    tools: dict[str, Tool] = field(default_factory=dict)
    """The tools that a project describes (`tools.named_tools`), beside the shipped ones."""
    prompt: str | None = None
    """What the user asked for: the first `user.message` of a run that does not begin with it."""
    allow_empty: bool = False
    """Whether a recording that tells nothing, or is mostly not understood, is taken for a run all the same."""

    def __post_init__(self) -> None:
        checked.count(self.kept, "kept")
        checked.flag(self.inferred, "inferred")
        checked.flag(self.allow_empty, "allow_empty")
        if self.prompt is not None:
            checked.text(self.prompt, "prompt")
        if not isinstance(self.tools, dict):
            raise TypeError(f"`tools` takes a dict of tools by name, not {checked.shown(self.tools)}")


class Survey(Mutable):
    """What a first look at a run's records tells: how its calls end, and what is known of the run at its end."""

    run: Run
    dropped: set[str] = field(default_factory=set)
    """Calls that were never executed."""
    results: dict[str, int] = field(default_factory=dict)
    """How many results each call has; the last one counts."""

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record:
            case Start():
                self.run = record.run
            case Result():
                self.results[record.key] = self.results.get(record.key, 0) + 1
                if record.executed:
                    self.dropped.discard(record.key)
                else:
                    self.dropped.add(record.key)

    @property
    def finished_run(self) -> Run:
        """The run with what is only known at its end."""
        return replace(self.run, not_executed=self.run.not_executed + len(self.dropped))


class _Issued(Mutable):
    """A call that was issued, and what is known of its end."""

    call: Call
    event: str
    understood: Understood
    taken: Taken
    before: ShellState
    """The shell as the call found it."""
    left: ShellState
    """The shell as it is if the call succeeds."""
    stopped: ShellState
    """The shell as it is if the call fails: what it may have changed is unknown."""
    changed: Changes
    """The files it changes, as it found them."""
    result: Result | None = None
    results: int = 0
    """How many results it has had."""
    told: tuple[dict[str, tuple[str, ...]], tuple[str, ...]] | None = None
    """The arguments and kinds of its event, which no result changes: once they were asked for."""


class _Proposed(Frozen, frozen=True):
    """A call that was proposed, and nothing has happened since."""

    text: str
    """What it said then, all but its key: a caller may change its arguments."""
    issued: _Issued
    files: KnownFiles
    """The files as it would leave them."""


class _Shell(Mutable):
    """The shell of one session: how it started and how it is."""

    state: ShellState
    base: str | None
    last: _Issued | None = None
    """The latest call that may have changed it."""
    typed: ShellState | None = None
    """How it was before the answer whose commands are being typed into it, where they are typed in one go."""


class Abstraction:
    """One run in the making. `add` its records in order; `ready` and `rest` give the events.

    `survey` is what is known of the run beforehand; `ready` then need not wait for results that never come.
    """

    def __init__(self, options: Options | None = None, survey: Survey | None = None, run: Run | None = None) -> None:
        self.options = Options() if options is None else options
        if not isinstance(self.options, Options):
            raise TypeError(f"`options` takes `Options`, not {checked.shown(options)}")
        self.survey = survey
        self.run = Run("<memory>") if run is None else run
        self._queue: deque[_Issued | Event] = deque()
        self._waiting: dict[str, _Issued] = {}
        self._shells: dict[str, _Shell] = {}
        self._files = self.options.files()
        self._calls = self._messages = 0
        self._has_results = False
        self._dropped = 0
        self._home: str | None = None
        self._proposed: _Proposed | None = None

    def add(self, record: Record) -> None:
        """Take in the next record.

        Raises:
            Unnameable: a call's arguments are nested too deeply.
        """
        proposed, self._proposed = self._proposed, None
        match record:
            case Call():
                if not self._calls:
                    self._home = self._home_at(record)
                with home_is(self._home):
                    self._issue(record, proposed)
            case Result():
                with home_is(self._home):
                    self._settle(record)
            case Message():
                self._say(record)
            case Event():
                self._queue.append(self._bounded(record))
            case Start():
                self.run = record.run

    def passed(self, event: Event) -> Event | None:
        """What `add` and then `ready` would give of an event that waits for no call; None where it has to wait."""
        if self._queue:
            return None
        self._proposed = None
        return self._bounded(event)

    def ready(self) -> Iterator[Event]:
        """The events whose calls are over, up to the first one that is not; each is given once."""
        while self._queue:
            first = self._queue[0]
            if isinstance(first, Event):
                yield self._queue.popleft()  # type: ignore[misc]
                continue
            if not self._is_over(first):
                return
            self._queue.popleft()
            yield from self._events(first)

    def rest(self) -> Iterator[Event]:
        """All other events; a call without a result is pending."""
        while self._queue:
            yield from self._events(self._queue.popleft())

    def propose(self, call: Call) -> tuple[Event, ...]:
        """The events that a call would have if it were issued now: pending, and nothing remembers it.

        Where the same call is the next record, under whatever key, it is not read again.

        Raises:
            Unnameable: its arguments are nested too deeply.
        """
        with home_is(self._home if self._calls else self._home_at(call)):
            files = self._files.copy()
            issued = self._read(call, self._shell(call), files, self._calls + 1)
        self._proposed = _Proposed(_said(call), issued, files)
        return tuple(self._events(issued))

    def unsure(self) -> frozenset[str]:
        """The ids of the steps of the call just proposed that need not have succeeded where the call did."""
        if self._proposed is None:
            return frozenset()
        issued = self._proposed.issued
        steps = enumerate(issued.taken.steps, 1)
        return frozenset(f"{issued.event}.{place}" for place, step in steps if step.if_ok != "ok")

    def follow(self, record: Record) -> tuple[Event, ...]:
        """Take in the next record of a run in progress: the events of its call or message, as they are now.

        Use it in place of `add`; `ready` and `rest` then give nothing. A call that was not executed has no events.

        Raises:
            Unnameable: a call's arguments are nested too deeply.
        """
        waiting = self._waiting.get(record.key) if isinstance(record, Result) else None
        self.add(record)
        found = (waiting,) if waiting is not None else tuple(self._queue)
        self._queue.clear()
        return tuple(event for each in found for event in self._events(each))

    def waits_for(self, key: str) -> bool:
        """Whether a call was issued and has no result."""
        return key in self._waiting

    def state(self) -> AbstractionState:
        """What later records need of the earlier ones, where all of them were followed. Equal states are equal data."""
        from vigil_lang.abstraction.state import AbstractionState, SessionState

        sessions = {
            name: SessionState(shell.state, shell.base, shell.last.call.key if shell.last else None, shell.typed)
            for name, shell in self._shells.items()
        }
        return AbstractionState(
            self.run,
            self._calls,
            self._messages,
            self._has_results,
            self._dropped,
            self._home,
            self._files.state(),
            [_state_of(issued) for issued in self._waiting.values()],
            sessions,
        )

    def load(self, state: AbstractionState) -> None:
        """Take over what `state` gave; the options are this abstraction's own.

        Raises:
            KeyError: a session was changed last by a call that does not wait, or is missing.
        """
        self.run, self._calls, self._messages = state.run, state.calls, state.messages
        self._has_results, self._dropped, self._home = state.has_results, state.dropped, state.home
        self._files.load(state.files)
        self._waiting = {each.key: self._issued(each) for each in state.waiting}
        self._shells = {
            name: _Shell(each.state, each.base, None if each.last is None else self._waiting[each.last], each.typed)
            for name, each in state.sessions.items()
        }
        for each in state.waiting:
            self._shells[each.session]

    def _issued(self, state: CallState) -> _Issued:
        from vigil_lang.abstraction.call_steps import Taken
        from vigil_lang.abstraction.calls import Understood

        call = Call(state.key, state.name, {}, state.time, session=state.session, parent=state.parent)
        after = state.left if state.has_shell else None
        understood = Understood((), {}, (), after, shows=state.shows, command=state.command)
        trouble, unseen = dict.fromkeys(state.trouble), dict.fromkeys(state.unseen)
        taken = Taken(self._files, None, state.steps, state.owners, trouble, unseen)
        shells = state.before, state.left, state.stopped
        return _Issued(call, state.event, understood, taken, *shells, state.changed, told=state.told)

    def _home_at(self, first: Call) -> str | None:
        """The home directory, by where the run, or its first call, starts: what is said later changes no event."""
        return home_of(self.run.cwd) or home_of(first.cwd)

    def _is_over(self, issued: _Issued) -> bool:
        """Whether a call has its last result."""
        expected = 1 if self.survey is None else self.survey.results.get(issued.call.key, 0)
        return issued.results >= expected

    @property
    def finished_run(self) -> Run:
        """The run with what is only known at its end."""
        return replace(self.run, not_executed=self.run.not_executed + self._dropped)

    # --- calls ------------------------------------------------------------------------------------------

    def _issue(self, call: Call, proposed: _Proposed | None) -> None:
        from vigil_lang.abstraction.shell.outcome import join_states

        shell = self._shells[call.session] = self._shell(call)
        if proposed is not None and proposed.text == _said(call):
            # Nothing happened since it was proposed: what it would do is what it does.
            issued, self._files = proposed.issued, proposed.files
            issued.call = call
        else:
            issued = self._read(call, shell, self._files, self._calls + 1)
        self._calls += 1
        before, left, stopped = issued.before, issued.left, issued.stopped
        shell.typed = shell.typed or before
        if left != before or stopped != before:
            # Until its end is known, so is only what it does not change.
            shell.state, shell.last = join_states(join_states(before, left), stopped), issued
        self._queue.append(issued)
        self._waiting[call.key] = issued

    def _read(self, call: Call, shell: _Shell, files: KnownFiles, number: int) -> _Issued:
        """A call as it would leave a shell and files; these files take part in it."""
        from vigil_lang.abstraction.call_steps import Taken
        from vigil_lang.abstraction.calls import understand

        taken = Taken(files, self.options.probe)
        files.begin()
        understood = understand(call, call.args, shell.state, taken, self.options.tools)
        before = left = stopped = shell.state
        if understood.after is not None and understood.partly is not None:
            left = self._left(shell, understood, understood.after, call)
            stopped = self._left(shell, understood, understood.partly, call)
            if understood.keeps == "project":
                # Claude Code takes over a directory when all went well.
                stopped = replace(stopped, cwd=before.cwd)
        return _Issued(call, f"e{number}", understood, taken, before, left, stopped, files.hold())

    def _shell(self, call: Call) -> _Shell:
        """The shell of the call's session as the call finds it; a copy."""
        from vigil_lang.abstraction.shell import ShellState

        known = self._shells.get(call.session)
        if known is None:
            base = resolve(self.run.cwd, None) if self.run.cwd else START
            shell = _Shell(ShellState(cwd=base), base)
        else:
            shell = replace(known)
        if known is not None and shell.base == START and self.run.cwd:
            # The recording said only later where it started.
            shell.base = resolve(self.run.cwd, None)
            if shell.state.cwd == START:
                shell.state = replace(shell.state, cwd=shell.base)
        if call.cwd is not None:
            shell.state = replace(shell.state, cwd=resolve(call.cwd, shell.base))
        if self.run.format in _TYPED and shell.last is not None:
            shell.state = shell.last.left
        return shell

    def _left(self, shell: _Shell, understood: Understood, after: ShellState, call: Call) -> ShellState:
        """The shell as the next call finds it, if this one leaves its own like that."""
        from vigil_lang.abstraction.shell import ShellState

        match understood.keeps:
            case "session":
                return after
            case "project" if call.parent is None:
                inside = after.cwd is None or shell.base is None or is_below(after.cwd, shell.base)
                return ShellState(cwd=after.cwd if inside else shell.base)
            case "unknown" if after.cwd != shell.state.cwd:
                return ShellState(cwd=None)
        return ShellState(cwd=shell.base if understood.keeps in ("project", "nothing") else shell.state.cwd)

    def _settle(self, result: Result) -> None:
        issued = self._waiting.get(result.key)
        if issued is None:
            return
        self._has_results = True
        issued.result = result
        issued.results += 1
        shell = self._shells[issued.call.session]
        understood = issued.understood
        self._files.settle(issued.changed, executed=result.executed, failed=result.status == "error")
        issued.changed = {}
        if understood.after is not None:
            if not result.executed and self.run.format in _TYPED:
                shell.state, shell.last = shell.typed or issued.before, None
            elif shell.last is issued:
                shell.state, shell.last = self._ended(issued, result), None
            if result.cwd is not None:
                shell.state = replace(shell.state, cwd=resolve(result.cwd, shell.base))
        if result.file is not None:
            shown = resolve(result.file[0], shell.state.cwd)
            if shown is not None:
                self._files.put(shown, _with_break(result.file[1]))
        elif result.status == "ok" and result.output is not None:
            self._shown(issued, result.output)

    @staticmethod
    def _ended(issued: _Issued, result: Result) -> ShellState:
        """The shell after a call, the latest of its session, whose end is known."""
        if not result.executed:
            return issued.before
        return issued.stopped if result.status == "error" else issued.left

    def _shown(self, issued: _Issued, output: str) -> None:
        """Remember the text of a file that was shown whole: by a tool that shows just that, or by a lone `cat`."""
        understood, taken = issued.understood, issued.taken
        if understood.shows is not None:
            self._files.put(understood.shows, _with_break(output))
        elif len(taken.steps) == 1 and taken.steps[0].action == "cat" and not taken.steps[0].roles.get("flag"):
            paths = taken.steps[0].roles.get("path", ())
            if len(paths) == 1 and "*" not in paths[0]:
                self._files.put(paths[0], _with_break(output))

    # --- events -----------------------------------------------------------------------------------------

    def _say(self, message: Message) -> None:
        self._messages += 1
        for shell in self._shells.values():
            shell.typed = None
        if not self._has_results:
            self._go_on()
        name = f"m{self._messages}"
        extra = {"parent": message.parent} if message.parent else {}
        kind = f"{message.role}.message"
        self._queue.append(Event(name, kind, name, {"text": (message.text,)}, "ok", time=message.time, extra=extra))

    def _go_on(self) -> None:
        """In a recording without results what is said after a call says that it is over, and did what it was to do."""
        for issued in self._waiting.values():
            self._files.settle(issued.changed, executed=True, failed=False)
            issued.changed = {}
        for shell in self._shells.values():
            if shell.last is not None:
                shell.state, shell.last = shell.last.left, None

    def _bounded(self, event: Event) -> Event:
        output, extra = observed(event.output, self.options.kept)
        if not extra:
            return event
        before = event.extra.get("truncated")
        if isinstance(before, int) and not isinstance(before, bool) and before > 0:
            extra["truncated"] += before
        return replace(event, output=output, extra={**event.extra, **extra})

    def _events(self, found: _Issued | Event) -> Iterator[Event]:
        if isinstance(found, Event):
            yield found
            return
        result = found.result
        if result is not None:
            self._waiting.pop(found.call.key, None)
        if result is not None and not result.executed:
            self._dropped += 1
            return
        call, understood, taken = found.call, found.understood, found.taken
        status: Status = "unknown" if result is None else result.status
        output, extra = observed(result.output if result else None, self.options.kept)
        if call.parent is not None:
            extra["parent"] = call.parent
        if taken.trouble:
            extra["not_understood"] = list(taken.trouble)
        if taken.unseen:
            extra["unseen"] = list(taken.unseen)[:MOST_UNSEEN]
        if found.told is None:
            open_steps = taken.trouble or any(leaves_open(step.unresolved) for step in taken.steps)
            unresolved = (*understood.unresolved, *((STEPS,) if open_steps else ()))
            args = with_marks(understood.args, unresolved)
            found.told = args, meant(understood.kinds, args, understood.reads)
        args, kinds = found.told
        yield Event(found.event, call.name, call.key, args, status, output, kinds, call.time, extra)
        yield from self._steps(found, status, result.output if result else None)

    def _steps(self, found: _Issued, status: Status, output: str | None) -> Iterator[Event]:
        taken, call = found.taken, found.call
        statuses = _statuses(found, status)
        shown = {} if output is None else _outputs(taken, statuses, output)
        for place, step in enumerate(taken.steps):
            if step.inferred and not self.options.inferred:
                continue
            event = f"{found.event}.{place + 1}"
            text, extra = observed(shown.get(place), self.options.kept)
            yield step_event(step, event, call.key, statuses[place], text, call.time, extra)


def _state_of(issued: _Issued) -> CallState:
    from vigil_lang.abstraction.state import CallState

    call, understood, taken = issued.call, issued.understood, issued.taken
    return CallState(
        call.key,
        call.name,
        call.time,
        call.session,
        call.parent,
        issued.event,
        issued.told or ({}, ()),
        understood.after is not None,
        understood.shows,
        understood.command,
        [replace(step, content=None) for step in taken.steps],  # the event of a step has it as an argument
        taken.owners,
        list(taken.trouble),
        list(taken.unseen),
        issued.before,
        issued.left,
        issued.stopped,
        issued.changed,
    )


def _said(call: Call) -> str:
    return repr((call.name, call.args, call.time, call.cwd, call.session, call.parent, call.kinds))


def _statuses(found: _Issued, status: Status) -> list[Status]:
    """How each step ended: by what the call's end says of it, then by what the call showed."""
    taken, result = found.taken, found.result
    if result is None:
        return ["unknown"] * len(taken.steps)
    of: dict[Status, Any] = {"ok": lambda s: s.if_ok, "error": lambda s: s.if_error, "unknown": lambda _: "unknown"}
    if _tells_little(result, taken):
        status = "unknown"
    statuses: list[Status] = [of[status](step) for step in taken.steps]
    cut = _is_cut_short(result)
    shown = [_shows_some(step, cut) for step in taken.steps]
    statuses = ["unknown" if some and end == "error" else end for some, end in zip(shown, statuses, strict=True)]
    broken: set[int] = set()
    if result.output:
        from vigil_lang.abstraction.evidence import failed, summed_up

        tests = summed_up(taken.steps, result.output, found.understood.command)
        if tests is not None and statuses[tests[0]] == "unknown":
            statuses[tests[0]] = tests[1]
        told = failed(taken.steps, result.output, found.understood.command)
        broken = {n for n in told if statuses[n] == "unknown"}
    if result.output is not None and not _goes_on_later(found) and not _is_cut_short(result):
        from vigil_lang.abstraction.evidence import unsaid

        broken |= {n for n in unsaid(taken.steps, result.output) if statuses[n] == "unknown"}
    if result.exit_code in (126, 127) and sum(owner is None for owner in taken.owners) == 1:
        broken.add(taken.owners.index(None))
    never = _NotStarted(broken, result)
    for place, owner in enumerate(taken.owners):
        if place in broken and (not shown[place] or never.holds(place)):
            statuses[place] = "error"
        elif owner is not None and never.holds(owner):
            statuses[place] = "error"
            never.places.add(place)
        elif owner in broken and "package.install" in taken.steps[place].kinds:  # it ends as its program does
            statuses[place] = "error"
    for place, step in enumerate(taken.steps):
        if statuses[place] == "error" and _reads_secrets(step) and not _is_refused(step, taken, result):
            statuses[place] = "unknown"
    return statuses


def _goes_on_later(found: _Issued) -> bool:
    """Whether what a call shows is not yet all that it does."""
    args, _ = found.told or ({}, ())
    return any("background" in name and values == ("true",) for name, values in args.items())


def _reads_secrets(step: Step) -> bool:
    return "secret.read" in meant(step.kinds, step.roles, step.reads)


def _is_refused(step: Step, taken: Taken, result: Result) -> bool:
    """Whether it is certain that a failed read showed nothing: the call did only this, and all it shows is why not.

    Words in an output prove nothing, for the call may have printed them itself.
    """
    programs = [each for each in taken.steps if "process.run" in each.kinds]
    if len(programs) != 1 or result.output is None or not {"net.request", "code.run"}.isdisjoint(programs[0].kinds):
        return False
    lines = [line for line in result.output.splitlines() if line.strip() and not _EXIT_CODE.match(line)]
    if not lines:
        return "piped_to" not in programs[0].roles
    return len(lines) == 1 and not _shows_some(step, cut=False) and is_refusal(lines[0], programs[0].action)


def _may_complain(step: Step) -> bool:
    """Whether a step that prints nothing otherwise may say why it failed."""
    return not step.prints and "piped_to" not in step.roles and step.says is None and "shell.control" not in step.kinds


def _tells_little(result: Result, taken: Taken) -> bool:
    """Whether the end of a call says nothing of its steps.

    An exit code that the harness takes for success need not be the last program's; and where a call was cut short the
    last program may not have begun, unless it is the only one.
    """
    if result.status == "ok":
        return result.exit_code not in (None, 0)
    return _is_cut_short(result) and sum(owner is None for owner in taken.owners) > 1


def _is_cut_short(result: Result) -> bool:
    return result.exit_code in _CUT_SHORT or (result.output or "").startswith(_INTERRUPTED)


def _shows_some(step: Step, cut: bool) -> bool:
    """Whether a step that failed may have read some of its files all the same: one of several, or before it was cut."""
    if _READS.isdisjoint(step.kinds):
        return False
    paths = [path for role in ("path", "source") for path in step.roles.get(role, ())]
    return cut or bool(step.reads) or len(paths) > 1 or any("*" in path or "?" in path for path in paths)


class _NotStarted(Mutable):
    """Programs that were not found or not allowed to start: nothing of what they would have done happened."""

    broken: set[int]
    result: Result
    places: set[int] = field(default_factory=set)

    def holds(self, place: int) -> bool:
        started = "not found" not in (self.result.output or "") and self.result.exit_code not in (126, 127)
        return place in self.places or (place in self.broken and not started)


def _outputs(taken: Taken, statuses: Sequence[Status], output: str) -> dict[int, str]:
    """The steps whose output the call's is: the only one that can print, and what it merely passes on.

    What says nothing when all goes well may have said why it did not. What `echo` is known to print is taken out
    first, so that a text of the agent's own is nobody else's output.
    """
    own = [n for n, step in enumerate(taken.steps) if "process.run" in step.kinds and not step.inferred]
    if any(statuses[n] != "ok" and _may_complain(taken.steps[n]) for n in own if len(own) > 1):
        return {}
    printing = [n for n, step in enumerate(taken.steps) if step.prints and not step.inferred]
    others = [n for n in printing if taken.steps[n].says is None]
    if len(others) != 1:
        return {n: output for n in printing if len(printing) == 1}
    at = others[0]
    for said in (taken.steps[n].says for n in printing if n != at):
        before, found, after = output.partition(said or "")
        if not found and said:
            return {}
        output = before + after
    places = {at: output}
    while taken.steps[at].action in _SHOWS_ALL and (source := taken.steps[at].roles.get("piped_from")):
        before_it = [n for n in range(at) if taken.steps[n].action == source[0] and not taken.steps[n].inferred]
        if not before_it:
            break
        at = before_it[-1]
        places[at] = output
    return places


def _with_break(text: str) -> str:
    """A file's text with the line break at its end, which is not shown."""
    return text if not text or text.endswith("\n") else text + "\n"
