"""A tool call as its kinds, roles and steps: what its tool does with which arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.abstraction.call_steps import Place
from vigil_lang.abstraction.catalogue.values import holds_secret
from vigil_lang.abstraction.paths import resolve
from vigil_lang.abstraction.step import effect
from vigil_lang.abstraction.tools import Tool, tool, with_own
from vigil_lang.abstraction.unread import carries_what_runs
from vigil_lang.base.structs import Mutable
from vigil_lang.trace.unseen import COMMAND, EFFECTS
from vigil_lang.trace.values import canonical, flatten
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.abstraction.call_steps import Taken
    from vigil_lang.abstraction.shell import ShellState
    from vigil_lang.trace.record import Call

_RUN = frozenset({"shell.run", "process.run", "code.run", "container.run"})
"""What a tool of these kinds runs is known only where its text was read."""

MARKS = ("inferred", "unresolved")
"""Arguments that only the abstraction sets; a call's own of that name is found under ``input.``."""


class Unnameable(ValueError):
    """The arguments of a call are nested too deeply for each to have a name."""


class Understood(Mutable):
    """What a call is: its own kinds and arguments, how its shell is left, and what a result will show."""

    kinds: tuple[str, ...]
    args: dict[str, tuple[str, ...]]
    unresolved: tuple[str, ...]
    after: ShellState | None = None
    """The shell if all goes well."""
    partly: ShellState | None = None
    """The shell wherever the call stopped: what it may have changed is unknown."""
    keeps: str = ""
    shows: str | None = None
    """The path whose text the output is."""
    reads: str = ""
    """`folders` where what lies below its paths is shown."""
    command: str = ""
    """The command line the call gives to a shell."""


_GLOBS = ("glob", "include", "includes", "include_pattern", "file_pattern")
"""Arguments that say which files of a folder are searched."""


def understand(
    call: Call, args: dict[str, Any], state: ShellState, taken: Taken, own: dict[str, Tool] | None = None
) -> Understood:
    """The kinds and roles of a call; its steps are added to `taken`.

    `args` are the call's arguments as an object, `own` the tools that the project describes.

    Raises:
        Unnameable: `flatten` cannot name them.
    """
    try:
        flat = flatten(args)
    except ValueError as error:
        raise Unnameable(str(error)) from error
    found = with_own(tool(call.name).of(args), (own or {}).get(call.name))
    cwd = state.cwd
    given = _first(flat, found.cwd)
    if given:
        cwd = resolve(given[0], cwd)
    is_unread = not found.is_shipped and carries_what_runs(args, flat, found.described)
    kinds = tuple(dict.fromkeys((*found.kinds, *call.kinds))) if call.kinds else found.kinds
    understood = Understood(kinds, _renamed(flat), (), reads=found.reads)
    _roles(found, flat, cwd, understood)
    if found.shell:
        read = _shell(found, args, state, cwd, taken, understood)
    else:
        read = bool(found.code) and _code(found, args, cwd, taken, understood)
    if found.effects or (found.kinds and not found.shell and not found.code):
        _effects(found, args, flat, cwd, taken, understood)
    if found.reads and any(holds_secret(glob) for name in _GLOBS for glob in flat.get(name, ())):
        understood.kinds += ("secret.read",)
    if is_unread:
        understood.unresolved += (COMMAND,)
    if not read and not taken.trouble and not _RUN.isdisjoint(found.kinds):
        understood.unresolved += (EFFECTS,)
    return understood


def _renamed(flat: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    if flat.keys().isdisjoint(MARKS):
        return flat
    return {f"input.{name}" if name in MARKS else name: values for name, values in flat.items()}


def _roles(found: Tool, flat: Mapping[str, tuple[str, ...]], cwd: str | None, understood: Understood) -> None:
    """Give the canonical roles their values: they stand over arguments of the same name."""
    unresolved: list[str] = []
    for role, names in found.roles.items():
        values = _first(flat, names)
        if not values:
            continue
        values, is_open = _located(role, values, found, cwd)
        unresolved += [role] * is_open
        if values:
            understood.args[role] = values
        else:
            understood.args.pop(role, None)
    for role, names in found.adds.items():
        values, is_open = _located(role, _first(flat, names), found, cwd)
        unresolved += [role] * is_open
        if values:
            understood.args[role] = tuple(dict.fromkeys((*understood.args.get(role, ()), *values)))
    understood.args.update((role, (value,)) for role, value in found.set.items())
    understood.unresolved = tuple(unresolved)


def _located(role: str, values: tuple[str, ...], found: Tool, cwd: str | None) -> tuple[tuple[str, ...], bool]:
    """The values of a role, paths resolved, and whether some of them cannot be told."""
    known = vocabulary().roles.get(role)
    if known is None or known.type != "path" or "url" in found.roles:
        return values, False
    paths = [path if "://" in path else resolve(path, cwd) for path in values]
    told = tuple(path for path in paths if path is not None)
    return told, len(told) < len(paths)


def _first(flat: Mapping[str, tuple[str, ...]], names: Iterable[str]) -> tuple[str, ...]:
    return next((flat[name] for name in names if name in flat), ())


# --- shells --------------------------------------------------------------------------------------------------


def _shell(
    found: Tool, args: dict[str, Any], state: ShellState, cwd: str | None, taken: Taken, understood: Understood
) -> bool:
    """Add what a command line does; whether there is one."""
    from vigil_lang.abstraction.commands import take_line

    understood.keeps = found.keeps or "unknown"
    here = state if cwd == state.cwd else replace(state, cwd=cwd)
    name, line = next(((name, args[name]) for name in found.shell if args.get(name) is not None), ("", None))
    lines = _texts(line) if name == "commands" else None
    text = _line(line) if lines is None else "\n".join(lines)
    if text is None:
        if line is not None:
            taken.trouble["a command line that is no text"] = None
        return False
    understood.command = text
    understood.args["command"] = (text,)
    understood.after, understood.partly = take_line(text, here, taken, Place())
    return True


def _texts(value: Any) -> list[str] | None:
    """A list of command lines."""
    texts = [canonical(text) for text in value if isinstance(text, str)] if isinstance(value, list) else []
    return texts if texts and len(texts) == len(value) else None


def _line(value: Any) -> str | None:
    """A command line as text; an argument vector that starts a shell (`["bash", "-lc", …]`) is what it gives to it."""
    if isinstance(value, str):
        return canonical(value)
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return None
    words = [canonical(word) for word in value]
    if len(words) == 3 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh", "dash") and words[1] in ("-lc", "-c"):
        return words[2]
    from shlex import join

    return join(words)


# --- files and code ------------------------------------------------------------------------------------------


def _effects(
    found: Tool,
    args: dict[str, Any],
    flat: Mapping[str, tuple[str, ...]],
    cwd: str | None,
    taken: Taken,
    understood: Understood,
) -> None:
    """Steps beyond the call itself, and what the call does to the texts of files that are known."""
    paths = understood.args.get("path", ())
    if found.effects:
        for role, kind in found.effects.items():
            values = understood.args.get(role, ())
            if values or role in understood.unresolved:
                taken.add(Place().mark(effect(kind, values, missing=not values)), None)
    elif found.patch:
        _patch(found, args, cwd, taken, understood)
    elif found.replaces:
        _replace(found, args, paths, taken, understood)
    elif {"file.write", "file.edit", "file.append", "file.delete"} & set(found.kinds):
        text = _first(flat, found.content)
        if text:
            understood.args["text"] = text
        for path in paths:
            if text and len(paths) == 1:
                taken.files.put(path, text[0])
            else:
                taken.files.forget(path)
    if found.shows and len(paths) == 1 and not {"offset", "limit", "view_range", "start_line"} & args.keys():
        understood.shows = paths[0]


def _replace(found: Tool, args: dict[str, Any], paths: tuple[str, ...], taken: Taken, understood: Understood) -> None:
    """Follow replacements in a file; what they put there is the call's `text`."""
    edits = args.get(found.edits) if found.edits else [args]
    old_names, new_names, all_names = found.replaces
    written: list[str] = []
    for edit in edits if isinstance(edits, list) else ():
        if not isinstance(edit, dict):
            continue
        old, new = (
            next((edit[n] for n in names if isinstance(edit.get(n), str)), "") for names in (old_names, new_names)
        )
        written.append(new)
        for path in paths:
            taken.files.replace(path, old, new, everywhere=any(edit.get(n) is True for n in all_names))
    if written:
        understood.args["text"] = tuple(written)


def _text(args: dict[str, Any], names: Iterable[str]) -> str:
    return next((canonical(args[name]) for name in names if isinstance(args.get(name), str)), "")


def _patch(found: Tool, args: dict[str, Any], cwd: str | None, taken: Taken, understood: Understood) -> None:
    from vigil_lang.abstraction.commands import take_patch

    value = next((args[name] for name in found.patch if args.get(name) is not None), None)
    if isinstance(value, str):
        take_patch(canonical(value), cwd, taken, Place())
    elif isinstance(value, list):
        _listed_changes(value, cwd, taken)
    elif isinstance(args.get("path"), str):
        value = args["path"]
        _listed_changes([{**args, "kind": args.get("type")}], cwd, taken)
    kinds = {step.action for step in taken.steps}
    touched = dict.fromkeys(path for step in taken.steps for path in step.roles.get("path", ()))
    # A call that adds one file and deletes another is neither: its steps say which is which.
    understood.kinds = tuple(kinds) if len(kinds) == 1 else ()
    understood.args.pop("path", None)
    if touched:
        if len(kinds) == 1:
            understood.args["path"] = tuple(touched)
    elif value is not None:
        taken.trouble["a patch in no form that is known"] = None


def _listed_changes(changes: list[Any], cwd: str | None, taken: Taken) -> None:
    """Codex lists the changes of a patch as ``{"path": …, "kind": "add" | "update" | "delete"}``."""
    kinds = {"add": "file.write", "create_file": "file.write", "delete": "file.delete", "delete_file": "file.delete"}
    for change in changes:
        if isinstance(change, dict) and isinstance(change.get("path"), str):
            kind = kinds.get(str(change.get("kind")), "file.edit")
            path = resolve(canonical(change["path"]), cwd)
            taken.add(Place().mark(effect(kind, (path,) if path else (), missing=path is None)), None)


def _code(found: Tool, args: dict[str, Any], cwd: str | None, taken: Taken, understood: Understood) -> bool:
    """Add what code given in an argument does; whether there is any."""
    from vigil_lang.abstraction.commands import take_script

    for language, names in found.code.items():
        text = next((args[name] for name in names if isinstance(args.get(name), str)), None)
        if text is not None and taken.may_read(text, 0):
            take_script(language, canonical(text), cwd, "-c", (), taken, Place(if_error="unknown"))
            if taken.unseen:
                understood.unresolved += (EFFECTS,)
            return True
    return False
