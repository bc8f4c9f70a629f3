"""Steps of calls: what a library's function does, with its arguments and what they come from."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction import sql
from vigil_lang.abstraction.catalogue.programs import PATH_ROLES
from vigil_lang.abstraction.catalogue.values import is_directory
from vigil_lang.abstraction.filters import stays_inside
from vigil_lang.abstraction.scripts import addresses, computed, spawn
from vigil_lang.abstraction.scripts.callbacks import call_handed, hand_over, handed_on
from vigil_lang.abstraction.scripts.draft import MAX_TEXTS, Draft
from vigil_lang.abstraction.scripts.libraries import is_standard
from vigil_lang.abstraction.scripts.site import Site
from vigil_lang.abstraction.scripts.values import (
    MAILS,
    NAMELESS,
    UNKNOWN,
    Function,
    Mapping,
    Ref,
    Request,
    Scope,
    Sequence,
    Thing,
    active,
    element,
    is_literal,
    parameters,
    qualified,
    text_of,
    truth,
)
from vigil_lang.abstraction.step import Word
from vigil_lang.trace.unseen import EFFECTS
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.scripts.libraries import Entry
    from vigil_lang.abstraction.scripts.site import Arguments
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Value
    from vigil_lang.abstraction.step import Step


_FILLS = ("heapq.", "bisect.", "Object.assign")
"""Functions of the languages' own libraries that put something into what they are given."""

_SEARCHES = frozenset({"glob.glob", "glob.iglob"})

_LISTS = frozenset({"fs.readdir", "fs.readdirSync", "os.listdir", "os.scandir", "os.walk", "pathlib.Path.iterdir"})

DIRECTORY_ENTRIES = ("os.scandir()[]", "fs.Dirent")
"""What an entry of a folder is called that has its name and its path as attributes."""

_OF_A_PATH = frozenset({"pathlib.Path.glob", "pathlib.Path.rglob"})

_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-", "NUL"})

ENVIRONMENTS = ("os.environ", "process.env", "os.environb")
"""What the variables of the environment are in."""

HOME = ("HOME", "USERPROFILE")
"""Environment variables that are the user's home directory."""

_HANDLES = ("io.", "*io.")

_KEEPS = frozenset(
    ["isinstance", "issubclass", "hasattr", "type", "id", "callable", "print", "repr", "super", "console.log", "object"]
)
"""Functions that do not call what they are given."""


def makes_client(run: Run, name: str) -> bool:
    """Whether what a class makes has methods that are described."""
    entry = run.library.find(run.library.canonical(name))
    return entry is not None and run.library.describes(entry.returns)


def library_call(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """Calls a function of a library by qualified name, or a method of `this`."""
    name = run.library.canonical(name.removesuffix(".__init__"))
    special = run.interpreter.special.get(name)
    if special is not None:
        return special(run, name, this, given, site)
    result = computed.compute(run, name, this, given)
    if result is not None:
        if any(isinstance(v, Function | Ref) or (isinstance(v, Thing) and v.holds) for v in given.values()):
            call_handed(run, given, _first_element(given))
        return result
    entry = run.library.find(name)
    if entry is None and this is not None and this.request is not None:
        this.request.forget()
    if entry is not None and entry.spawn:
        spawn.spawn(run, entry, given, site, this)
        call_handed(run, given, UNKNOWN)
        return Thing((entry.name,), entry.returns or f"{entry.name}()")
    if not _is_told(run, name, entry, this, given):
        unnamed = name.partition(".")[0] == NAMELESS
        run.open("it is not known what is called" if unnamed else f"what {name} does is not known", site.line)
    if entry is None and is_standard(name, run.language):
        return _silent(run, name, this, given, site)
    if entry is not None and entry.quiet and not _kinds(entry, given):
        _silent(run, name, this, given, site)
        return this if entry.same and this else _result(entry.name, entry, {}, this)
    value = _step(run, name, entry, this, given, site)
    return _found(name, this, given) or value


def _is_told(run: Run, name: str, entry: Entry | None, this: Thing | None, given: Arguments) -> bool:
    """Whether all that a call does is told by its step, or it does nothing."""
    if entry is None:
        called = this is not None and this.name == name and name.endswith(("()", "[]"))
        if called and is_standard(name, run.language):  # what comes out of a function is called in turn
            return run.library.names(name)
        return run.library.only_computes(name) and not run.library.is_given_more(name, _texts(given))
    if entry.safe and truth(given.get(-1, entry.safe)) is True:
        return True
    if isinstance(entry.runs, str):
        return not any(_may_be(entry, given, *each.partition("=")[::2]) for each in entry.runs.split())
    return not entry.runs


def _may_be(entry: Entry, given: Arguments, name: str, wanted: str) -> bool:
    """Whether a parameter is perhaps true, or has the value that is wanted."""
    value, unknown = _member(given, next((i for i, each, _ in _parameters(entry) if each == name), -1), name)
    if value is None:
        return given.more or unknown
    return not isinstance(value, str) or value == wanted if wanted else truth(value) is not False


def _texts(given: Arguments) -> Iterator[str]:
    """The arguments that are texts or paths."""
    for value in given.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, Thing) and (value.name == "pathlib.Path" or "/" in (value.text or "")):
            yield "./x"


def _found(name: str, this: Thing | None, given: Arguments) -> Value:
    """What a search for files, or a list of a folder's entries, gives: a pattern stands for them, as in a shell."""
    if name in _LISTS:
        return _entries(name, this, given)
    pattern = text_of(given.get(0, "pathname" if name in _SEARCHES else "pattern"))
    if pattern is None:
        return None
    if name in _SEARCHES:
        return Sequence([Thing((name,), text=pattern)], open=True)
    base = text_of(this) if this is not None and name in _OF_A_PATH else None
    if base is None or this is None:
        return None
    between = "**/" if name.endswith("rglob") else ""
    return Sequence([replace(this, text=f"{base}/{between}{pattern}", step=None)], open=True)


def _entries(name: str, this: Thing | None, given: Arguments) -> Value:
    """The entries of a folder: their names, or what has a name and a path."""
    folder = text_of(this) if this is not None else text_of(given.get(0)) if given.positional else "."
    match name:
        case "os.listdir":
            entry: Value = Thing((name,), text="*")
        case "pathlib.Path.iterdir" if this is not None and folder is not None:
            entry = replace(this, text=posixpath.join(folder, "*"), step=None)
        case "os.scandir" if folder is not None:
            entry = Thing((name,), DIRECTORY_ENTRIES[0], text=posixpath.join(folder, "*"))
        case "os.walk":
            root = Thing((name,), text=posixpath.join(folder, "**") if folder is not None else None)
            below = [Sequence([Thing((name,), text="*")], open=True) for _ in range(2)]
            entry = Sequence([root, *below])
        case "fs.readdir" | "fs.readdirSync":
            options = given.get(1)
            settings = options.items if isinstance(options, Mapping) else {}
            if isinstance(options, Thing) or (isinstance(options, Mapping) and options.open):
                return None
            deep = truth(settings.get("recursive")) is not False
            entry = Thing((name,), DIRECTORY_ENTRIES[1] * ("withFileTypes" in settings), text="**/*" if deep else "*")
        case _:
            return None
    return Sequence([entry], open=True)


def described_call(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """The step of a function that is also more than a step."""
    return _step(run, name, run.library.find(name), this, given, site)


def unknown_call(run: Run, name: str, given: Arguments, site: Site, *, known: bool) -> Value:
    """The step of a method of something of which nothing is known."""
    shown = f"?.{name}"
    draft = Draft(run, name, ("code.call",))
    draft.roles["function"] = (shown,)
    _arguments(draft, given, site)
    if not known:
        draft.unresolved[EFFECTS] = None
    draft.done(site)
    hand_over(given, fills=True)
    call_handed(run, given, UNKNOWN)
    return Thing((shown,), holds=given.active())


def data_read(run: Run, path: str, scope: Scope) -> Value:
    """A file of data is imported."""
    draft = Draft(run, "file.read", ("file.read",))
    draft.role("path", path)
    draft.done(Site(scope, run.line))
    return UNKNOWN


def _silent(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """A call that is no step: it may still call what it is given, and use up a file it is given."""
    hand_over(given, fills=name.startswith(_FILLS))
    held: tuple[Value, ...] | None = None
    if name not in _KEEPS or given.named:
        returned = handed_on(run, name, given, site)
        if returned is False:
            call_handed(run, given, _first_element(given))
        elif not given.more and not (given.named.keys() - {"target", "args"}):
            held = active(returned, *(this.holds if this is not None else ()))  # it was called, and this came of it
    of = this.of if this is not None and name.startswith("io.") else {}
    return Thing((), qualified(name, "()"), of, holds=_held(run, given, this) if held is None else held)


def _held(run: Run, given: Arguments, this: Thing | None = None) -> tuple[Value, ...]:
    """What a result may have of what a function was given; a function that only computes is not worth following."""
    held = given.active()
    if this is not None and this.holds:
        held = active(*held, *this.holds)
    if not held:
        return ()
    return tuple(v for v in held if not (isinstance(v, Ref) and _does_nothing(run, v.name)))


def _does_nothing(run: Run, name: str) -> bool:
    """Whether a name is of what only computes, or of a constant: `socket.AF_INET`."""
    return run.library.only_computes(name) or (name.rpartition(".")[2].isupper() and not run.may_act(name))


def _first_element(given: Arguments) -> Value:
    """What `sorted(items, key=f)` calls its function with."""
    first = given.get(0)
    return element(first) if isinstance(first, Sequence | Thing) else UNKNOWN


def _step(run: Run, name: str, entry: Entry | None, this: Thing | None, given: Arguments, site: Site) -> Value:
    """The step of a call, and the steps of its effects."""
    shown = entry.name if entry else name
    if run.dry and (entry is None or not entry.effective):
        return _without_step(run, shown, entry, this, given)
    draft = Draft(run, shown.rpartition(".")[2].removesuffix("()") or shown, ("code.call",))
    draft.roles["function"] = (shown,)
    _arguments(draft, given, site)
    if this is not None:
        for key, texts in this.of.items():
            draft.roles[f"of.{key}"] = texts
    effects: dict[str, str] = {}
    mode = ""
    asked: tuple[str, ...] = ()
    if entry is not None:
        asked = _kinds(entry, given)
        draft.kinds += () if entry.request else asked
        mode = _roles(draft, entry, this, given)
        effects = _opened(draft, entry, mode) if entry.mode else entry.effects
        _method(draft, entry, given)
        _extended(draft, entry)
        if entry.into:
            _put_into(draft, entry, given)
        if "net.upload" in draft.kinds:
            _sent(draft, given)
        if any(name.endswith("dir_fd") and value is not None for name, (_, value) in given.named.items()):
            _elsewhere(draft)
        if mode == "?" or _may_do_more(entry, given):
            draft.unresolved[EFFECTS] = None
        if "env.set" in entry.kinds:
            _set_variables(run, given)
        if _asks(entry) and not draft.sent:
            addresses.place(draft, addresses.base_of(run, entry, this, given))
        if entry.sql:
            _asked(draft, entry, given)
    subject = "archive" if entry and entry.archive else "path"
    if entry is not None and entry.mode and draft.roles.get(subject, ("",))[0] in _NOWHERE:
        return Thing(name=entry.returns)
    if not _is_told(run, name, entry, this, given):
        draft.unresolved[EFFECTS] = None
    writes = "file.write" in draft.kinds and entry is not None
    step = draft.done(site, "" if writes and mode else _content(run, entry, given) if writes else None)
    for role, kind in effects.items():
        _effect(run, kind, step, role, shown, site, found=draft.found)
    hand_over(given, fills=entry is None)
    held = _held(run, given)
    item = Thing((shown,), qualified(shown, "()"), {}, holds=held)
    if handed_on(run, shown, given, site) is False:
        call_handed(run, given, item)
    if this is not None and entry is not None and "net.connect" in entry.kinds:
        _connected(run, this, entry, draft)
    if entry is not None and entry.same and this is not None:
        return this
    result = _result(shown, entry, _made_of(draft, entry, given), this)
    if isinstance(result, Thing) and entry is not None and entry.request:
        result.request = _request(draft, asked)
    if isinstance(result, Thing) and entry is not None and entry.returns:
        result.base = addresses.base_of(run, entry, this, given)
        result.holds = tuple(v for v in held if not isinstance(v, Thing))  # it is of a class that is known
    elif isinstance(result, Thing):
        result.holds = active(*held, *this.holds) if this is not None and this.holds else held
    if writes and mode:
        followed = isinstance(result, Thing) and result.name == computed.TEXT_FILE and run.certain and "b" not in mode
        if isinstance(result, Thing) and followed:
            result.step = step
        else:
            step.content = None
    return result


def _without_step(run: Run, shown: str, entry: Entry | None, this: Thing | None, given: Arguments) -> Value:
    """A call that has no effect of its own, where only effects are looked for."""
    hand_over(given, fills=entry is None)
    if handed_on(run, shown, given, Site(Scope({}), run.line)) is False:
        call_handed(run, given, UNKNOWN)
    if entry is not None and entry.same and this is not None:
        return this
    result = _result(shown, entry, {}, this)
    if isinstance(result, Thing) and entry is not None and entry.returns:
        result.base = addresses.base_of(run, entry, this, given)
    if isinstance(result, Thing):
        known = entry is not None and entry.returns
        result.holds = tuple(v for v in _held(run, given, this) if not (known and isinstance(v, Thing)))
    return result


def _kinds(entry: Entry, given: Arguments) -> tuple[str, ...]:
    """The kinds of a described function as it is called."""
    found = (
        kind
        for i, name, _ in _parameters(entry)
        if name in entry.instead
        and (_member(given, i, name)[0] is not None if "." in name else truth(given.get(i, name)) is not False)
        for kind in entry.instead[name].split()
    )
    return tuple(dict.fromkeys(found)) or entry.kinds


def _may_do_more(entry: Entry, given: Arguments) -> bool:
    """Whether it cannot be told if a call is given what makes it another kind: the data of a request."""
    asked = [(i, name) for i, name, _ in _parameters(entry) if name in entry.instead]
    if not asked or _kinds(entry, given) != entry.kinds:
        return False
    return given.more or any(_member(given, i, name)[1] for i, name in asked if "." in name)


def _method(draft: Draft, entry: Entry, given: Arguments) -> None:
    """The method of a request that is given none: the usual one, or the one that data makes of it."""
    usual, _, with_data = entry.method.partition(" ")
    if "file.read" in draft.kinds:
        return  # a file that is named by an address
    if not usual or given.more or "method" in draft.unresolved or ("method" in draft.roles and not draft.sent):
        return
    bodies = [_member(given, i, name)[0] for i, name, _ in _parameters(entry) if name in entry.instead]
    has_data = {truth(body) for body in bodies}
    if draft.sent or ("url" in draft.unresolved and draft.address is None):
        if not draft.sent or has_data - {False}:  # a request may have a method of its own
            draft.roles.pop("method", None)
            draft.unresolved["method"] = None
    elif not with_data or has_data <= {False}:
        draft.roles["method"] = (usual,)
    elif True in has_data or any(isinstance(body, Thing) and body.name.startswith(_SURELY_DATA) for body in bodies):
        draft.roles["method"] = (with_data,)
    else:
        draft.unresolved["method"] = None


_SURELY_DATA = ("json.dumps()", "urllib.parse.urlencode()")
"""Results that are texts, not None."""


def _request(draft: Draft, kinds: tuple[str, ...]) -> Request:
    """The request that a call makes."""
    places = (*_PLACES, "method")
    roles = {role: draft.roles[role] for role in places if role in draft.roles}
    unresolved = tuple(role for role in places if role in draft.unresolved)
    return Request(tuple(kind for kind in kinds if kind != "net.request"), roles, unresolved)


def _connected(run: Run, this: Thing, entry: Entry, draft: Draft) -> None:
    """What an object is told to connect to is what its other methods are about."""
    for role in ("url", "host", "port") if any(role in _PLACES for _, role in entry.args) else ():
        this.of.pop(role, None)
        if run.certain and role in draft.roles:
            this.of[role] = draft.roles[role]


def _parameters(entry: Entry) -> Iterator[tuple[int, str, str]]:
    """The place, name and role of each parameter; `options.path` and `options.type` are members of one."""
    place, last = -1, ""
    for name, role in entry.args:
        base = name.partition(".")[0]
        place += base != last or "." not in name
        last = base
        yield place, name, role


def _member(given: Arguments, place: int, name: str) -> tuple[Value, bool]:
    """What an object that is given has under a name, None where it has none; and whether that cannot be told."""
    base, *members = name.split(".")
    value = given.get(place, base)
    for member in members:
        match value:
            case Mapping() if member in value.items:
                value = value.items[member]
            case Mapping():
                return None, value.open
            case Sequence() if member.isdecimal():
                at = int(member)
                if value.open or at >= len(value.items):
                    return None, value.open
                value = value.items[at]
            case _:
                return None, not is_literal(value) and not isinstance(value, Function)
    return value, False


def _asks(entry: Entry) -> bool:
    """Whether a function is given an address to ask, or has one."""
    return "url" in entry.const or any(role == "url" for _, role in entry.args)


def _arguments(draft: Draft, given: Arguments, site: Site) -> None:
    """All arguments of a call: `arg1`, `arg2`, … and keywords by name."""
    if given.more:
        draft.unresolved["nargs"] = None
    else:
        draft.roles["nargs"] = (str(len(given.positional) + len(given.named)),)
    for i, (node, value) in enumerate(given.positional[:MAX_TEXTS], 1):
        draft.give(f"arg{i}", node, value)
    for name, (node, value) in list(given.named.items())[:MAX_TEXTS]:
        role = vocabulary().roles.get(name)
        held = draft.roles.pop(name, ())
        draft.give(name, node, value)
        if role is not None and role.type == "path":
            draft.roles.pop(name, None)
            if held:
                draft.roles[name] = held
            else:
                draft.role(name, value)
    if given.named:
        draft.roles["keyword"] = tuple(given.named)[:MAX_TEXTS]
    if site.names:
        draft.roles["result.name"] = site.names


def _roles(draft: Draft, entry: Entry, this: Thing | None, given: Arguments) -> str:
    """Fills the roles of a described function; the mode it opens a file in, if it opens one."""
    for role, text in entry.const.items():
        draft.roles[role] = (text,)
    filled: set[str] = set()
    for i, name, role in _parameters(entry):
        if "." in name:
            value, unknown = _member(given, i, name)
            if unknown:
                draft.unresolved[role or "options"] = None
            elif value is not None and role:
                _fill(draft, filled, role, value)
            continue
        value = given.get(i, name)
        if isinstance(value, Mapping) and any(each.startswith(f"{name}.") for each, _ in entry.args):
            continue  # what is given are its members
        many = name.startswith("*")
        if many:
            value = Sequence([v for _, v in given.positional[i:]])
        if not role or (value is None and name not in given.named) or (many and not given.positional[i:]):
            continue
        if isinstance(value, Thing) and value.name.startswith(_HANDLES) and value.text is None:
            draft.kinds = [k for k in draft.kinds if not k.startswith("file.")]  # opening it was the effect
            draft.unresolved.pop(role, None)
            continue
        if role == "recipient" and isinstance(value, Thing) and value.name.startswith(MAILS):
            if any(given.get(j, other) is not None for j, other, each in _parameters(entry) if each == role and j != i):
                continue  # it goes to those who are named beside it
            value = value.recipients if value.recipients is not None else UNKNOWN
        if role == "url" and isinstance(value, Thing) and value.request is not None:
            draft.send(value.request)
            continue
        _fill(draft, filled, role, value)
        told = draft.roles.keys() | draft.unresolved.keys()
        if role == "url" and value is not None and told.isdisjoint(("url", "path")):
            draft.unresolved[role] = None  # an object that has the address somewhere in it
    of_members = {role for name, role in entry.args if "." in name}
    if "path" in of_members and "path" not in draft.roles and "path" not in draft.unresolved:
        draft.kinds = [kind for kind in draft.kinds if not kind.startswith("file.")]  # nothing is written
    if given.more and entry.args and any(role for _, role in entry.args) and not given.positional:
        draft.unresolved.update((role, None) for _, role in entry.args[:1] if role)
    if entry.this:
        _own(draft, entry.this, this)
    for role, text in entry.default.items():
        others = _PLACES if role in _PLACES else (role,)
        if not given.more and draft.roles.keys().isdisjoint(others) and draft.unresolved.keys().isdisjoint(others):
            draft.role(role, text)
    makes = "file.write" in entry.kinds and not entry.name.startswith("browser.")
    if makes and this is not None and "path" in this.of and "source" not in draft.roles:
        draft.roles["source"] = this.of["path"]
    if not entry.mode:
        return ""
    index = next((i for i, (_, role) in enumerate(entry.args) if role == "mode"), -1)
    mode = given.get(index, "mode")
    if mode is None or (index < 0 and "mode" not in given.named):
        draft.roles["mode"] = (entry.mode,)
        return entry.mode
    return mode if isinstance(mode, str) else "?"


def _fill(draft: Draft, filled: set[str], role: str, value: Value) -> None:
    """Fills a role with the value of a parameter; one that another parameter has filled has both."""
    if value is None and role in filled:
        return
    before, is_open = draft.roles.get(role, ()), role in draft.unresolved
    draft.role(role, value)
    if role in filled:
        draft.roles.update({role: tuple(dict.fromkeys((*before, *draft.roles.get(role, ()))))} if before else {})
        draft.unresolved.update({role: None} if is_open else {})
    filled.add(role)


def _own(draft: Draft, role: str, this: Thing | None) -> None:
    """Fills the role of the object whose method is called."""
    if this is not None and this.text is not None:
        draft.role(role, this)
    elif role in _PLACES and this is not None and not this.of.keys().isdisjoint(_PLACES):
        draft.roles.update((place, this.of[place]) for place in _PLACES if place in this.of)
    elif this is not None and (texts := this.of.get(role, () if role in _PLACES else this.of.get("path", ()))):
        draft.roles[role] = texts
    else:
        draft.unresolved[role] = None


_PLACES = ("host", "url")
"""Roles that say which machine an object is connected to."""


def _opened(draft: Draft, entry: Entry, mode: str) -> dict[str, str]:
    """What opening a file in a mode does: kinds of the step itself, or for an archive effects."""
    if mode == "?":
        return {}
    kind = (
        "file.append" if "a" in mode
        else "file.write" if "w" in mode or "x" in mode
        else "file.edit" if "+" in mode
        else "file.read"
    )  # fmt: skip
    if not entry.archive:
        draft.kinds.append(kind)
        return {}
    if kind == "file.read":
        draft.kinds.append("archive.list")
    else:
        draft.kinds.append("archive.create")
    return {"archive": kind}


def _content(run: Run, entry: Entry | None, given: Arguments) -> str | None:
    """The text that a call like `Path.write_text` leaves in a file."""
    if entry is None or "append" in entry.name or not run.certain:
        return None
    for i, (name, role) in enumerate(entry.args):
        if role == "text":
            value = given.get(i, name)
            return value if isinstance(value, str) else None
    return None


def _effect(run: Run, kind: str, step: Step, role: str, function: str, site: Site, *, found: bool) -> None:
    """A step for what a call does to the files of one of its roles."""
    paths = step.roles.get(role, ())
    if not paths and role not in step.unresolved:
        return
    draft = Draft(run, kind, (kind,))
    draft.found = found
    if paths:
        draft.roles["path"] = paths
    if role in step.unresolved:
        draft.unresolved["path"] = None
    draft.roles["function"] = (function,)
    draft.done(site)


def _extended(draft: Draft, entry: Entry) -> None:
    """Gives paths the extension that a function adds to them."""
    for role, end in entry.suffix.items():
        if found := draft.roles.get(role):
            draft.roles[role] = tuple(path if path.endswith((end, "*")) else path + end for path in found)


def _put_into(draft: Draft, entry: Entry, given: Arguments) -> None:
    """`shutil.copy("a", "d/")` writes `d/a`."""
    place, name = next((i, name) for i, (name, role) in enumerate(entry.args) if role == "target")
    text, sources, targets = (
        text_of(given.get(place, name)),
        draft.roles.get("source", ()),
        draft.roles.get("target", ()),
    )
    if text is not None and is_directory(text) and len(sources) == len(targets) == 1:
        draft.roles["directory"] = targets
        draft.roles["target"] = (posixpath.join(targets[0], posixpath.basename(sources[0])),)


def _sent(draft: Draft, given: Arguments) -> None:
    """The files that are open, or were read, among what is sent: `requests.put(url, data=open("a"))`."""
    waiting = list(given.values())
    for value in waiting:
        if isinstance(value, Thing) and "path" in value.of and value.name.startswith(_OPENED):
            draft.roles["source"] = tuple(dict.fromkeys((*draft.roles.get("source", ()), *value.of["path"])))
        elif len(waiting) < MAX_TEXTS:
            waiting += value.items if isinstance(value, Sequence) else ()
            waiting += value.items.values() if isinstance(value, Mapping) else ()


_OPENED = ("io.", "*io.", "pathlib.Path.read_", "fs.readFile", "fs.createReadStream")
"""What open files, and what was read of files, are called."""


def _elsewhere(draft: Draft) -> None:
    """The paths of a call are relative to a directory that is given as a number."""
    for role in [each for each in draft.roles if each in PATH_ROLES]:
        del draft.roles[role]
        draft.unresolved[role] = None


def _asked(draft: Draft, entry: Entry, given: Arguments) -> None:
    """The kind of a call that hands a statement to a database, if some of it is known."""
    texts = draft.roles.get(entry.sql, ())
    place = next(i for i, (_, role) in enumerate(entry.args) if role == entry.sql)
    value = given.get(place, entry.args[place][0])
    shape = value.shape if isinstance(value, Thing) else None
    told = texts or ((shape,) if shape else ())
    draft.kinds.append("db.query" if all(sql.changes(text) is False for text in told) else "db.write")
    unknown = value is not None and not texts and (shape is None or shape.lstrip()[:1] == "$")
    if unknown or not all(map(stays_inside, told)):
        draft.unresolved[EFFECTS] = None


def _made_of(draft: Draft, entry: Entry | None, given: Arguments) -> dict[str, tuple[str, ...]]:
    """What a result remembers of the call that made it: roles and named parameters with known values."""
    found: dict[str, tuple[str, ...]] = {}
    for i, (name, role) in enumerate(entry.args if entry else (), 1):
        texts = draft.roles.get(role) if role else draft.roles.get(f"arg{i}")
        if texts is not None and role != "text":
            found[role or name] = texts
    if entry is not None and entry.this == "path" and "file.read" in entry.kinds and "path" in draft.roles:
        found["path"] = draft.roles["path"]
    for name in given.named:
        if name in draft.roles and name != "text":
            found[name] = draft.roles[name]
    return found


def _result(name: str, entry: Entry | None, made_of: dict[str, tuple[str, ...]], this: Thing | None) -> Value:
    """What a call of a library's function returns."""
    if entry is not None and entry.returns:
        kept = {**this.of, **made_of} if this is not None and len(this.of) < MAX_TEXTS else made_of
        return Thing((entry.name,), entry.returns, kept)
    last = name.rpartition(".")[2]
    is_class = last[:1].isupper()
    return Thing((name,), qualified(name, "" if is_class else "()"), made_of)


def local_step(run: Run, callee: Function | None, given: Arguments, site: Site, *, name: str = "") -> None:
    """The step of a call of one of the script's own functions."""
    shown = name or (callee.name if callee else "")
    draft = Draft(run, shown.rpartition(".")[2], ("code.call",))
    draft.roles["function"] = (shown,)
    _arguments(draft, given, site)
    for param, (node, value) in zip(parameters(callee) if callee else (), given.positional, strict=False):
        if param and param not in draft.roles:
            draft.give(param, node, value)
    draft.done(site)


def environment_read(run: Run, variable: Value, scope: Scope) -> Value:
    """An environment variable is read."""
    return _environment(run, "env.read", variable, None, scope)


def environment(run: Run, holder: Value, variable: Value, value: Value, scope: Scope) -> None:
    """An item is set: an environment variable, if the holder is the environment."""
    if isinstance(holder, Ref) and holder.name in ENVIRONMENTS:
        _environment(run, "env.set", variable, value, scope)


def _set_variables(run: Run, given: Arguments) -> None:
    """`os.putenv("A", "b")`, `os.environ.update({"A": "b"}, C="d")`: what is run from here on has these."""
    first = given.get(0, "key")
    if isinstance(first, str):
        _set_variable(run, first, given.get(1, "value"))
        return
    for name, value in first.items.items() if isinstance(first, Mapping) else ():
        _set_variable(run, name, value)
    for name, (_, value) in given.named.items():
        _set_variable(run, name, value)


def _set_variable(run: Run, variable: Value, value: Value) -> None:
    if isinstance(variable, str) and len(run.variables) < MAX_TEXTS:
        known = spawn.variable(value)
        run.variables[variable] = known if run.certain else Word(known.text, known=False)


def _environment(run: Run, kind: str, variable: Value, value: Value, scope: Scope) -> Value:
    draft = Draft(run, kind, (kind,))
    draft.role("variable", variable)
    if kind == "env.set":
        draft.role("value", value)
        _set_variable(run, variable, value)
    draft.done(Site(scope, run.line))
    origins = ("os.environ" if run.language == "python" else "process.env",)
    if variable in HOME:
        return Thing(origins, text="~")
    name = variable if isinstance(variable, str) and variable.isidentifier() else "value"
    return Thing(origins, shape="${" + name + "}")
