"""A simple command read with the catalogue: its event, what it does to files, what it runs."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeVar

from vigil_lang.abstraction.catalogue import values
from vigil_lang.abstraction.catalogue.fill import Filled
from vigil_lang.abstraction.catalogue.follow import derived, into_directory, suffixed
from vigil_lang.abstraction.catalogue.load import is_path, program
from vigil_lang.abstraction.catalogue.options import EFFECTS, UNKNOWN, applies, places, sort
from vigil_lang.abstraction.catalogue.programs import PATH_ROLES, Code, Effect, Invocation
from vigil_lang.abstraction.step import Step, Word
from vigil_lang.patterns import regex
from vigil_lang.trace.unseen import leaves_open

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vigil_lang.abstraction.catalogue.programs import Change, Program

_T = TypeVar("_T")

_LONGEST = 1000
"""Characters of a path that programs are called by."""

_RUN_CODE = frozenset(
    {
        "code.run",
        "code.build",
        "test.run",
        "fuzz.run",
        "container.run",
        "container.build",
        "job.submit",
        "agent.delegate",
    }
)
"""What a program of these kinds runs is not in its words, unless the catalogue says otherwise."""

_SAYS = frozenset({"text.print", "shell.control"})
_DOING = frozenset(
    {
        "exec", "run", "eval", "invoke", "ssh", "shell", "rsh", "attach", "spawn", "set", "add", "del", "delete", "rm",
        "remove", "drop", "create", "write", "put", "push", "apply", "change", "replace", "kill", "stop", "start",
        "restart", "flush", "reset", "edit", "install", "uninstall", "enable", "disable", "up", "down", "link", "move",
        "destroy",
    }
)  # fmt: skip
"""Words for what is not only looking at something."""

_RUNS_HELPER = regex(r"(?:ext|fd)::|-")
"""Addresses of git that are commands, or options."""

_FROM_FILE = regex(r"://|^git\+|^\.|\.(?:whl|zip|tgz|tar\.\w+|deb|rpm|gem|rb|snap|crate|nupkg|vsix)\Z|^/|^~")

_INSTALLED = regex(
    r"/(?:usr/|s?bin/|opt/|nix/|snap/|home/linuxbrew/|Library/|Applications/)"
    r"|~/\.[\w-]+/(?:.*/)?bin/[^/]+\Z"
    r"|(?:.*/)?(?:node_modules/\.bin|[\w.-]*(?:v?env|conda)[\w.-]*/(?:bin|Scripts))/[^/]+\Z"
)
"""Where programs are installed: by the system, for a user, in an environment of a project."""

_INSTALL = "package.install"

_PUTS = frozenset({"net.download", "archive.extract", _INSTALL})
"""What has one of these kinds and a folder to put things into writes there, under names that no word tells."""

_ORDER = ("file.read", "file.delete")
"""Effects of these kinds come first, in this order."""


def read_command(
    words: Sequence[Word],
    cwd: str | None,
    piped: bool = False,
    fed: bool = False,
    probe: Callable[[str], Program | None] | None = None,
) -> Invocation:
    """Read the words of a command that runs in a directory; `piped` where another command's output is its input.

    `fed` says whether its standard input is anything at all: a file, a pipe or a text, be it of a command around it.
    `probe` is asked for programs that the catalogue does not have; without one nothing but the catalogue counts.
    """
    if not words:
        return Invocation(Step("process.run", ("process.run",)))
    whole, words = words, _on_a_mac(tuple(words))
    head = words[0]
    entry = program(head.text) if head.known else None
    known = entry is not None
    if entry is None and probe is not None and head.known:
        entry = probe(head.text)
    found = sort(entry, words[1:])
    found.fed = fed
    fill = Filled(found, cwd)
    elsewhere = is_path(head.text) and not is_installed(head.text)
    if head.known and (not known or elsewhere):
        fill.unresolved[EFFECTS] = None
    if found.informs:
        if found.version:
            fill.roles["version"] = ["true"]
        return Invocation(_step(whole, fill, ("system.read",)), known=known, unseen=not known or elsewhere)
    given: dict[str, Sequence[str]] = {
        **dict.fromkeys(fill.unresolved, ("",)),
        **fill.named,
        **fill.roles,
        **fill.remote,
    }
    if fill.argument:
        given["argument"] = fill.argument
    if fill.inner:
        given.setdefault("command", ("",))
    changes = [change for change in found.program.when if applies(change, found, given)]
    if (
        entry is None
        and head.known
        and "/" in head.text
        and (language := values.script_language(head.text)) is not None
    ):
        fill.role("script", head, cwd)
        fill.roles["language"] = [language]
        fill.code = Code(language, script=head, arguments=tuple(words[1:]))
    if head.known and is_path(head.text) and "/" in head.text:
        fill.role("executable", head, cwd)
    reads_data = _complete(fill, changes, piped)
    kinds = () if found.strange else _kinds(fill, changes, reads_data)
    if found.version and kinds and all(kind.endswith((".read", ".list")) for kind in kinds):
        kinds = tuple(dict.fromkeys((*kinds, "system.read")))
        fill.roles["version"] = ["true"]
    unseen = not known or _unseen(fill, changes, kinds) or elsewhere
    if _INSTALL in kinds and fill.tool is not None and not fill.packages:
        fill.roles["package"] = [fill.tool[0]]
        fill.packages.append(fill.tool)
    if unseen or found.strange or fill.strays:
        fill.unresolved[EFFECTS] = None
    reads = _latest([change.reads for change in changes], _latest([each.reads for each in found.chain], None)) or (
        "folders" if "archive.create" in kinds else ""
    )
    table = dict(_latest([change.effects for change in changes], fill.entry.effects))
    if not _PUTS.isdisjoint(kinds):
        table.setdefault("target" if "target" in fill.local else "directory", ("file.write",))
    if _INSTALL in kinds:
        table.setdefault("config", ("file.read",))  # the list of what is installed
    effects = _effects(fill, table, reads)
    fill.unresolved.update(dict.fromkeys(found.unresolved))
    if found.loose and not leaves_open(tuple(fill.unresolved)):
        fill.unresolved["flag"] = None
    step = _step(whole, fill, kinds)
    # Where the reading is a step of its own, that one says so.
    step.reads = "" if any(each.kind == "file.read" for each in effects) else reads
    packages = tuple(fill.packages)
    sends = fed and _latest([change.stdin for change in changes], fill.entry.stdin) == "source"
    return Invocation(step, effects, tuple(fill.inner), fill.code, known, unseen or found.strange, packages, sends)


def _unseen(fill: Filled, changes: Sequence[Change], kinds: tuple[str, ...]) -> bool:
    """Whether a program runs code that its words do not show: the project's, a package's, another machine's."""
    if _does_more(fill, kinds):
        return True
    if fill.entry.feed == "either" and fill.entry.hands_over and not fill.inner:
        return True  # the commands themselves come from its input
    told = _latest([change.unseen for change in changes], _latest([each.unseen for each in fill.found.chain], None))
    if told is not None:
        return told
    keys = fill.roles.get("key", ())
    if "git.configure" in kinds and fill.entry.name in ("config", "set"):
        return not keys or not all(_is_safe(key, fill.found.chain[0].safe) for key in keys)
    if any(_RUNS_HELPER.match(url) for url in (*fill.roles.get("url", ()), *fill.roles.get("remote", ()))):
        return True
    if "git.push" in kinds and not fill.unresolved.keys().isdisjoint(("remote", "revision")):
        return True  # a `+` makes it a forced one
    if "package.install" in kinds and _installs_unseen(fill):
        return True
    if fill.inner or fill.code is not None:
        return fill.elsewhere
    return fill.elsewhere or not kinds or not _RUN_CODE.isdisjoint(kinds)


def _does_more(fill: Filled, kinds: tuple[str, ...]) -> bool:
    """Whether words of which nothing is known say that it does more than its kinds do: `ip link set`, `x cat .env`."""
    if not kinds or not _SAYS.isdisjoint(kinds):
        return False
    words = [word.text for word in fill.anything if word.known]
    if fill.found.chain[0].name == "ps" and any(word.isalpha() and "e" in word for word in words):
        return True  # with the environment of each
    if any("|" in word.text for role in ("source", "target", "path") for word, _ in fill.local.get(role, ())):
        return True  # some programs run what stands behind it
    looks = all(kind.endswith((".read", ".list", ".check", ".stat")) or kind == "net.request" for kind in kinds)
    return any(map(values.holds_secret, words)) or (
        looks and not _DOING.isdisjoint(word.partition("-")[0] for word in words)
    )


def _is_safe(key: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(key, each) for each in globs)


def _installs_unseen(fill: Filled) -> bool:
    """Whether what is installed comes from the project itself, from a file or an address, with code that is run."""
    packages = (*fill.roles.get("package", ()), *fill.argument)
    named = packages or fill.unresolved or not fill.roles.keys().isdisjoint(("source", "config", "path", "version"))
    lists = any("://" in each for each in fill.roles.get("config", ()))
    return not named or lists or any(values.begins_local(each) or _FROM_FILE.search(each) for each in packages)


def is_installed(path: str) -> bool:
    """Whether a program called by this path is the one of that name, unless somebody put another in its place."""
    return len(path) <= _LONGEST and _INSTALLED.match(path.replace("\\", "/")) is not None


def _on_a_mac(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`sed -i '' …` as it is without the empty suffix, which BSD's sed asks for and GNU's takes for its script."""
    if posixpath.basename(words[0].text) != "sed":
        return words
    return tuple(w for n, w in enumerate(words) if w.text or not w.known or n == 0 or words[n - 1].text != "-i")


def _complete(fill: Filled, changes: Sequence[Change], piped: bool) -> bool:
    """Add what follows from what is given; whether it reads data from standard input."""
    entry = fill.entry
    stdin = _latest([change.stdin for change in changes], entry.stdin)
    default = _latest([change.default for change in changes], entry.default)
    if stdin[:5] == "code:" and fill.code is None and not fill.inner and not _has_script(fill):
        words = tuple(fill.found.operands) if "-s" in fill.found.values else ()  # `bash -s a`: what `$1` is
        fill.code = Code(stdin[5:], stdin=True, arguments=words)
        fill.roles["language"] = [stdin[5:]]
    reads_data = stdin == "data" and not _has_paths(fill) and (piped or not default)
    if not reads_data:
        for role, text in default.items():
            if role not in fill.roles and role not in fill.unresolved:
                fill.role(role, Word(text, known=text[:1] != "$"), fill.cwd)
    suffixed(fill)
    into_directory(fill)
    derived(fill, _latest([change.derive for change in changes], entry.derive))
    constants = dict(entry.set)
    for change in changes:
        constants.update(change.set)
    for role, text in constants.items():
        if role not in fill.unresolved:
            fill.roles.setdefault(role, [text])
    return reads_data


def _has_script(fill: Filled) -> bool:
    """Whether an operand may be the code that would otherwise come from standard input."""
    reads = any(place.slot.form for part in places(fill.found) for place in part or ())
    return reads and any(word.text != "-" for word in fill.found.operands)


def _has_paths(fill: Filled) -> bool:
    spec = [place for part in places(fill.found) for place in part or ()]
    return any(role in fill.local or role in fill.roles for role in {place.slot.role for place in spec} & PATH_ROLES)


def _kinds(fill: Filled, changes: Sequence[Change], reads_data: bool) -> tuple[str, ...]:
    kinds: tuple[str, ...] = next((each.kinds for each in fill.found.chain[::-1] if each.kinds is not None), ())
    for change in changes:
        kinds = (kinds if change.kinds is None else change.kinds) + change.also
    if reads_data:
        return (*(kind for kind in kinds if not kind.startswith(("file.", "archive."))), "data.process")
    return (*kinds, "code.run") if fill.entry is UNKNOWN and fill.code is not None else kinds


def _effects(fill: Filled, table: Mapping[str, tuple[str, ...]], reads: str) -> tuple[Effect, ...]:
    made: list[Effect] = []
    for role, kinds in table.items():
        pairs = fill.local.get(role, [])
        paths = tuple(path for _, path in pairs if path is not None and not values.is_device(path))
        missing = any(path is None for _, path in pairs) or (role in fill.unresolved and not pairs)
        if paths or missing:
            made += [Effect(kind, paths, missing, reads) for kind in kinds]
    return tuple(sorted(made, key=lambda each: _ORDER.index(each.kind) if each.kind in _ORDER else len(_ORDER)))


def _step(words: Sequence[Word], fill: Filled, kinds: tuple[str, ...]) -> Step:
    """The event of the command itself."""
    head = words[0]
    name = posixpath.basename(head.text.replace("\\", "/")) or head.text
    roles: dict[str, tuple[str, ...]] = {key: tuple(texts) for key, texts in fill.named.items()}
    roles["argv"] = tuple(word.text for word in words if word.known)
    lists: dict[str, Sequence[str]] = {
        "program": (name,) if head.known else (),
        "argument": fill.argument,
        "flag": fill.flags,
        "subcommand": fill.found.subcommand,
        "file": tuple(fill.file),
        **fill.roles,
    }
    if "subcommand" in fill.roles:  # an operand that is one: `aws ecs list-tasks`
        lists["subcommand"] = (*fill.found.subcommand, *fill.roles["subcommand"])
    roles.update({key: tuple(texts) for key, texts in lists.items() if texts})
    if not head.known:
        fill.unresolved["program"] = None
    return Step(
        action=name if head.known else "process.run",
        kinds=tuple(dict.fromkeys(("process.run", *kinds))),
        roles=roles,
        unresolved=tuple(fill.unresolved),
    )


def _latest(given: Sequence[_T | None], first: _T) -> _T:
    return next((each for each in reversed(given) if each is not None), first)
