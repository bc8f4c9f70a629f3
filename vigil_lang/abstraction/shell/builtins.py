"""The commands that act on the shell itself: what they do to its state, and how they end."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from vigil_lang.abstraction import paths
from vigil_lang.abstraction.shell.limits import MAX_EXPANDED, MAX_WORDS
from vigil_lang.abstraction.shell.outcome import (
    EXIT_FAIL,
    EXIT_OK,
    FAIL,
    OK,
    RETURN_FAIL,
    RETURN_OK,
    Facts,
    Outcome,
    Way,
    add,
)
from vigil_lang.abstraction.shell.state import UNKNOWN
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.abstraction.shell.expand import Expander
    from vigil_lang.abstraction.shell.limits import Budget
    from vigil_lang.abstraction.shell.state import Redirect, ShellState
    from vigil_lang.abstraction.step import Word

DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKE_NAMES = DECLARING | {
    "test", "[", "[[", "unset", "read", "printf", "mapfile", "readarray", "wait", "getopts", "let",
}  # fmt: skip
"""Those that evaluate the index of a name they are given."""
_READ_VALUES = frozenset("adinNptu")
_FORMAT = regex(r"%(?:[sd%])|\\[nt\\]|[^%\\]+")


class Shell(Protocol):
    """What the commands need of the shell that they act on."""

    budget: Budget
    expander: Expander
    before: Outcome
    locals: list[set[str]]
    loops: int
    traps: list[str]


def run(shell: Shell, words: Sequence[Word], way: Way, index: int) -> Outcome:
    """What comes of a command that is not a function."""
    bit = 1 << index
    ok = way._replace(facts=way.facts | Facts(bit, bit))
    fail = way._replace(facts=way.facts | Facts(bit, 0, bit))
    if not words[0].known:
        return {OK: ok, FAIL: fail}
    name, rest = words[0].text, list(words[1:])
    if name in way.state.functions:
        # It may be a function, which may change anything.
        return {end: each._replace(state=unknown_after(way.state)) for end, each in ((OK, ok), (FAIL, fail))}
    while name in ("command", "builtin") and rest and rest[0].known and not rest[0].text.startswith("-"):
        name, rest = rest[0].text, rest[1:]
    if name in _TAKE_NAMES and any(word.known and _runs_index(word.text) for word in rest):
        shell.budget.tell(f"`{name}` gets a name with an index, which may run commands")
    match name:
        case "true" | ":":
            return {OK: ok}
        case "false":
            return {FAIL: fail}
        case "exit":
            return _leave(shell, rest, ok, fail, (EXIT_OK, EXIT_FAIL))
        case "return":
            outcome = _leave(shell, rest, ok, fail, (RETURN_OK, RETURN_FAIL))
            if not shell.locals:  # only a function and a sourced script can return
                add(outcome, FAIL, fail)
            return outcome
        case "break" | "continue":
            if not shell.loops:
                return {OK: ok}
            count = int(rest[0].text) if rest and rest[0].known and re.fullmatch("[1-9][0-9]?", rest[0].text) else 1
            return {f"{name} {min(count, shell.loops)}": ok}
        case "source" | "." | "eval" if rest:
            state = way.state if _is_environment(name, rest) else unknown_after(way.state)
            return {OK: ok._replace(state=state), FAIL: fail._replace(state=state)}
        case "exec" if rest:
            return {EXIT_OK: ok, EXIT_FAIL: fail}
        case "cd" | "pushd" | "popd":
            state = _directory(name, rest, way.state)
            return {OK: ok._replace(state=state), FAIL: fail._replace(likely=False)}
        case "trap":
            if len(rest) > 1 and rest[0].known and rest[0].text not in ("", "-", "-p", "-l"):
                shell.traps.append(rest[0].text)
            return {OK: ok, FAIL: fail}
        case _:
            state = _changed(shell, name, rest, way.state, name != words[0].text)
            return {OK: ok._replace(state=state), FAIL: fail._replace(state=state)}


def _runs_index(text: str) -> bool:
    return "[" in text and ("$(" in text or "`" in text)


def unknown_after(state: ShellState) -> ShellState:
    """The shell after it ran a text that is not known."""
    return replace(
        state,
        cwd=None,
        variables={"HOME": UNKNOWN, "PATH": UNKNOWN},
        functions=dict.fromkeys(state.functions),
        previous=None,
        pushed=(),
        arguments=None,
        errexit=None,
        pipefail=None,
    )


def _is_environment(name: str, rest: list[Word]) -> bool:
    """Whether it is the script of a virtual environment, which goes nowhere and sets no variables of the user's."""
    return name != "eval" and rest[0].known and rest[0].text.endswith(("/bin/activate", "/Scripts/activate"))


def _leave(shell: Shell, rest: list[Word], ok: Way, fail: Way, ends: tuple[str, str]) -> Outcome:
    """`exit` and `return`: with a number, or as the command before ended. With more than one they do nothing."""
    if len(rest) > 1 or (rest and not rest[0].known and not rest[0].quoted and rest[0].text != "$?"):
        return {ends[0]: ok, ends[1]: fail, FAIL: fail}
    if rest and rest[0].known:
        number = re.fullmatch(r"-?[0-9]{1,9}", rest[0].text)
        succeeds = bool(number) and int(rest[0].text) % 256 == 0
        return {ends[0]: ok} if succeeds else {ends[1]: fail}
    if not shell.before or (rest and rest[0].text != "$?"):
        return {ends[0]: ok, ends[1]: fail}
    outcome: Outcome = {}
    for end, mine, own in ((OK, ends[0], ok), (FAIL, ends[1], fail)):
        if end in shell.before:
            add(outcome, mine, own._replace(facts=own.facts | shell.before[end].facts))
    return outcome


# -- directories


def _directory(name: str, rest: list[Word], state: ShellState) -> ShellState:
    """The state after a `cd`, `pushd` or `popd` that succeeds."""
    operands = [word for word in rest if not (word.known and re.fullmatch(r"-[LPe@n]+|--", word.text))]
    if name == "popd" or (name == "pushd" and not operands):
        if operands or not state.pushed:
            return replace(state, cwd=None, previous=state.cwd, pushed=())
        *below, top = state.pushed
        pushed = (*below,) if name == "popd" else (*below, state.cwd)
        return replace(state, cwd=top, previous=state.cwd, pushed=pushed)
    target: str | None
    if not operands:
        home = state.variables.get("HOME", ())
        target = paths.resolve(home[0].text if home else "~", state.cwd) if not home or home[0].known else None
    elif len(operands) > 1 or not operands[0].known or operands[0].glob:
        target = None
    elif operands[0].text == "-":
        target = state.previous
    elif name == "pushd" and re.fullmatch(r"[-+][0-9]+", operands[0].text):
        return replace(state, cwd=None, previous=state.cwd, pushed=())
    elif operands[0].text == "":
        target = state.cwd
    else:
        text = operands[0].text
        text = "./" + text if operands[0].quoted and text.startswith("~") else text
        elsewhere = "CDPATH" in state.variables and not text.startswith((".", "/", "~"))
        target = None if elsewhere else paths.resolve(text, state.cwd)
    pushed = (*state.pushed, state.cwd) if name == "pushd" else state.pushed
    return replace(state, cwd=target, previous=state.cwd, pushed=pushed[-100:])


# -- variables and options


def _changed(shell: Shell, name: str, rest: list[Word], state: ShellState, prefixed: bool) -> ShellState:
    """The state after a command that sets variables or options."""
    match name:
        case "unset":
            return _unset(rest, state)
        case "export" | "declare" | "typeset" | "readonly" | "local":
            return _declare(shell, name, rest, state, prefixed)
        case "read" | "mapfile" | "readarray" | "getopts":
            return _forget(state, _names(name, rest))
        case "printf" if rest and rest[0].text[:2] == "-v":
            return _forget(state, [rest[0].text[2:] or rest[1].text] if rest[0].text[2:] or rest[1:] else [])
        case "wait" if any(word.text == "-p" for word in rest):
            return _forget(state, [word.text for word in rest])
        case "shopt" if any(word.text == "execfail" for word in rest):
            shell.budget.tell("`exec` may fail without ending the shell")
            return state
        case "enable":
            return replace(state, functions={**state.functions, **dict.fromkeys(word.text for word in rest)})
        case "alias":
            names = [word.text.partition("=")[0] for word in rest if "=" in word.text or not word.known]
            return replace(state, functions={**state.functions, **dict.fromkeys(names)})
        case "hash" if any(word.text[:2] == "-p" for word in rest):
            return replace(state, functions={**state.functions, **dict.fromkeys(word.text for word in rest)})
        case "let":
            for word in rest:
                shell.expander.state = state
                shell.expander.evaluate(word.text)
                state = shell.expander.state
            return state
        case "set":
            return _options(rest, state)
        case "shift":
            if state.arguments is None:
                return state
            count = int(rest[0].text) if rest and re.fullmatch("[0-9]{1,4}", rest[0].text) else 1
            return replace(state, arguments=state.arguments[count:] if not rest or rest[0].known else None)
        case _:
            return state


def _names(name: str, rest: list[Word]) -> list[str]:
    """The variables that `read` and its like set."""
    names: list[str] = []
    value = False
    array = False
    for word in rest:
        if value:
            value = False
            if array:
                names.append(word.text)
        elif word.known and word.text.startswith("-") and len(word.text) > 1:
            value = word.text[-1] in _READ_VALUES
            array = name == "read" and word.text[-1] == "a"
        else:
            names.append(word.text)
    default = {"read": "REPLY", "mapfile": "MAPFILE", "readarray": "MAPFILE"}.get(name)
    if name == "getopts":
        return [*names[1:2], "OPTARG", "OPTIND"]
    return names or [default or "REPLY"]


def _forget(state: ShellState, names: list[str]) -> ShellState:
    known = [name.partition("[")[0] for name in names]
    return replace(state, variables={**state.variables, **{name: UNKNOWN for name in known if _NAME.fullmatch(name)}})


def _unset(rest: list[Word], state: ShellState) -> ShellState:
    variables, functions = dict(state.variables), dict(state.functions)
    only_functions = any(word.text == "-f" for word in rest)
    for word in rest:
        name = word.text
        if not word.known or not _NAME.fullmatch(name.partition("[")[0]):
            continue
        if "[" in name:
            variables[name.partition("[")[0]] = UNKNOWN
        elif only_functions or (name in functions and name not in variables):
            functions.pop(name, None)
        else:
            variables[name] = ()
    return replace(state, variables=variables, functions=functions)


def _declare(shell: Shell, name: str, rest: list[Word], state: ShellState, prefixed: bool) -> ShellState:
    """Names without a value are declared; those with one are set already, unless it was `prefixed` by `command`."""
    inside = bool(shell.locals) and name in ("local", "declare", "typeset")
    variables = dict(state.variables)
    options = "".join(word.text[1:] for word in rest if word.text[:1] == "-")
    if name != "local" and "f" in options and (name == "export" or "x" in options):
        shell.budget.tell("a function is exported, so other shells may run it in place of a program")
    if "n" in options and name != "export":
        shell.budget.tell("a variable that refers to another is declared")
    for word in rest:
        text, equals, _ = word.text.partition("=")
        text = text.removesuffix("+").partition("[")[0]
        if not _NAME.fullmatch(text):
            continue
        if equals and prefixed:
            variables[text] = UNKNOWN
        if inside:
            shell.locals[-1].add(text)
            if not equals:
                variables[text] = ()
        if any(option.text.startswith("-") and set(option.text) & set("niluc") for option in rest[:1]):
            variables[text] = UNKNOWN  # its values are changed as they are set
    return replace(state, variables=variables)


def _options(rest: list[Word], state: ShellState) -> ShellState:
    """``set -euo pipefail``, ``set +e``, ``set -- a b``."""
    position = 0
    while position < len(rest):
        word = rest[position]
        text = word.text
        position += 1
        if not word.known:
            return replace(state, errexit=None, pipefail=None, arguments=None)
        if text in ("--", "-") or not text.startswith(("-", "+")):
            arguments = tuple(rest[position:] if text in ("--", "-") else rest[position - 1 :])
            return state if text == "-" and not arguments else replace(state, arguments=arguments)
        on = text[0] == "-"
        if "e" in text:
            state = replace(state, errexit=on)
        if "o" in text and position < len(rest):
            option = rest[position]
            position += 1
            if not option.known:
                state = replace(state, errexit=None, pipefail=None)
            elif option.text == "pipefail":
                state = replace(state, pipefail=on)
            elif option.text == "errexit":
                state = replace(state, errexit=on)
    return state


# -- what a substitution gives


def output(words: Sequence[Word], redirects: Sequence[Redirect], state: ShellState) -> str | None:
    """The text a command writes, without its last newlines; None where that is not known."""
    if not words or not all(word.known and not word.glob for word in words):
        return None
    name, *rest = (word.text for word in words)
    if name == "cat" and not rest and len(redirects) == 1 and redirects[0].body is not None:
        body = redirects[0].body
        return body.text.rstrip("\n") if body.known and redirects[0].fd in (None, 0) else None
    if redirects:
        return None
    match name, rest:
        case "pwd", ([] | ["-L"] | ["-P"]):
            return state.cwd if state.cwd is not None and state.cwd.startswith("/") else None
        case "echo", _:
            if rest[:1] == ["-n"]:
                rest = rest[1:]
            text = " ".join(rest)
            return None if rest and rest[0].startswith("-") else text.rstrip("\n")
        case "printf", [form, *values]:
            return _formatted(form, values)
        case "basename", [path] if path.strip("/"):
            return posixpath.basename(path.rstrip("/"))
        case "basename", [path, suffix] if path.strip("/") and not path.startswith("-"):
            base = posixpath.basename(path.rstrip("/"))
            return base.removesuffix(suffix) if base != suffix else base
        case "dirname", [path] if path.strip("/") and not path.startswith("-"):
            parent = path.rstrip("/").rpartition("/")
            return (parent[0].rstrip("/") or "/") if parent[1] else "."
        case "seq", _:
            return _sequence(rest)
        case _:
            return None


def lists_names(words: Sequence[Word], redirects: Sequence[Redirect]) -> bool:
    """Whether a command writes the names of the entries of one folder, but for hidden ones, and nothing else."""
    if not words or words[0].text != "ls" or not words[0].known or any(r.fd in (None, 1) for r in redirects):
        return False
    folders = [word for word in words[1:] if word.text[:1] != "-" or not word.known]
    options = {letter for word in words[1:] if word not in folders for letter in word.text[1:]}
    return len(folders) <= 1 and not any(word.glob for word in folders) and options <= set("1rtSUv")


def _formatted(form: str, values: list[str]) -> str | None:
    """`printf` with ``%s``, ``%d`` and plain text, gone through once."""
    out: list[str] = []
    position = 0
    for match in _FORMAT.finditer(form):
        if match.start() != position:
            return None
        position = match.end()
        piece = match[0]
        if piece in ("%s", "%d"):
            value = values.pop(0) if values else "" if piece == "%s" else "0"
            if piece == "%d" and not re.fullmatch(r"-?(?:0|[1-9][0-9]*)", value):
                return None
            out.append(value)
        else:
            out.append({"%%": "%", "\\n": "\n", "\\t": "\t", "\\\\": "\\"}.get(piece, piece))
    return None if values or position != len(form) else "".join(out).rstrip("\n")


def _sequence(rest: list[str]) -> str | None:
    if not 1 <= len(rest) <= 3 or not all(re.fullmatch(r"-?(?:0|[1-9][0-9]{0,17})", text) for text in rest):
        return None
    numbers = [int(text) for text in rest]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    last = numbers[-1]
    if not step or (last - first) // step >= min(MAX_WORDS, MAX_EXPANDED):
        return None
    return "\n".join(map(str, range(first, last + (1 if step > 0 else -1), step)))
