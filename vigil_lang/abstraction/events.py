"""Calls and their steps as events of the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.abstraction.bounded_output import bounded
from vigil_lang.abstraction.catalogue.values import hosts_of, machine
from vigil_lang.trace import Event
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.step import Step
    from vigil_lang.trace import Status

Args = dict[str, tuple[str, ...]]

# What of these kinds has a file of secrets for one of these roles gets at what is in it.
_READS = frozenset(
    {
        "file.read", "file.search", "file.move", "file.link", "archive.create", "net.upload", "code.run", "code.build",
        "data.process", "media.convert", "browser.open", "message.send", "db.query", "net.request",
    }
)  # fmt: skip
_READ_ROLES = ("path", "source", "script")
# What is only this shows nothing of its paths, whatever else the program shows.
_ONLY_CHANGES = frozenset({"file.write", "file.edit", "file.append", "file.delete", "file.permit", "dir.create"})
# What of these kinds is given a folder gets at all that lies below it.
_READS_FOLDERS = frozenset({"file.move", "file.link", "archive.create", "net.upload"})


MOST_UNSEEN = 20
"""Reasons of one call that are told why it may do more than its steps say."""


def meant(kinds: tuple[str, ...], args: Mapping[str, tuple[str, ...]], reads: str = "") -> tuple[str, ...]:
    """The kinds with what they imply, and `secret.read` where a file of secrets is read.

    `reads` says what of its paths comes out besides: `files`, `folders` with all below them, or what is `found` below.
    """
    words = vocabulary()
    found = words.closed(kinds)
    if "db.query" in found and "db.write" not in found and _changes_data(args.get("query", ())):
        found = (*found, "db.write")
    if (_READS.isdisjoint(found) and not reads) or "secret.read" in found or _ONLY_CHANGES.issuperset(found):
        return found
    below = reads == "folders" or not _READS_FOLDERS.isdisjoint(found)
    paths = [path for role in _READ_ROLES for path in args.get(role, ())]
    if "net.request" in found:
        paths += [
            url.removeprefix("file://").removeprefix("file:") for url in args.get("url", ()) if url[:6] == "file:/"
        ]
    if reads and "git.read" in found:  # `git show HEAD:.env`
        paths += [text.partition(":")[2] for text in args.get("revision", ()) if ":" in text]
    secret = any(words.covers_secrets(path, below=below, anywhere=reads == "found") for path in paths)
    return (*found, "secret.read") if secret else found


def _changes_data(queries: tuple[str, ...]) -> bool:
    from vigil_lang.abstraction import sql  # few calls have any

    return any(map(sql.changes, queries))


def with_marks(args: Args, unresolved: tuple[str, ...], *, inferred: bool = False, schemeless: bool = True) -> Args:
    """Arguments with the `host` of their urls, and the marks of what is inferred or unresolved.

    `schemeless` says whether an address may begin with its host, as for programs: for functions it does not.
    """
    found, known = hosts_of(args.get("url", ()), schemeless=schemeless)
    given = args.get("host", ())  # `git clone host:path` has its own way to name one
    if hosts := tuple(dict.fromkeys((*given, *found))):
        args["host"] = hosts
    if not known and not given:
        unresolved = (*unresolved, "host")
    if unresolved:
        args["unresolved"] = tuple(dict.fromkeys(unresolved))
    if inferred:
        args["inferred"] = ("true",)
    return args


def step_event(
    step: Step,
    event: str,
    call: str,
    status: Status,
    output: str | None,
    time: int | None,
    extra: dict[str, Any],
) -> Event:
    """The event of a step; `extra` is what is to be said of its output."""
    if step.excerpt:
        extra["excerpt"] = step.excerpt
    if step.line is not None:
        extra["line"] = step.line
    if step.content is not None and "text" not in step.roles:
        step.roles["text"] = (step.content,)
    if "host" in step.roles:
        step.roles["host"] = tuple(map(machine, step.roles["host"]))
    args = with_marks(step.roles, step.unresolved, inferred=step.inferred, schemeless="code.call" not in step.kinds)
    return Event(event, step.action, call, args, status, output, meant(step.kinds, args, step.reads), time, extra)


def observed(output: str | None, kept: int) -> tuple[str | None, dict[str, Any]]:
    """An output within bounds, and what an event says of it besides."""
    if output is None:
        return None, {}
    text, cut = bounded(output, kept)
    return text, {"truncated": cut} if cut else {}


def unseen(event: Event) -> tuple[str, ...]:
    """Why a script of a call may do more than its steps tell, as its event carries it."""
    told = event.extra.get("unseen")
    return tuple(text for text in told if isinstance(text, str)) if isinstance(told, list) else ()


def not_understood(event: Event) -> tuple[str, ...]:
    """What of a call was not understood, as its event carries it; nothing where that member is no list of texts."""
    told = event.extra.get("not_understood")
    return tuple(text for text in told if isinstance(text, str)) if isinstance(told, list) else ()
