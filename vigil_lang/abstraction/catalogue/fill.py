"""A command's roles: what each of its words, options and values stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue import values
from vigil_lang.abstraction.catalogue.load import program, script_program
from vigil_lang.abstraction.catalogue.options import EFFECTS, ON, Sorted, places, sort
from vigil_lang.abstraction.catalogue.programs import PATH_ROLES, Code, Inner, Operand, Slot
from vigil_lang.abstraction.catalogue.wrapped_commands import commands_of
from vigil_lang.abstraction.step import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OWN_DASHES = frozenset({"npm", "npx"})
"""Programs that take out a `--` between the command they run and its words."""


_ANYTHING = Slot("_")

_WITH_PORT = re.compile(r"([^:]+|\[[^]]*\]):([0-9]{1,5})")

_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
"""What a script is called that is read from standard input."""


class Filled:
    """Roles, paths and code of a command whose words are sorted."""

    def __init__(self, found: Sorted, cwd: str | None) -> None:
        self.found = found
        self.entry = found.program
        self.cwd = cwd
        self.roles: dict[str, list[str]] = {}
        self.local: dict[str, list[tuple[Word, str | None]]] = {}
        """The local paths of each path role, with the words they were."""
        self.sources: list[Word] = []
        """The words of the role `source`, local and remote."""
        self.remote: dict[str, list[str]] = {}
        """Roles some value of which is on another machine, under ``role@remote``."""
        self.argument: list[str] = []
        self.flags = list(found.flags)
        self.file: dict[str, None] = {}
        self.named: dict[str, list[str]] = {}
        """Options under their names without dashes, and assignments."""
        self.unresolved: dict[str, None] = dict.fromkeys(found.unresolved)
        self.inner: list[Inner] = []
        self.code: Code | None = None
        self.elsewhere = False
        """What it runs on another machine, or in a container, is not read."""
        self.anything: list[Word] = []
        """Operands of which nothing is known but that there may be some."""
        self.packages: list[tuple[str, str | None]] = []
        """The packages that are named, each with the version that it is asked for."""
        self.tool: tuple[str, str | None] | None = None
        """What is run, where it is run out of a package of that name (`npx x@1`), with its version."""
        self.strays = False
        """Words stand where the catalogue has no place for any."""
        for each in (word for step in found.chain for name in step.chdir for word in found.values.get(name, ())):
            self.cwd = values.local(each, self.cwd) if each.known else None
        self._options(found)
        self._given()
        self._assigned()
        self._operands()
        for taken in found.taken:
            if taken:
                self.inner += commands_of(found, taken, "", self.cwd)

    def role(self, role: str, word: Word, base: str | None) -> None:
        """Give a role a word's value."""
        text = word.text
        if role == "url" and self.entry.base and "://" not in text and text[:1] not in ("$", "`"):
            word = self._below(word)
            text = word.text
        if role == "revision" and word.known and values.no_revision(text):
            role = "path"
        elif role == "url" and word.known and values.begins_local(text):
            role = "source"
        if role == "source":
            self.sources.append(word)
        if not word.known:
            self.unresolved[role] = None
            if role == "url" and (known := values.host_of_beginning(text)) is not None:
                self.roles.setdefault("host", []).append(known)
            if role in PATH_ROLES:
                self.local.setdefault(role, []).append((word, None))
        elif role in PATH_ROLES:
            self._path(role, word, base)
        elif role == "host":
            user, at, host = text.rpartition("@")
            if with_port := _WITH_PORT.fullmatch(host):
                host, port = with_port.groups()
                self.roles.setdefault("port", []).append(port)
            self.roles.setdefault(role, []).append(host)
            if at:
                self.roles.setdefault("user", []).append(user)
        elif role == "package":
            name, version = values.versioned(text)
            self.roles.setdefault(role, []).append(name)
            self.packages.append((name, version))
            if version is not None:
                self.roles.setdefault("version", []).append(version)
        else:
            self.roles.setdefault(role, []).append(text.upper() if role == "method" else text)
            if role == "remote" and values.is_url(text):
                self.roles.setdefault("url", []).append(text)
            elif role == "remote" and (place := values.elsewhere(text)) is not None:
                self.roles.setdefault("host", []).append(place[1])
            if role == "url" and self.entry.remote:
                self._elsewhere(role, text)

    def _below(self, word: Word) -> Word:
        """The whole address of a part that stands alone: `repos/a/b` of `gh api`, below the machine that is named."""
        host = next(iter(self.found.values.get("--hostname", ())), None)
        base = self.entry.base if host is None else f"https://{host.text}/"
        return word._replace(text=base + word.text.lstrip("/"), known=word.known and (host is None or host.known))

    def _options(self, found: Sorted) -> None:
        """Every option under its name without dashes."""
        runs = [found.runs] if found.runs else []
        silent = {
            id(word)
            for option, word in (*found.given, *runs)
            if option.slot and (option.slot.form or option.slot.role not in ("_", *PATH_ROLES))
        }
        for name, words in found.values.items():
            key = name.lstrip("-")
            if not key:
                continue
            for word in words:
                if not word.known:
                    self.unresolved[key] = None
                elif word is ON:
                    if key in PATH_ROLES:
                        continue  # `rsync --archive` names no archive
                    self.named.setdefault(key, []).append("true")
                else:
                    self.named.setdefault(key, []).append(values.plain_path(word, self.cwd))
                    if id(word) not in silent:
                        self._file(word)

    def _given(self) -> None:
        found = self.found
        for option, word in found.given:
            if option.slot is not None:
                self._place(option.slot, word, self.cwd)
        if found.runs is not None:
            option, word = found.runs
            if option.slot is not None:
                self._run(option.slot, word, found.rest)

    def _operands(self) -> None:
        found, entry = self.found, self.entry
        before, after = places(found)
        base = self.cwd
        if entry.within and entry.within in self.local:
            # With several, each holds for the operands between it and the next.
            base = self.local[entry.within][0][1] if len(self.local[entry.within]) == 1 else None
        if found.runs is not None:
            return
        head, tail = found.operands, []
        if after is not None and found.trailing is not None:
            head, tail = found.operands[: found.trailing], found.operands[found.trailing :]
        for spec, words in ((before, head), (after or (), tail)):
            for at, (place, word) in enumerate(_assign(spec, words), 1):
                if place is not None and place.slot.rest:
                    self._run(place.slot, word, (*words[at:], *found.rest))
                    break
                self._argument(word, base, place.slot if place else None)
                self.strays = self.strays or (place is None and bool(entry.name))
                if place is not None and place.slot == _ANYTHING:
                    self.anything.append(word)
                if place is not None:
                    self._place(place.slot, word, base)

    def _argument(self, word: Word, base: str | None, slot: Slot | None) -> None:
        if not word.known:
            self.unresolved["argument"] = None
            return
        if slot is not None and slot.form == "script":
            return
        self.argument.append(values.plain_path(word, base))
        if slot is None or slot.role in PATH_ROLES or slot.role == "_":
            self._file(word, base)

    def _file(self, word: Word, base: str | None = None) -> None:
        path = values.file_like(word, base or self.cwd)
        if path is not None:
            self.file[path] = None

    def _place(self, slot: Slot, word: Word, base: str | None) -> None:
        """Give a word the role of its place."""
        if slot.form in ("code", "script", "module"):
            self._run(slot, word, ())
        elif slot.form == "upload":
            path = values.uploaded(word.text, slot.language)
            if path is not None:
                self.role(slot.role, word._replace(text=path), base)
        elif slot.role != "_":
            self.role(slot.role, word, base)

    def _path(self, role: str, word: Word, base: str | None) -> None:
        text = word.text
        if text == "-":
            if "dir.change" in (self.entry.kinds or ()):
                self.unresolved[role] = None
        elif values.is_url(text):
            self.roles.setdefault(role, []).append(text)
            self.roles.setdefault("url", []).append(text)
            self.remote.setdefault(f"{role}@remote", []).append(text)
        elif self._elsewhere(role, text):
            self.roles.setdefault(role, []).append(text)
        else:
            path = values.local(word, base)
            self.local.setdefault(role, []).append((word, path))
            if path is None:
                self.unresolved[role] = None
            else:
                self.roles.setdefault(role, []).append(path)

    def _elsewhere(self, role: str, text: str) -> bool:
        """Note the machine (or container) of ``[user@]host:path``."""
        place = values.elsewhere(text) if self.entry.remote else None
        if place is None:
            return False
        user, host = place
        self.roles.setdefault(self.entry.remote, []).append(host)
        if user is not None:
            self.roles.setdefault("user", []).append(user)
        self.remote.setdefault(f"{role}@remote", []).append(text)
        return True

    def _assigned(self) -> None:
        """NAME=value words."""
        assign = self.entry.assign
        for name, word in self.found.assignments:
            if isinstance(assign, str):
                self.roles.setdefault(assign, []).append(name)
                if not word.known:
                    self.unresolved[name] = None
                else:
                    self.named.setdefault(name, []).append(values.plain_path(word, self.cwd))
            else:
                self._place(Slot(assign[name]), word, self.cwd)

    def _run(self, slot: Slot, word: Word, rest: tuple[Word, ...]) -> None:
        """A word that is code, a script, a module or the first of a command."""
        if slot.form == "command":
            name, version = values.at_version(word.text) if self.entry.subject == "packages" else (word.text, None)
            if self.entry.subject == "packages" and word.known:
                self.tool = (name, version)
            if version is not None and word.known:
                self.roles["version"] = [version]
                word = word._replace(text=name)
            if self.found.chain[0].name in _OWN_DASHES and rest and rest[0].text == "--":
                rest = rest[1:]
            self.inner += commands_of(self.found, (word, *rest), slot.language, self.cwd)
            return
        if slot.form in ("shell", "elsewhere"):
            words = (word, *rest)
            joined = Word(" ".join(each.text for each in words), all(each.known for each in words))
            self.role("code" if slot.form == "shell" else slot.role, joined, self.cwd)
            self.elsewhere = self.elsewhere or slot.form == "elsewhere"
            if slot.form == "shell":
                self.code = Code("shell", text=joined)
            return
        if slot.form == "module" and word.known and program(word.text) is not None:
            self.roles["module"] = [word.text]
            self.inner.append(Inner((word, *rest), self.cwd))
            return
        from_stdin = slot.form == "script" and word.known and word.text in _STDIN
        if not from_stdin:
            self.role(slot.role, word, self.cwd)
        self.roles["language"] = [slot.language]
        if from_stdin:
            self.code = Code(slot.language, stdin=True, arguments=rest)
        else:
            text, script = (word if slot.form == form else None for form in ("code", "script"))
            known = script_program(word.text) if script is not None and word.known else None
            if known is not None:
                self.inner.append(Inner((word._replace(text=known), *rest), self.cwd))
            if self.code is not None and self.code.text is not None and text is not None:
                joined = Word(f"{self.code.text.text}\n{text.text}", self.code.text.known and text.known)
                self.code = Code(slot.language, text=joined, arguments=self.code.arguments)
            else:
                if self.code is not None:  # a script and code in place besides: only one of them is followed
                    self.unresolved[EFFECTS] = None
                self.code = Code(slot.language, text, script, arguments=rest)
        self._arguments(rest)

    def _arguments(self, words: tuple[Word, ...]) -> None:
        """The words a script is given: options and arguments like those of any program."""
        inside = sort(None, words)
        self.flags += inside.flags
        self._options(inside)
        self.unresolved.update(dict.fromkeys(inside.unresolved))
        for word in inside.operands:
            self._argument(word, self.cwd, None)


def _fits(place: Operand, word: Word) -> bool:
    return not place.form or (word.known and re.fullmatch(place.form, word.text) is not None)


def _assign(spec: Sequence[Operand], words: Sequence[Word]) -> Iterator[tuple[Operand | None, Word]]:
    """Each word with its place, as usage lines are read: what is required first, then what is optional."""
    spare = max(0, len(words) - sum(place.required for place in spec))
    at = 0
    for place in spec:
        count = int(place.required)
        if place.repeated:
            count += spare
            spare = 0
        elif not place.required and spare and _fits(place, words[at]):
            count, spare = 1, spare - 1
        for word in words[at : at + count]:
            yield place, word
        at += count
    for word in words[at:]:
        yield None, word
