"""What programs call: policies and runs from texts and values, and verdicts on them (docs/api.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from vigil_lang.abstraction.run import Abstraction, Options
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.runs import read_trace, read_traces, usable, why_unusable
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.semantics.policy import load_policy as load
from vigil_lang.trace import Run, Status, Trace, checked
from vigil_lang.trace import record as records
from vigil_lang.trace.event import STATUSES, is_kept, refuse
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from decimal import Decimal

    from vigil_lang.verdict import Verdict

_MEMORY = "<memory>"
_DEFAULTS = Options()


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as a harness sees it; `abstract` finds out what it does.

    `input` has values as they stand in JSON. `executed` is False for a call that was refused before it ran. `time` is
    a `datetime` (without a zone: UTC), an ISO 8601 text or seconds since 1970.

    Raises:
        TypeError: an argument is not of its type; the message names it and says what it takes.
        ValueError: it is of its type and yet none.
    """

    tool: str
    input: Mapping[str, object] = field(default_factory=dict)
    status: Status = "unknown"
    output: str | None = None
    executed: bool = True
    exit_code: int | None = None
    time: datetime | str | float | Decimal | None = None

    def __post_init__(self) -> None:
        checked.named(self.tool, "tool")
        checked.members(self.input, "input")
        checked.one_of(self.status, "status", STATUSES)
        if self.output is not None:
            checked.text(self.output, "output")
        checked.flag(self.executed, "executed")
        if self.exit_code is not None and (isinstance(self.exit_code, bool) or not isinstance(self.exit_code, int)):
            raise TypeError(f"`exit_code` takes an int, not {checked.shown(self.exit_code)}")
        checked.moment(self.time, "time")


@dataclass(frozen=True, slots=True)
class Message:
    """What the user or the agent says. Raises as `Call` does."""

    role: Literal["user", "agent"]
    text: str
    time: datetime | str | float | Decimal | None = None

    def __post_init__(self) -> None:
        checked.one_of(self.role, "role", ("user", "agent"))
        checked.named(self.text, "text")
        checked.moment(self.time, "time")


def abstract(
    calls: Iterable[Call | Message], *, name: str = _MEMORY, cwd: str | None = None, options: Options = _DEFAULTS
) -> Trace:
    """The trace of calls and messages, in their order: as a harness's recording of them would be read.

    A call without a status and an output is pending. `name` is what messages call the run, `cwd` the folder that it
    starts in.

    Raises:
        TypeError: an argument is not of its type; the message names it and says what it takes.
        ValueError: arguments are nested too deeply, or have names that are too long.
    """
    run = Run(checked.named(name, "name"), cwd=None if cwd is None else checked.named(cwd, "cwd"))
    abstraction = Abstraction(options)
    abstraction.add(records.Start(run))
    for place, given in enumerate(checked.several(calls, "calls", "an iterable of calls and messages")):
        for record in records_of(given, place):
            abstraction.add(record)
    return Trace(tuple(abstraction.rest()), abstraction.finished_run)


def records_of(given: object, place: int) -> Iterator[records.Record]:
    """What a harness's recording says of a call or message: the call and, where its end is known, its result.

    Raises:
        TypeError: it is neither.
    """
    match given:
        case Message():
            yield records.Message(given.role, canonical(given.text), checked.moment(given.time, "time"))
        case Call():
            key, time = f"call-{place + 1}", checked.moment(given.time, "time")
            yield records.Call(key, given.tool, checked.members(given.input, "input"), time)
            if not given.executed or given.output is not None or (given.status, given.exit_code) != ("unknown", None):
                output = None if given.output is None else canonical(given.output)
                yield records.Result(key, given.status, output, given.executed, given.exit_code)
        case _:
            raise TypeError(f"`calls` takes `Call` and `Message`, not {checked.shown(given)} (number {place + 1})")


def load_policy(path: str | Path, params: Mapping[str, object] | None = None) -> Policy:
    """A policy from a file, from standard input (`-`), or a standard module by its name (`std.secrets`).

    `params` are values for its `param` declarations.

    Raises:
        InputError: it cannot be read, does not parse, or does not resolve; VGL610 for a file of tests.
        TypeError: an argument is not of its type.
        ValueError: it has no param of a name that is given.
    """
    if not isinstance(path, str | Path):
        raise TypeError(f"`path` takes a text or a `Path`, not {checked.shown(path)}")
    return _given(load(path, _params(params)), params)


def parse_policy(text: str, params: Mapping[str, object] | None = None, *, name: str = "<text>") -> Policy:
    """A policy from its text. `params` are values for its `param` declarations, `name` is what messages call it.

    It can use standard modules; those beside a file (`use .name`) are for `load_policy`.

    Raises:
        InputError: it does not parse, or does not resolve.
        TypeError: an argument is not of its type.
        ValueError: it has no param of a name that is given.
    """
    checked.named(name, "name")
    policy = read_policy(Source(name, checked.text(text, "text")), _params(params), stored=False)
    if policy.errors:
        raise InputError(policy.errors)
    return _given(policy, params)


def _params(params: object) -> Mapping[str, object]:
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"`params` takes a mapping of names to values, not {checked.shown(params)}")
    return {checked.text(name, "params: a name"): value for name, value in (params or {}).items()}


def _given(policy: Policy, params: Mapping[str, object] | None) -> Policy:
    """The policy, if all that is given sets something: a misspelt name would leave the default in force."""
    for name in params or ():
        if name not in policy.declared:
            known = ", ".join(sorted(policy.declared)) or "none"
            raise ValueError(f"`params` names {checked.shown(name)}, and the params of the policy are: {known}")
    return policy


def parse_trace(
    data: str | bytes,
    *,
    format: str | None = None,  # noqa: A002 - as the option is called
    name: str = _MEMORY,
    options: Options = _DEFAULTS,
) -> Trace:
    """The trace of a recording's content, of whatever format. Raises as `load_trace` does, and `TypeError`."""
    (found,) = usable([read_trace(_stream(data), checked.named(name, "name"), format, options)], options)
    return found


def parse_traces(
    data: str | bytes,
    *,
    format: str | None = None,  # noqa: A002 - as the option is called
    name: str = _MEMORY,
    options: Options = _DEFAULTS,
) -> list[Trace]:
    """The traces of all runs in a recording's content. Raises as `parse_trace` does."""
    return list(usable(read_traces(_stream(data), checked.named(name, "name"), format, options), options))


def _stream(data: object) -> BytesIO:
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if not isinstance(data, bytes):
        raise TypeError(f"`data` takes the content of a recording, text or bytes, not {checked.shown(data)}")
    return BytesIO(data)


@overload
def verify(policies: Policy | Iterable[Policy], traces: Trace, *, allow_empty: bool = False) -> Verdict: ...


@overload
def verify(
    policies: Policy | Iterable[Policy], traces: Iterable[Trace], *, allow_empty: bool = False
) -> list[Verdict]: ...


def verify(
    policies: Policy | Iterable[Policy], traces: Trace | Iterable[Trace], *, allow_empty: bool = False
) -> Verdict | list[Verdict]:
    """Judge a run, or several, by one policy or several: a verdict for a trace, a list of them for an iterable.

    Raises:
        TypeError: an argument is not of its type; the message names it and says what it takes.
        ValueError: there is no policy, no statement in any, or no trace: nothing would be judged.
        InputError: a policy has findings that keep statements from having a meaning; a run holds no events or most of
            its recording was not understood, unless `allow_empty`.
        SolverDisagrees: Z3 did not confirm a verdict; a fault of this program.
    """
    from vigil_lang.engines.smt.verify import verify as judge

    checked.flag(allow_empty, "allow_empty")
    by = usable_policies(policies)
    if isinstance(traces, Trace):
        return judge(by, _judged(traces, 1, allow_empty=allow_empty))
    what = "a Trace or several (`load_trace`, `parse_trace`, `abstract`, `Trace.of`)"
    every = [
        _judged(trace, place, allow_empty=allow_empty)
        for place, trace in enumerate(checked.several(traces, "traces", what), 1)
    ]
    if not every:
        raise ValueError("`traces` has no trace: there is nothing to judge")
    return [judge(by, trace) for trace in every]


def usable_policies(policies: object) -> list[Policy]:
    """Policies to judge by, one or several.

    Raises:
        TypeError: they are none.
        ValueError: there is none, or no statement in any.
        InputError: one has findings that keep statements from having a meaning.
    """
    what = "a Policy or several (`load_policy`, `parse_policy`)"
    given = [policies] if isinstance(policies, Policy) else list(checked.several(policies, "policies", what))
    for policy in given:
        if not isinstance(policy, Policy):
            raise TypeError(f"`policies` takes {what}, not {checked.shown(policy)}")
        if policy.errors:
            raise InputError(policy.errors)
    if not any(policy.statements for policy in given):
        has = "rules for a gate alone" if any(policy.rules for policy in given) else "no statement"
        raise ValueError(f"`policies` has {has}: there is nothing to judge by")
    return cast("list[Policy]", given)


def _judged(trace: Any, place: int, *, allow_empty: bool) -> Trace:
    """A trace as it can be judged; arguments of events are tables, which may have been changed meanwhile."""
    if not isinstance(trace, Trace):
        raise TypeError(f"`traces` takes a Trace or several, not {checked.shown(trace)} (number {place})")
    for event in trace.events:
        if not is_kept(event):
            refuse(event)
    doubt = None if allow_empty else why_unusable(trace.run, len(trace))
    if doubt is not None:
        raise InputError([doubt])
    return trace
