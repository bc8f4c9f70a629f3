"""The words of a command line sorted into subcommands, options, assignments and operands."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import field

from vigil_lang.abstraction.catalogue import values
from vigil_lang.abstraction.catalogue.programs import Change, Operand, Option, Program
from vigil_lang.abstraction.step import Word
from vigil_lang.base.structs import Mutable
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMERIC = regex(r"[-+][0-9]+[a-zA-Z]?\Z")
_ASSIGNMENT = regex(r"[A-Za-z_][A-Za-z0-9_]*=")
_SUBCOMMAND = regex(r"[A-Za-z][\w:-]*\Z")
_DYNAMIC = regex(r"[$`]")
_INFORMING = ("help", "version")
_VERSIONS = frozenset({"--version", "-version", "-V"})
"""Options that tell a program's version, where they stand alone and the program has no other use for them."""
_VERSIONS_OF_ANY = _VERSIONS | {"-VV", "version"}
"""The same of a program that the catalogue does not have."""

EFFECTS = "effects"
"""The mark of a command some of whose effects are not known."""

ON = Word("true")
"""What a switch that is present has for a value."""


class Sorted(Mutable):
    """A command line's words after the first, by what they are."""

    program: Program
    """The entry of the innermost subcommand."""
    options: Mapping[str, Option]
    chain: list[Program]
    """The entries from the program down to that subcommand."""
    subcommand: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    values: dict[str, list[Word]] = field(default_factory=dict)
    """The values of the options that are present, under each of their names with dashes."""
    given: list[tuple[Option, Word]] = field(default_factory=list)
    """Options with a role and their values, in order."""
    taken: list[tuple[Word, ...]] = field(default_factory=list)
    """Commands that stand as an option's value."""
    operands: list[Word] = field(default_factory=list)
    trailing: int | None = None
    """How many operands stand before a ``--``."""
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    runs: tuple[Option, Word] | None = None
    """The option whose value is run with all further words as its arguments: python's -c."""
    rest: tuple[Word, ...] = ()
    """Those words, or the command that the last operand place stands for."""
    informs: bool = False
    """It is asked for its help or its version, and does nothing else."""
    version: bool = False
    """It is asked for its version."""
    fed: bool = False
    """Its standard input is a file, a pipe or a text."""
    loose: bool = False
    """An operand may turn out to be options."""
    strange: bool = False
    """Its subcommand is none that is known: not even its kind is."""
    unresolved: list[str] = field(default_factory=list)


UNKNOWN = Program("")
"""What is known of a program that no catalogue has."""


def sort(program: Program | None, words: Sequence[Word]) -> Sorted:
    """Sort the words after the program's own."""
    top = program or UNKNOWN
    found = Sorted(top, top.options, [top])
    _Reading(found, words, single=program is None or top.single).read()
    return found


class _Reading:
    """One pass over the words."""

    def __init__(self, found: Sorted, words: Sequence[Word], single: bool) -> None:
        self.found = found
        self.words = words
        self.at = 0
        self.single = single
        self.plus = found.program.plus
        self.ended = False
        self.expects = found.program.commands is not None

    def read(self) -> None:
        if len(self.words) == 1 and self._is_version(self.words[0]):
            self.found.flags.append(self.words[0].text)
            self._inform(self.words[0].text)
            return
        if self.found.program.bundle and self.words:
            self._bundle(self.words[0])
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            self._word(word)
            if self.found.runs is not None or self._rest_begins():
                self.found.rest = tuple(self.words[self.at :])
                return

    def _is_version(self, word: Word) -> bool:
        """Whether a word alone asks a program for its version."""
        program = self.found.program
        usual = _VERSIONS_OF_ANY if program is UNKNOWN else _VERSIONS
        return word.known and (
            word.text in program.versions
            or (word.text in usual and word.text not in program.options and not program.strict)
        )

    def _inform(self, text: str) -> None:
        """The program tells its help or its version."""
        self.found.informs = True
        self.found.version = "help" not in text and text != "-h"
        self._switch(Option((text,)))

    def _word(self, word: Word) -> None:
        text, found = word.text, self.found
        if self.ended:
            found.operands.append(word)
        elif text == "--":
            found.values.setdefault("--", [ON])
            found.trailing = len(found.operands)
            self.ended = True
        elif text in found.program.ignore:
            return
        elif text[:1] == "-" and len(text) > 1:
            if word.known:
                self._option(word)
            else:
                self._dynamic(word)
        elif self.plus and text[:1] == "+" and len(text) > 1 and word.known:
            found.flags.append(text)
            option = found.options.get(text)
            self._describe(text, option)
            if option is not None:
                self._take(option)
        elif self.expects:
            self._subcommand(word)
        elif found.program.assign and _ASSIGNMENT.match(text) and not self._assign(word):
            return
        else:
            if not word.known and not word.quoted and text[:1] in "$`" and not found.program.strict:
                found.loose = True
            found.operands.append(word)
            self.ended = found.program.stop

    def _rest_begins(self) -> bool:
        """Whether the operands have reached the place from which on all words are one command's or script's."""
        if not self.found.program.hands_over:
            return False
        for index, place in enumerate(places(self.found)[0]):
            if place.repeated:
                return False
            if place.slot.rest:
                return len(self.found.operands) > index
        return False

    def _subcommand(self, word: Word) -> None:
        found, commands = self.found, self.found.program.commands
        assert commands is not None
        top = not found.subcommand
        if not word.known:
            found.unresolved.append("subcommand")
            found.strange = not any(place.slot.role != "_" or place.slot.form for place in places(found)[0])
            self.expects = False
            found.operands.append(word)
            return
        name = word.text
        listed = name in commands
        below = commands.get(name if listed else "_")
        if below is None and not (top and self._may_be_subcommand(name)):
            self.expects = False
            found.operands.append(word)
            found.strange = not any(place.slot.role != "_" or place.slot.form for place in places(found)[0])
            return
        if below is not None and not listed and not below.itself and name not in _INFORMING:
            found.unresolved.append(EFFECTS)
        if below is not None and below.itself:
            found.program = below
            found.chain.append(below)
            found.operands.append(word)
            self.expects = False
            return
        found.subcommand.append(name)
        if below is None:
            self.expects = False
            found.informs = name in _INFORMING and top
            found.version = name == "version"
            found.strange = not found.informs
            return
        found.informs = found.informs or (top and not listed and name in _INFORMING)
        found.version = top and name == "version"
        found.program = below
        found.chain.append(below)
        found.options = {**found.options, **below.options}
        self.single = self.single or below.single
        self.plus = self.plus or below.plus
        self.expects = below.commands is not None

    def _may_be_subcommand(self, name: str) -> bool:
        """Whether a word that is no listed subcommand is one all the same, and not the program's first operand."""
        first = self.found.program.operands[:1]
        takes_any = any(place.slot.role != "_" or place.slot.form == "command" for place in first)
        is_script = any(place.slot.form == "script" for place in first)  # `dotnet x.dll`; other words are subcommands
        return _SUBCOMMAND.match(name) is not None and (name in _INFORMING or is_script or not takes_any)

    def _assign(self, word: Word) -> bool:
        """Note NAME=value; True where it is an operand after all: a command has begun before it."""
        name, _, value = word.text.partition("=")
        known = self.found.program.assign
        if not isinstance(known, str) and name not in known:
            return True
        self.found.assignments.append((name, word._replace(text=value)))
        return False

    # Options

    def _option(self, word: Word) -> None:
        text, found = word.text, self.found
        option = found.options.get(text)
        if option is not None:
            found.flags.append(text)
            return self._take(option)
        if text[:2] == "--" and text not in ("--help", "--version"):
            word = self._spelt_out(word)
            text = word.text
            if text in found.options:
                found.flags.append(text)
                return self._take(found.options[text])
        if found.program.strict:
            if not self._cluster(word):
                found.operands.append(word)
                self.ended = found.program.stop
            return None
        name, equals, value = text.partition("=")
        if text[1].isupper() and self._cluster(word):  # -DNAME=value, of compilers
            return None
        if equals and (text[:2] == "--" or self.single or len(name) > 2):
            option = found.options.get(name)
            if option is not None or text[:2] == "--" or self.single:
                found.flags.append(name)
                self._describe(name, option)
                return self._set(option or Option((name,)), word._replace(text=value))
        if text[:2] != "--" and self._cluster(word):
            return None
        if equals and len(name) > 2:  # -fsanitize=address
            found.flags.append(name)
            self._describe(name, None)
            return self._set(Option((name,)), word._replace(text=value))
        return self._unknown(word)

    def _spelt_out(self, word: Word) -> Word:
        """A long option in full: it may be cut short, as far as it stays clear which one it is."""
        name, equals, value = word.text.partition("=")
        options = self.found.options
        if self.single or name in options:
            return word
        meant = {option.names: full for full, option in options.items() if full.startswith(name)}
        if len(meant) > 1:
            self.found.unresolved.append("flag")
        return word._replace(text=next(iter(meant.values())) + equals + value) if len(meant) == 1 else word

    def _describe(self, name: str, option: Option | None) -> None:
        """Mark an option that the catalogue does not know."""
        program = self.found.program
        if option is not None or program is UNKNOWN or _NUMERIC.match(name):
            return
        if name.startswith(program.families or ()) and not Option((name,), "value").opens:
            return
        if name[:5] == "--no-" and f"--{name[5:]}" in self.found.options:
            return
        self.found.unresolved.append(EFFECTS)

    def _take(self, option: Option) -> None:
        """An option by itself, whose value, if it has one, is the next word."""
        if option.until:
            self._until(option)
        elif option.takes != "value" or self.at == len(self.words):
            self._switch(option)
        elif option.words == 1:
            self.at += 1
            self._set(option, self.words[self.at - 1])
        else:
            self._several(option)

    def _several(self, option: Option) -> None:
        """The words of a value that has more than one, or as many as there are."""
        end = min(self.at + option.words, len(self.words))
        if not option.words:
            rest = range(self.at, len(self.words))
            end = next((at for at in rest if self.words[at].text[:1] == "-"), len(self.words))
        for word in self.words[self.at : end]:
            self._set(option, word)
        self.at = end

    def _until(self, option: Option) -> None:
        start = self.at
        while self.at < len(self.words) and self.words[self.at].text not in (";", "+", "\\;"):
            self.at += 1
        self.found.taken.append(tuple(self.words[start : self.at]))
        self.at += 1
        self._switch(option)

    def _switch(self, option: Option) -> None:
        if option.runs:
            self.found.unresolved.append(EFFECTS)
        for name in option.names:
            self.found.values.setdefault(name, [ON])

    def _set(self, option: Option, value: Word) -> None:
        found = self.found
        if option.opens and found.program is not UNKNOWN and not self._is_safe(value):
            found.unresolved.append(EFFECTS)
        described = (option.slot is not None and option.slot.role != "_") or not found.program.chdir.isdisjoint(
            option.names
        )
        described = described and not value.text.startswith(("file://", "fileb://"))
        if not described and found.program is not UNKNOWN and values.opens_file(option.names, value.text):
            found.unresolved.append(EFFECTS)
        for name in option.names:
            found.values.setdefault(name, []).append(value)
        if option.slot is not None:
            if option.slot.rest:
                found.runs = (option, value)
            else:
                found.given.append((option, value))

    def _is_safe(self, value: Word) -> bool:
        globs = (*self.found.chain[0].safe, *self.found.program.safe)
        return value.known and any(fnmatchcase(value.text, each) for each in globs)

    def _cluster(self, word: Word) -> bool:
        """Read ``-xzfa.tgz`` letter by letter; False where one of the letters is not known."""
        text, options = word.text, self.found.options
        taken: list[tuple[Option, str]] = []
        for index in range(1, len(text)):
            option = options.get("-" + text[index])
            if option is None or option.until:
                return False
            taken.append((option, "-" + text[index]))
            if option.takes != "nothing" and index + 1 < len(text):
                if self.single and index > 1:
                    return False
                self._all(taken[:-1])
                value = text[index + 1 :]
                self.found.flags.append("-" + text[index])
                self._set(option, word._replace(text=value.removeprefix("=") if self.single else value))
                return True
        self._all(taken)
        return True

    def _all(self, taken: list[tuple[Option, str]]) -> None:
        for option, name in taken:
            self.found.flags.append(name)
            self._take(option)

    def _bundle(self, word: Word) -> None:
        """``xzf a.tgz``: letters without a dash, whose values follow in order."""
        options = self.found.options
        if not word.known or not word.text.isalpha() or any("-" + letter not in options for letter in word.text):
            return
        self.at = 1
        self._all([(options["-" + letter], "-" + letter) for letter in word.text])

    def _unknown(self, word: Word) -> None:
        text, found = word.text, self.found
        if word.quoted and any(space in text for space in " \t\n"):
            found.operands.append(word)
            return
        found.flags.append(text)
        last = self.at == len(self.words)
        following = None if last else self.words[self.at]
        if text in ("--help", "--version") or (text in ("-h", "-V") and len(self.words) == 1):
            if following is None or following.text[:1] == "-":
                # Not every program looks for options behind its operands.
                found.unresolved += [EFFECTS] * bool(found.operands)
                self._inform(text)
                return
        elif _NUMERIC.match(text):
            return
        self._describe(text, None)
        if following is None or following.text[:1] == "-" or text[:5] == "--no-":
            self._switch(Option((text,)))
        else:
            found.values.setdefault(text, []).append(following)

    def _dynamic(self, word: Word) -> None:
        """An option some of which is decided when it runs: its name may still be plain."""
        found = self.found
        name, equals, _ = word.text.partition("=")
        option = found.options.get(name)
        if equals and not _DYNAMIC.search(name):
            self._describe(name, option)
            self._set(option or Option((name,)), word)
            return
        option = found.options.get(word.text[:2])
        if option is not None and option.takes != "nothing":
            self._set(option, word)
            return
        found.unresolved.append("flag")


def places(found: Sorted) -> tuple[tuple[Operand, ...], tuple[Operand, ...] | None]:
    """The operand places of a command with the options seen so far: before ``--``, and after it where they differ."""
    program = found.program
    chosen = program.operands, program.trailing
    for change in program.when:
        if change.early and change.operands is not None and applies(change, found, {}):
            chosen = change.operands
    return chosen


def applies(change: Change, found: Sorted, roles: Mapping[str, Sequence[str]]) -> bool:
    """Whether the options, and the roles so far, are those a change asks for."""

    def present(name: str) -> bool:
        return name in found.values if name[0] in "-+" else bool(roles.get(name))

    if change.fed is not None and change.fed != found.fed:
        return False
    if change.has and not any(map(present, change.has)):
        return False
    if change.also_has and not any(map(present, change.also_has)):
        return False
    if change.lacks and any(map(present, change.lacks)):
        return False
    if change.arg is not None:
        role, value = change.arg
        if value not in roles.get(role, ()):
            return False
    if change.like is not None:
        role, value = change.like
        if not any(re.match(value, text) for text in roles.get(role, ())):
            return False
    return change.remote is None or bool(roles.get(f"{change.remote}@remote"))
