"""Command lines as steps: each program, what it does to files besides, and the code it is given.

A line is read by `shell`, a program's words by `catalogue`, a script by `scripts`; here they meet, because a shell
runs scripts and scripts run shells.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.abstraction.call_steps import Place, Taken
from vigil_lang.abstraction.catalogue import read_command
from vigil_lang.abstraction.environment import is_set_up, runs_otherwise
from vigil_lang.abstraction.files import LARGEST
from vigil_lang.abstraction.filters import FILTERS, only_transforms
from vigil_lang.abstraction.patches import read_patch
from vigil_lang.abstraction.paths import resolve
from vigil_lang.abstraction.shell import ShellState, read_shell
from vigil_lang.abstraction.step import EXCERPT, Spawn, Step, Word, effect
from vigil_lang.abstraction.streams import Line, filled, found_by, goes_away, printed, redirections
from vigil_lang.patterns import regex
from vigil_lang.trace.unseen import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vigil_lang.abstraction.catalogue import Code
    from vigil_lang.abstraction.shell import Command, Redirect
    from vigil_lang.abstraction.shell.state import Value
    from vigil_lang.trace import Status

# Not `${NAME:+text}`, which is the text and not the value.
# `${!NAME}` is the value of the variable that NAME names: any one of the environment.
_INDIRECT = regex(r"\$\{![A-Za-z_][A-Za-z0-9_]*+\}")
_EXPANDED = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*+)(?!:?\+)")
_MOST_STDIN = 100_000
_INSTALL = "package.install"

_ONLY_PRINT = frozenset({"calendar", "platform", "sysconfig", "this"})
"""Modules of Python's own that only print something when they are run; those with effects are programs."""

_READ = frozenset({"shell", "python", "javascript", "typescript"})
"""Languages whose scripts are read."""

# Programs of these kinds say nothing when all goes well.
_SILENT = frozenset(
    {
        "dir.change", "dir.create", "file.copy", "file.move", "file.delete", "file.permit", "file.link", "file.write",
        "file.edit", "file.append", "env.set", "git.add",
    }
)  # fmt: skip
# What they run may run any number of times, also none, and not all of them pass its failure on.
_FEEDERS = frozenset({"find", "gfind", "fd", "fdfind", "xargs", "gxargs", "parallel"})
_READ_WORDS = frozenset({"xargs", "gxargs", "parallel"})
"""Programs that read words from their standard input: what they run has nothing left to read."""
_GIVES_CODE = Word("-c")
_SILENT_PROGRAMS = frozenset({"true", "false", "sleep", ":", "set", "source", ".", "test", "[", "[[", "wait", "touch"})


def take_line(
    text: str, state: ShellState, taken: Taken, place: Place, *, fed: bool = False
) -> tuple[ShellState, ShellState]:
    """Add the steps of a command line; the shell's state after it if all goes well, and wherever it stops.

    `fed` where its standard input is a file, a pipe or a text.
    """
    if not taken.may_read(text, place.depth):
        unknown = ShellState(cwd=None, errexit=None, pipefail=None)
        return unknown, unknown
    reading = read_shell(text, state, fed=fed)
    taken.trouble.update(dict.fromkeys(reading.trouble))
    line = Line(reading.commands)
    for command in reading.commands:
        _take_command(command, line, taken, place.where(command.if_ok, command.if_error))
    return reading.after, reading.partly


def _take_command(command: Command, line: Line, taken: Taken, place: Place) -> None:
    """Add one simple command with all it does."""
    stdin = line.stdin(command, taken.files)
    text = printed(command, stdin, taken.files)
    at: int | None = None
    if command.words:
        roles: dict[str, tuple[str, ...]] = {}
        if upstream := line.upstream(command, taken):
            roles["piped_from"] = upstream
        roles.update(_assigned(command.assignments))
        if away := goes_away(command):
            roles["piped_to"] = (away,)
        if expanded := tuple(name for word in command.words if not word.known for name in _EXPANDED.findall(word.text)):
            roles["expands"] = expanded
        printing = not (command.piped_to or away)
        fed = line.feeds(command, stdin, taken)
        variables = {**command.variables, **{name: (word,) for name, word in command.assignments}}
        run = _Run(command.words, command.cwd, roles, stdin, command.excerpt, printing, fed, variables, command.rebound)
        if command.fed:
            run = run._replace(reads=True, sources=line.sources(command, taken))
        for step in _reads(command, place):
            taken.add(step, place.owner)
        at = _take_program(run, taken, place)
        if at is not None:
            line.pipes_into(command, taken.steps[at].action, taken)
            line.fetches(command, at, taken)
            if not command.piped_to:  # what goes to a program is used, not shown
                names = roles.get("expands", ())
                _shows(taken.steps[at], [n for n in names if n.isupper() and n not in command.variables])
        if at is not None and printing and command.piped_from is None:
            taken.steps[at].says = text
            if place == Place(command.if_ok, command.if_error):
                taken.steps[at].after = line.before(command)
        if at is not None and any(_INDIRECT.search(word.text) for word in command.words if not word.known):
            taken.steps[at].unresolved += (EFFECTS,)
        if at is not None and any(map(_goes_on, command.redirects)):
            taken.steps[at].unresolved += ("target",)
        if at is not None and stdin is None and any(redirect.op.startswith("<<") for redirect in command.redirects):
            taken.steps[at].unresolved += ("stdin",)
    line.places.append(at)
    line.printed.append(text)
    for step in redirections(command, text, reads=False if command.words else None):
        if at is not None:
            step.roles["program"] = (taken.steps[at].action,)
        taken.add(place.mark(step), place.owner if at is None else at)


def _shows(step: Step, names: Sequence[str]) -> None:
    """`echo $TOKEN` shows a variable of the environment, as long as the shell has not set it itself."""
    if names and "text.print" in step.kinds:
        step.kinds = (*step.kinds, "env.read")
        step.roles["variable"] = tuple(dict.fromkeys((*step.roles.get("variable", ()), *names)))


def _goes_on(redirect: Redirect) -> bool:
    """Whether a program's output goes to what was opened before, by the number it has."""
    target = redirect.target.text.lstrip("&") if redirect.target is not None else ""
    return redirect.op == ">&" and redirect.fd in (None, 1) and target.isdecimal() and int(target[:9]) > 2


def _reads(command: Command, place: Place) -> Iterator[Step]:
    """The files a program is given on its standard input: they are read before it does anything."""
    for step in redirections(command, None, reads=True):
        step.roles["program"] = (posixpath.basename(command.words[0].text),)
        yield place.mark(step)


def _assigned(assignments: Sequence[tuple[str, Word]]) -> dict[str, tuple[str, ...]]:
    """`A=b program`: the names, and each value under its name."""
    values = {name: (word.text,) for name, word in assignments if word.known}
    return {**values, "variable": tuple(name for name, _ in assignments)} if assignments else {}


class _Run(NamedTuple):
    """A program as it is run."""

    words: tuple[Word, ...]
    cwd: str | None
    roles: dict[str, tuple[str, ...]]
    """Roles it has from where it stands."""
    stdin: str | None
    excerpt: str
    printing: bool
    """Whether its output is what the call shows."""
    fed: tuple[Word, ...] = ()
    """What `xargs` would give to the command it runs."""
    variables: Mapping[str, Value] = {}
    """What the shell knows of its variables."""
    rebound: bool = False
    """Whether its name may stand for a function or an alias that is not known."""
    found: bool = False
    """Whether its words hold patterns of what `find` finds, at any depth."""
    reads: bool = False
    """Whether its standard input is a file, a pipe or a text."""
    sources: tuple[str | None, ...] = ()
    """The files that come to it there, None for one that cannot be told."""


def _take_program(run: _Run, taken: Taken, place: Place) -> int | None:
    """Add the step of one program, its effects, and what it runs in turn; the step's place."""
    piped = run.stdin is not None or "piped_from" in run.roles
    invocation = read_command(run.words, run.cwd, piped=piped, fed=run.reads, probe=taken.probe)
    step, code = invocation.step, invocation.code
    if invocation.sends and run.sources:
        known = tuple(path for path in run.sources if path is not None)
        step.roles["source"] = tuple(dict.fromkeys((*step.roles.get("source", ()), *known)))
        step.unresolved += ("source",) * (None in run.sources)
    step.roles.update((name, values) for name, values in run.roles.items() if name not in step.roles)
    if run.stdin is not None and code is None and len(run.stdin) <= _MOST_STDIN:
        step.roles.setdefault("stdin", (run.stdin,))
    place.mark(step, if_error=place.if_error)
    step.excerpt = run.excerpt[:EXCERPT]
    if run.found:
        step.reads = "found"
    head = run.words[0]
    replaced = taken.files.is_replaced(step.action) or is_set_up(head, taken.files)
    if run.rebound or replaced or runs_otherwise(head, run.variables):
        step.unresolved = tuple(dict.fromkeys((*step.unresolved, EFFECTS)))
        taken.changes_all()
    silent = _SILENT & set(step.kinds[1:2]) or step.action in _SILENT_PROGRAMS
    step.prints = run.printing and not silent and not invocation.inner
    left = _left_by(step, run.stdin, taken)
    step.content = left if "file.write" in step.kinds or "file.append" in step.kinds else None
    apart = _one_by_one(step, invocation.packages)
    at = taken.add(step, place.owner)
    if at is None:
        return None
    inside = place.inside(at)
    for one in apart:
        taken.add(inside.mark(one, if_error=place.if_error), at)
    if invocation.unseen:
        taken.changes_all()
    for each in invocation.effects:
        found = effect(each.kind, each.paths, missing=each.unresolved, program=step.action, excerpt=step.excerpt)
        found.reads = "found" if run.found else each.reads
        found.content = left if each.kind == "file.write" else None
        taken.add(inside.mark(found), at)
    if invocation.inner and taken.may_go(inside.depth):
        fed = found_by(step) or run.fed
        here = inside.where("unknown", "unknown") if step.action in _FEEDERS else inside
        for inner in invocation.inner:
            roles = {**run.roles, **_assigned(inner.assignments)}
            variables = {**run.variables, **{name: (word,) for name, word in inner.assignments}}
            reads = run.reads and step.action not in _READ_WORDS
            # Code that is given in place may run once for each of them: any is its `$1`.
            for some in [(word,) for word in fed] if _GIVES_CODE in inner.words and len(fed) > 1 else [fed]:
                words = filled(inner.words, some)
                spread = run.found or (words != inner.words and any(word.glob for word in some))
                taken_at = _take_program(
                    run._replace(
                        words=words,
                        cwd=inner.cwd,
                        roles=roles,
                        found=spread,
                        variables=variables,
                        rebound=False,
                        reads=reads,
                        sources=run.sources if reads else (),
                    ),
                    taken,
                    here,
                )
                if taken_at is None:
                    break
    if code is not None:
        _take_code(code, run, taken, inside, at)
    elif "db.query" in step.kinds and not invocation.unseen:
        _take_query(run, taken, at)
    elif step.action == "apply_patch" and run.stdin is not None:
        take_patch(run.stdin, run.cwd, taken, inside)
    return at


def _one_by_one(step: Step, packages: Sequence[tuple[str, str | None]]) -> list[Step]:
    """A step for each package, where several are installed and one has a version: only so it is clear which one has.

    The program's own event is then no `package.install`, for its package and its version need not belong together.
    """
    if _INSTALL not in step.kinds or len(packages) < 2 or not any(version for _, version in packages):
        return []
    step.kinds = tuple(kind for kind in step.kinds if kind != _INSTALL)
    shared = {role: texts for role, texts in step.roles.items() if role not in ("package", "version")}
    unresolved = tuple(role for role in step.unresolved if role not in (EFFECTS, "package", "version"))
    found: list[Step] = []
    for name, version in packages:
        roles = {**shared, "package": (name,)}
        if version is not None:
            roles["version"] = (version,)
        found.append(Step(_INSTALL, (_INSTALL,), roles, unresolved, prints=False, excerpt=step.excerpt))
    if "package" in step.unresolved:
        unknown = (*unresolved, "package")
        found.append(Step(_INSTALL, (_INSTALL,), shared, unknown, prints=False, excerpt=step.excerpt))
    return found


def _left_by(program: Step, stdin: str | None, taken: Taken) -> str | None:
    """The text a program leaves in its one target: what `tee` reads, what `cp` and `mv` find in their source."""
    match program.action:
        case "tee":
            return stdin
        case "cp" | "mv" | "install" if len(program.roles.get("source", ())) == 1:
            return taken.files.get(program.roles["source"][0])
    return None


# --- code ------------------------------------------------------------------------------------------------------


class _Text(NamedTuple):
    """Code whose text is known."""

    name: str
    text: str
    from_file: bool = False
    certain: bool = True
    """Whether no call that changes it is still going on."""


def _take_code(code: Code, run: _Run, taken: Taken, place: Place, at: int) -> None:
    """Read the code that a program is given; the program's step is marked where that is not known, or not read."""
    step = taken.steps[at]
    module = step.roles.get("module", ())
    if module and _ONLY_PRINT.issuperset(module):
        return
    found = _text_of(code, module, run, taken)
    if found is not None and code.stdin:
        _show_code(step, found.text)
    if found is None or not found.certain or not (code.language in _READ or code.language in FILTERS):
        role = "script" if code.script is not None else "code" if code.text is not None or code.stdin else "module"
        _leave_open(taken, at, role)
    if found is None:
        return
    if step.action == "trap":  # the shell's reading has what it runs
        return
    if code.language in FILTERS:
        transforms = only_transforms(code.language, found.text)
        if not transforms:
            _leave_open(taken, at, "code")
        if transforms or code.language != "perl":  # of which no more than one-liners that transform text is read
            return
    if not taken.may_read(found.text, place.depth):
        return
    if code.language == "shell":
        own: tuple[Word, ...] = (Word(found.name),)
        arguments = code.arguments
        if code.text is not None and arguments:  # bash -c TEXT NAME ARGUMENT…
            own, arguments = arguments[:1], arguments[1:]
        kept = {name: run.variables[name] for name in ("HOME", "PATH") if name in run.variables}
        state = ShellState(cwd=run.cwd, variables={"0": own, **kept}, arguments=arguments)
        where = place.within(found.name) if found.from_file else place
        take_line(found.text, state, taken, where, fed=run.reads and not code.stdin)
    else:
        inside = place.where("ok", "unknown")
        take_script(code.language, found.text, run.cwd, found.name, code.arguments, taken, inside)


def _show_code(step: Step, text: str) -> None:
    """Give a program the code it reads on its standard input, as if it stood in its words."""
    if len(text) <= _MOST_STDIN:
        step.roles.setdefault("code", (text,))
    else:
        step.unresolved = tuple(dict.fromkeys((*step.unresolved, "code")))


def _take_query(run: _Run, taken: Taken, at: int) -> None:
    """Mark a program that asks a database where its statements are not known, or may reach beyond the database."""
    from vigil_lang.abstraction import sql

    step = taken.steps[at]
    read = [taken.files.get(path) for path in step.roles.get("script", ())]
    if run.stdin is not None or not (read or "query" in step.roles):
        read.append(run.stdin)
    texts: list[str | None] = [*step.roles.get("query", ()), *read]
    if shown := tuple(text for text in texts if text is not None and len(text) <= _MOST_STDIN):
        step.roles["query"] = shown
    if any(text is not None and sql.changes(text) for text in texts):
        step.kinds = tuple(dict.fromkeys((*step.kinds, "db.write")))
    if not all(text is not None and only_transforms("sql", text) for text in texts):
        _leave_open(taken, at, "code")


def _leave_open(taken: Taken, at: int | None, mark: str) -> None:
    """Mark a program as doing something that is not told; what it may have changed is no longer known."""
    if at is not None:
        step = taken.steps[at]
        step.unresolved = tuple(dict.fromkeys((*step.unresolved, mark)))
    taken.changes_all()


def _text_of(code: Code, module: Sequence[str], run: _Run, taken: Taken) -> _Text | None:
    """Code given in place, in a file that is known, on standard input, or as a module that is known."""
    if code.text is not None:
        return _Text("-c", code.text.text) if code.text.known else None
    if code.stdin:
        return None if run.stdin is None else _Text("<stdin>", run.stdin)
    names = [code.script.text] if code.script is not None and code.script.known else []
    for each in module:
        below = each.replace(".", "/")
        names += [f"{below}.py", f"{below}/__main__.py"]
    for name in names:
        path = resolve(name, run.cwd)
        text = taken.files.expected(path) if path else None
        if path is not None and text is not None:
            return _Text(path, text, from_file=True, certain=taken.files.get(path) is not None)
        if path is not None and taken.files.too_large(path):
            taken.trouble[f"the script is longer than {LARGEST:,} characters"] = None
    return None


def take_script(
    language: str, text: str, cwd: str | None, name: str, arguments: Sequence[Word], taken: Taken, place: Place
) -> None:
    """Add what a script in Python or JavaScript does."""
    from vigil_lang.abstraction.scripts import read_script

    reading = read_script(
        language,
        text,
        cwd=cwd,
        name=name,
        arguments=arguments,
        files=taken.files.get,
        changed=taken.files.was_changed,
    )
    taken.trouble.update(dict.fromkeys(reading.trouble))
    if reading.unseen:
        _leave_open(taken, place.owner, EFFECTS)
        taken.unseen.update(dict.fromkeys(reading.unseen))
    for found in reading.steps:
        if isinstance(found, Spawn):
            _take_spawn(found, cwd, taken, place)
            continue
        found.inferred, found.if_error, found.prints = True, "unknown", False
        if place.scripts:
            found.roles["from_script"] = (*found.roles.get("from_script", ()), *place.scripts)
        if place.if_ok != "ok":
            found.if_ok = "unknown"
        if taken.add(found, place.owner) is None:
            break
    if reading.unseen:
        taken.changes_all()  # what was not seen may come after what was


def _take_spawn(found: Spawn, cwd: str | None, taken: Taken, place: Place) -> None:
    """Add what a command does that a script runs."""
    ok: Status = "ok" if found.certain and found.checked and place.if_ok == "ok" else "unknown"
    scripts = (*found.scripts, *place.scripts)
    inside = Place(ok, "unknown", place.owner, place.depth + 1, inferred=True, line=found.line, scripts=scripts)
    directory = cwd if found.cwd is None else resolve(found.cwd, cwd)
    if found.shell is not None:
        state = ShellState(cwd=directory, variables={name: (word,) for name, word in found.variables.items()})
        take_line(found.shell, state, taken, inside, fed=found.fed)
    elif found.argv and taken.may_go(inside.depth):
        spread = any(word.glob for word in found.argv)  # a search in a script passes over no hidden files
        variables = {name: (word,) for name, word in found.variables.items()}
        run = _Run(
            found.argv,
            directory,
            {},
            found.stdin,
            found.excerpt,
            printing=False,
            variables=variables,
            found=spread,
            reads=found.fed,
        )
        _take_program(run, taken, inside)


def take_patch(text: str, cwd: str | None, taken: Taken, place: Place) -> None:
    """Add the changes of a patch, each with its file."""
    for change in read_patch(text):
        path = resolve(change.path, cwd)
        moved = change.kind == "file.move"
        for kind in ("file.edit", "file.delete", "file.write") if moved else (change.kind,):
            at = resolve(change.target or "", cwd) if moved and kind == "file.write" else path
            step = effect(kind, (at,) if at else (), missing=at is None, excerpt=change.path)
            step.content = change.content
            taken.add(place.mark(step), place.owner)
