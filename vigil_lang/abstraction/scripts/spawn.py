"""Programs that a script runs: `subprocess`, `os.system`, `child_process`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.tree import Items, Opaque, plain
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    Mapping,
    Ref,
    Sequence,
    Thing,
    Value,
    is_pattern,
    text_of,
    truth,
)
from vigil_lang.abstraction.step import Spawn, Word

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.libraries import Entry
    from vigil_lang.abstraction.scripts.site import Arguments, Site
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Expr


# Those that raise where the command fails; others tell it in a result that a script may look at, or not.
_CHECKED = frozenset(
    {
        "subprocess.check_call", "subprocess.check_output", "child_process.execSync", "child_process.execFileSync",
    }
)  # fmt: skip


def spawn(run: Run, entry: Entry, given: Arguments, site: Site, this: Thing | None = None) -> None:
    """Adds the command that a call runs, in the directory of the object whose method it is, if it has one.

    What of it is unknown stands as ``${__name}``: for a shell that is unknown too, and so is a directory that the
    script names but that cannot be told, as ``cd "${__cwd}" && …``.
    """
    argv, line = _command(entry, given)
    if (not argv and line is None) or (argv and not argv[0].known) or _setting(given, "executable") is not None:
        run.open("it is not known which program is run", site.line)
    if not argv and line is None:
        return
    cwd, odd = _directory(run, given)
    if cwd is None and not odd and this is not None and "path" in this.of:
        cwd = this.of["path"][0]
    if odd:
        line = line if line is not None else " ".join(shlex.quote(w.text) if w.known else f'"{w.text}"' for w in argv)
        argv, line, cwd = (), f'cd "${{__cwd}}" && {line}', None
    excerpt, number = run.excerpt(site.line, site.scope)
    run.spend(len(argv) + len(line or "") // 64)
    stdin = text_of(_setting(given, "input"))
    checked = entry.name in _CHECKED or truth(_setting(given, "check")) is True
    scripts = run.scripts(site.scope)
    variables = {**run.variables, **_variables(_setting(given, "env"))}
    spawn = Spawn(argv, line, cwd, run.certain, excerpt, number, stdin, _is_fed(given), variables, checked, scripts)
    run.add(spawn, (argv, line, cwd, excerpt, number, stdin, tuple(variables.items())))


def _command(entry: Entry, given: Arguments) -> tuple[tuple[Word, ...], str | None]:
    """The words of a command, or a line for a shell."""
    match entry.spawn:
        case "line":
            return (), _line(given, entry.args[0][0] if entry.args else "command")
        case "words":  # program, then one list; or all arguments in turn
            head = [given.positional[0]] if given.positional else []
            rest = given.positional[1:2] if isinstance(given.get(1), Sequence) else []
            if any(truth(_option(v, "shell")) for _, v in given.positional[1:]):
                return (), " ".join([_line(given, "") or "", *(w.text for w in _words(rest))])
            return _words([*head, *rest]), None
        case "vector":  # os.execv(path, [argv0, …])
            return _words(given.positional[1:2])[:MAX_ITEMS], None
        case "method":  # repo.git.push("origin", force=True), sh.rm("-r", "x")
            name = entry.name.rpartition(".")[2].replace("_", "-")
            options, words = _options(given), _words(given.positional)
            if program := entry.const.get("program"):
                return (Word(program), Word(name), *options, *words), None
            return (Word(name), *words, *options), None
        case "spread":  # os.execlp(file, argv0, …), asyncio.create_subprocess_exec(program, …)
            return _words(given.positional[1:] if entry.name.startswith("os.") else given.positional), None
        case _:
            shell = truth(given.get(8, "shell"))
            command = given.get(0, "args")
            if shell or (shell is None and isinstance(command, str) and "shell" in given.named):
                return (), _line(given, "args")
            words = _words([given.named["args"]] if "args" in given.named else given.positional[:1])
            program = entry.const.get("program")  # which is given the words: `pip.main(["install", "x"])`
            return (Word(program), *words) if program else words, None


def _options(given: Arguments) -> tuple[Word, ...]:
    """Options by keyword: `f=True` is `-f`, `force=True` is `--force`, `m="x"` is `-m x`; `_cwd` is none."""
    found = [Word("${__value}", known=False)] if given.more else []
    for name, (node, value) in given.named.items():
        if name[:1] == "_" or value is None or value is False:
            continue
        dashed = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        for each in value.items if isinstance(value, Sequence) else [value]:
            word = Word("") if each is True else _word(node, each)
            if each is True or len(name) == 1:
                found += [Word(dashed), *([word] if each is not True else [])]
            else:
                found.append(word._replace(text=f"{dashed}={word.text}"))
    return tuple(found)


def _option(value: Value, name: str) -> Value:
    return value.items.get(name) if isinstance(value, Mapping) else None


def _line(given: Arguments, name: str) -> str | None:
    if name not in given.named and not given.positional:
        return None
    node, value = given.named[name] if name in given.named else given.positional[0]
    if isinstance(value, Sequence):
        return " ".join(w.text for w in _words([(node, value)]))
    text = text_of(value)
    if text is not None:
        return text
    return value.shape if isinstance(value, Thing) and value.shape else _hole(node)


def _words(given: list[tuple[Expr, Value]]) -> tuple[Word, ...]:
    """The words that arguments stand for; one that is unknown stands for any number of them."""
    found: list[Word] = []
    for node, value in given:
        if isinstance(value, Sequence):
            written = node.items if isinstance(node, Items) and len(node.items) == len(value.items) else ()
            nodes = written or (Opaque(),) * len(value.items)
            found += [_word(n, item) for n, item in zip(nodes, value.items, strict=True)]
            if value.open and (not found or found[-1].known):
                found.append(Word("${__value}", known=False))
        else:
            found.append(_word(node, value))
    return tuple(found)


def _word(node: Expr, value: Value) -> Word:
    text = text_of(value)
    if is_pattern(value):
        return Word(text or "", glob=True)
    if text is not None:
        return Word(text, quoted=text[:1] != "~")  # the home directory, which the script has looked up
    shape = value.shape if isinstance(value, Thing) else None
    return Word(shape or _hole(node), known=False)


def _hole(node: Expr) -> str:
    name = (plain(node) or "value").replace(".", "_")
    return "${__" + (name if name.isascii() else "value") + "}"


def _setting(given: Arguments, name: str) -> Value:
    """What a command is given by keyword, or in an object of options."""
    value = given.get(-1, name)
    for _, option in given.positional[1:]:
        if isinstance(option, Mapping) and name in option.items:
            value = option.items[name]
    return value


def _variables(env: Value) -> dict[str, Word]:
    """The variables that a command is given."""
    items = env.items if isinstance(env, Mapping) else {}
    return {name: variable(value) for name, value in list(items.items())[:MAX_ITEMS] if isinstance(name, str)}


def variable(value: Value) -> Word:
    """The value of a variable of the environment, as a shell would have it."""
    text = text_of(value)
    shape = value.shape if isinstance(value, Thing) else None
    return Word(shape or "", known=False) if text is None else Word(text)


def _is_fed(given: Arguments) -> bool:
    """Whether a command is given something to read."""
    stdin = _setting(given, "stdin")
    nothing = stdin is None or (isinstance(stdin, Ref) and stdin.name.endswith(".DEVNULL"))
    return _setting(given, "input") is not None or not nothing


def _directory(run: Run, given: Arguments) -> tuple[str | None, bool]:
    """The directory a command is given, and whether it has one that cannot be told."""
    value = _setting(given, "cwd")
    if value is None:
        return (run.cwd, run.cwd is None) if run.moved else (None, False)
    text = text_of(value)
    path = run.path(text) if text is not None else None
    return path, path is None
