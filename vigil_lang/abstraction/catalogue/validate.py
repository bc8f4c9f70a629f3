"""What is wrong with a catalogue file: for the tests over all shipped files, and for whoever adds one."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from vigil_lang.abstraction.catalogue.entry import CHANGES, CONDITIONS, FIELDS, FLAGS, ROLES, TEXTS, build, slot
from vigil_lang.abstraction.catalogue.load import entry, key_of, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.abstraction.catalogue.load import Key

_OPEN_ALIASES = re.compile(r"aliases\b(?!.*\]\s*$)")


def problems(text: str, kinds: set[str], roles: set[str]) -> list[str]:
    """One line for each fault of a catalogue file, beginning with the entry it is in."""
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [f"no TOML: {error}"]
    parts: dict[Key, list[str]] = {}
    found = [f"aliases of more than one line: {line}" for line in text.splitlines() if _OPEN_ALIASES.match(line)]
    order: list[str] = []
    for header, piece in sections(text):
        key = key_of(header)
        if piece != f"[{header}]" and not piece.startswith(f"[{header}]\n"):
            found.append(f"{key[0]}: something stands behind [{header}]")
        parts.setdefault(key, []).append(piece)
        if order[-1:] != [key[0]]:
            if key[0] in order:
                found.append(f"{key[0]}: its tables are not together")
            order.append(key[0])
    for name in whole:
        if not isinstance(whole[name], dict):
            found.append(f"{name}: no table")
        elif (name,) not in parts:
            found.append(f"{name}: no header of its own")
    for key, texts in parts.items():
        where = " ".join(key)
        try:
            table = entry(key, texts)
        except (tomllib.TOMLDecodeError, KeyError) as error:
            found.append(f"{where}: cannot be read by itself: {error}")
            continue
        whole_table: Any = whole[key[0]]
        for name in key[1:]:
            whole_table = whole_table["commands"][name]
        if {k: v for k, v in table.items() if k != "commands"} != {
            k: v for k, v in whole_table.items() if k != "commands"
        }:
            found.append(f"{where}: reads differently by itself")
        found += [f"{where}: {fault}" for fault in _entry(table, key, parts, kinds, roles)]
    return found


def _entry(
    table: Mapping[str, Any], key: Key, parts: Mapping[Key, list[str]], kinds: set[str], roles: set[str]
) -> Iterator[str]:
    top = len(key) == 1
    below = any(len(each) > 1 and each[0] == key[0] for each in parts)
    yield from (f"unknown key {key}" for key in table if key not in FIELDS)
    yield from (f"{key} must be true or false" for key in FLAGS if not isinstance(table.get(key, True), bool))
    yield from (
        f"alias {name} is no name" for name in table.get("aliases", ()) if not name or set(name) & set('" \\\n')
    )
    yield from (f"{key} must be a text" for key in TEXTS | ROLES if not isinstance(table.get(key, ""), str))
    if top and not table.get("summary"):
        yield "no summary"
    if top and not (table.get("kinds") or below or table.get("when")):
        yield "no kinds"
    try:
        build("", table)
    except (AttributeError, TypeError, ValueError, IndexError) as error:
        yield f"cannot be understood: {error}"
        return
    yield from _options(table, roles)
    asked = [change["like"].partition("=")[2] for change in table.get("when", ()) if "like" in change]
    yield from (
        f"{each} is no expression" for each in (*table.get("forms", {}).values(), *asked) if not _compiles(each)
    )
    yield from _behaviour(table, kinds, roles)
    for change in table.get("when", ()):
        yield from (f"unknown key {key} in when" for key in change if key not in CONDITIONS | CHANGES)
        if not set(change) & CONDITIONS or not set(change) & CHANGES:
            yield f"an entry of when without a condition or a change: {change}"
        known = {name for names in _names(table) for name in names}
        asked = " ".join(change.get(key, "") for key in ("has", "with", "lacks")).split()
        options = [name for name in asked if name[0] in "-+"]
        if top:  # a subcommand's may ask for its program's options
            yield from (f"when asks for {name}, no option of it" for name in options if name not in known | {"--"})
        yield from (f"unknown role {name} in when" for name in asked if name not in options and name not in roles)
        late = len(options) < len(asked) or bool(change.keys() & {"arg", "like", "remote"})
        if late and "operands" in change:
            yield "operands cannot depend on operands"
        yield from _behaviour(change, kinds, roles)


def _compiles(expression: str) -> bool:
    try:
        re.compile(expression)
    except re.error:
        return False
    return True


def _names(table: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key in ("switches", "values", "optional"):
        for names in table.get(key, "").split():
            yield tuple(names.split(","))
    for key in table.get("roles", {}):
        yield tuple(key.replace(",", " ").split())


def _options(table: Mapping[str, Any], roles: set[str]) -> Iterator[str]:
    seen: set[str] = set()
    for names in _names(table):
        for name in names:
            if name in seen:
                yield f"{name} is listed twice"
            if name[:1] not in ("-", "+") or len(name) < 2:
                yield f"{name} is no option"
            seen.add(name)
    yield from (f"{name} of runs is no option" for name in table.get("runs", "").split() if name not in seen)
    if table.get("reads", "folders") not in ("files", "folders"):
        yield f"reads cannot be {table['reads']}"
    for names in table.get("same", ()):
        yield from (f"{name} of same is no option" for name in names.split() if name not in seen)
    for role in table.get("roles", {}).values():
        if role != "command;" and role[0] != "_":
            yield from _slot(role.removesuffix("?"), roles)


def _slot(text: str, roles: set[str]) -> Iterator[str]:
    if text == "_":
        return
    each = slot(text)
    if each.role not in roles and each.role != "_":
        yield f"unknown role {text}"


def _behaviour(table: Mapping[str, Any], kinds: set[str], roles: set[str]) -> Iterator[str]:
    """The faults of what an entry and an entry of its `when` may both have."""
    given = [*table.get("kinds", ()), *table.get("also", ())]
    for value in table.get("effects", {}).values():
        given += [value] if isinstance(value, str) else value
    yield from (f"unknown kind {kind}" for kind in given if kind not in kinds)
    specs = [spec for spec in table.get("operands", ()) if spec != "--"]
    if sum(spec[-1] in "*+" for spec in specs) > 1 + ("--" in table.get("operands", ())):
        yield "more than one operand is repeated"
    for spec in specs:
        yield from _slot(spec.rstrip("?*+"), roles)
    named = [
        *table.get("effects", {}),
        *table.get("default", {}),
        *table.get("derive", {}),
        *table.get("set", {}),
        *table.get("suffix", {}),
    ]
    named += [table[key] for key in ROLES if table.get(key)]
    assign = table.get("assign", "")
    named += assign.values() if isinstance(assign, dict) else [assign] if assign else []
    yield from (f"unknown role {role}" for role in named if role not in roles and role != "_")
    stdin = table.get("stdin", "")
    if stdin not in ("", "data", "source") and not stdin.startswith("code:"):
        yield f"stdin cannot be {stdin}"
    if table.get("feed", "") not in ("", "append", "replace", "either"):
        yield f"feed cannot be {table['feed']}"
