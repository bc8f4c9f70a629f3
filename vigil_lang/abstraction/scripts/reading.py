"""One script from its text to its steps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vigil_lang.abstraction import paths
from vigil_lang.abstraction.scripts import builtin, calls, functions, modules, statements
from vigil_lang.abstraction.scripts.libraries import libraries
from vigil_lang.abstraction.scripts.parsed import parsed
from vigil_lang.abstraction.scripts.state import Exhausted, Interpreter, Run
from vigil_lang.abstraction.scripts.values import UNKNOWN, Scope, Sequence
from vigil_lang.abstraction.step import ScriptReading

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Many

    from vigil_lang.abstraction.scripts.values import Value
    from vigil_lang.abstraction.step import Word


_INTERPRETER = Interpreter(apply=calls.apply, invoke=functions.invoke, block=statements.block, special=builtin.SPECIAL)


def read(
    language: str,
    text: str,
    cwd: str | None,
    name: str,
    arguments: Many[Word],
    files: Callable[[str], str | None],
    changed: Callable[[str], bool],
) -> ScriptReading:
    """The steps of a script in order, what of it could not be read, and why it may do more than they tell."""
    translate = partial(parsed, language)
    tree = translate(text)
    file = _path(name, cwd)
    argv = _argv(language, name, arguments)
    run = Run(_INTERPRETER, language, libraries(language), cwd, files, changed, translate, argv, file)
    run.trouble.update(dict.fromkeys(tree.trouble))
    run.lines[""] = text.split("\n")
    run.certain = not tree.trouble
    scope = Scope({}, path=file)
    modules.prepare(run, scope, "__main__")
    run.returned.append([])
    try:
        run.block(tree.body, scope)
        functions.look_at_loose(run)
    except Exhausted as limit:
        run.trouble[str(limit)] = None
    return ScriptReading(tuple(run.steps), tuple(run.trouble), tuple(run.unseen) or tuple(run.trouble))


def _path(name: str, cwd: str | None) -> str | None:
    """The path of a script; None for code given in place."""
    return None if name.startswith(("-", "<")) or not name else paths.resolve(name, cwd)


def _argv(language: str, name: str, arguments: Many[Word]) -> Value:
    """The words of the script's command line, the script first; from an unknown word on they are not known."""
    words: list[Value] = [name] if language == "python" else ["node", name]
    for word in arguments:
        if not word.known or word.glob:
            return Sequence([*words, UNKNOWN], open=True)
        words.append(word.text)
    return Sequence(words)
