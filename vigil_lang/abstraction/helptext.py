"""Options and operands read out of a help text: GNU, argparse, click, clap, cobra and Go's flag lay them out alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.abstraction.catalogue.programs import Program, Takes

_MOST_LINES = 5000
_MOST_OPTIONS = 500
_LONGEST = 400

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|.\x08")
_OPTION = re.compile(r"--?[A-Za-z0-9?@][\w-]*(?:\.[\w-]+)*")
_GAP = re.compile(r"\t| {2,}")
_SPREAD = re.compile(r"(-\w),? +(?=--)")
_ATTACHED = re.compile(r"\[=?<?[^\]]{1,60}\]|\[=<")
_VALUE = re.compile(r"[= ](?:<[^>]{1,60}>|\{[^}]{1,200}\}|\"[^\"]{1,60}\"|[A-Z][A-Z0-9_.:/|-]*)(?:\.\.\.)?")
_TYPE = re.compile(
    r" (?:string|strings|int|ints|int32|int64|uint|uint32|uint64|float|float32|float64|duration|value|bytes|file|path|"
    r"dir|directory|list|number|num|name|url|regex|pattern|stringArray|stringSlice|stringToString)(?![\w-])"
    r"|=\S+?(?=, |\s|\Z)"
)
_LONE = re.compile(r" [a-z][\w-]*(?=, -|\Z)")
_BETWEEN = re.compile(r"\s*[,/|]\s*")

_USAGE = re.compile(r"\s*usage:?", re.IGNORECASE)
_NO_OPERAND = frozenset(
    ("option", "options", "flag", "flags", "command", "commands", "subcommand", "args", "arguments", "arg", "prog")
)
_PATHS = frozenset(
    (
        "file",
        "files",
        "path",
        "paths",
        "filename",
        "filenames",
        "infile",
        "input",
        "input_file",
        "infiles",
        "inputs",
        "source",
        "src",
    )
)
_TARGETS = frozenset(("output", "outfile", "output_file", "dest", "destination", "target", "out"))
_DIRECTORIES = frozenset(("dir", "directory", "directories", "folder"))


class Usage(NamedTuple):
    """What a help text tells: options with their names and what they take, operands with role, required, repeated."""

    options: tuple[tuple[tuple[str, ...], str], ...] = ()
    operands: tuple[tuple[str, bool, bool], ...] = ()

    def program(self, name: str) -> Program:
        """An entry as the catalogue's are, of no kind of its own."""
        from vigil_lang.abstraction.catalogue.programs import Operand, Option, Program, Slot

        options = {each: Option(names, cast("Takes", takes)) for names, takes in self.options for each in names}
        return Program(
            name,
            subject="help",
            kinds=(),
            options=options,
            operands=tuple(Operand(Slot(role), required, repeated) for role, required, repeated in self.operands),
            single=any(len(each) > 2 and each[1] != "-" for each in options),
        )


def parse_help(text: str) -> Usage:
    """Read a help text; what does not look like an option or a usage line is passed over."""
    lines = [_ESCAPES.sub("", line)[:_LONGEST].rstrip() for line in text.splitlines()[:_MOST_LINES]]
    options: dict[str, tuple[tuple[str, ...], str]] = {}
    for line in lines:
        stripped = line.lstrip()
        if stripped[:1] != "-" or len(options) >= _MOST_OPTIONS:
            continue
        names, takes = _option(stripped)
        if names and not any(name in options for name in names):
            options.update(dict.fromkeys(names, (names, takes)))
    return Usage(tuple(dict.fromkeys(options.values())), tuple(_operands(lines)))


def _option(line: str) -> tuple[tuple[str, ...], str]:
    """Names and value of one option's line: what stands before a gap of two spaces or a tab."""
    spread = _SPREAD.match(line)  # `-o,  --output`, `-o --output`
    if spread is not None:
        line = f"{spread[1]}, {line[spread.end() :]}"
    gap = _GAP.search(line)
    spec = line[: gap.start()] if gap else line
    names: list[str] = []
    takes = "nothing"
    at = 0
    while (name := _OPTION.match(spec, at)) is not None:
        again = name[0] in names  # --check, --check=quiet
        names.append(name[0])
        at = name.end()
        if (attached := _ATTACHED.match(spec, at)) is not None:
            takes, at = "attached", attached.end()
        elif (value := _VALUE.match(spec, at) or _TYPE.match(spec, at)) is not None:
            takes, at = "value", value.end()
            while (more := _VALUE.match(spec, at)) is not None:
                at = more.end()
        elif _LONE.match(spec, at):
            takes, at = "value", spec.find(",", at) if "," in spec[at:] else len(spec)
        if again:
            takes = "attached"
        between = _BETWEEN.match(spec, at)
        if between is None:
            break
        at = between.end()
    return tuple(dict.fromkeys(names)), takes


def _operands(lines: list[str]) -> list[tuple[str, bool, bool]]:
    """The operands of the first usage line, at most one of them repeated."""
    found: list[tuple[str, bool, bool]] = []
    names: list[str] = []
    for optional, token in _tokens(_usage(lines)):
        name = token.rstrip(".").strip("<>").lower().replace("-", "_")
        if name in names or (found and not name):  # FILE ..., and argparse's FILE [FILE ...]
            found[-1] = (*found[-1][:2], True)
        elif name not in _NO_OPERAND and re.fullmatch(r"[a-z]\w*", name, re.ASCII):
            names.append(name)
            found.append((_role(name), not optional, token.endswith("...")))
    several = [index for index, (_, _, many) in enumerate(found) if many]
    return found if len(several) < 2 else found[: several[1]]


def _usage(lines: list[str]) -> str:
    """The first usage with its continuation lines, without the program's name."""
    for index, line in enumerate(lines):
        match = _USAGE.match(line)
        if match is None:
            continue
        parts = [line[match.end() :]]
        for following in lines[index + 1 : index + 20]:
            if not following.strip() or (parts[0].strip() and not following.startswith("   ")):
                break
            if _USAGE.match(following) or following.lstrip().lower().startswith("or:"):
                break
            parts.append(following)
            if not parts[0].strip():
                break
        return " ".join(" ".join(parts).split()[1:])
    return ""


def _tokens(usage: str) -> Iterator[tuple[bool, str]]:
    """The words of a usage that are no options, with whether they stand in brackets."""
    depth = 0
    skipping = 0
    for raw in re.findall(r"\[|\]|\([^()]*\)|[^\s\[\]]+", usage)[:200]:
        if raw == "[":
            depth += 1
        elif raw == "]":
            depth = max(0, depth - 1)
            if depth < skipping:
                skipping = 0
        elif depth and raw[:1] == "-":
            skipping = skipping or depth
        elif not skipping and raw[:1] not in "-({|":
            yield depth > 0, raw


def _role(name: str) -> str:
    for names, role in ((_PATHS, "path"), (_TARGETS, "target"), (_DIRECTORIES, "directory")):
        if name in names:
            return role
    return "url" if name in ("url", "urls", "uri") else "_"
