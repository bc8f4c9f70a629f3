"""What a script does, read from its text alone: files, network, programs it runs and library functions it calls.

Nothing is run. Each language is translated into one small tree (`tree.py`). One interpreter walks it in the order
things would happen and keeps what is known of every value (`values.py`): `statements.py`, `expressions.py`, `calls.py`
and `functions.py` call each other through `state.Interpreter`. What functions of libraries do is data
(`libraries.py`); `emit.py` makes steps of it.

What a step of a call carries besides the roles of its kinds: `function`, the qualified name (a method of an object is
called after its class, ``openpyxl.Workbook.save``, or after the function whose result it is, ``pkg.f().method``);
`arg1`, `arg2`, … and keywords by name, where they are known; ``arg1.name`` for a plain name or attribute that is
given and ``arg1.from`` for the functions whose result it is; `keyword`, the names of all keyword arguments; `nargs`;
``result.name``, what the result is assigned to; and of the object whose method it is, what is known of the call that
made it: ``of.path``, ``of.data_only``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.step import ScriptReading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.abstraction.step import Word

MAX_TEXT = 500_000
"""Characters of a script that is read at all."""

_LANGUAGES = {"python": "python", "javascript": "javascript", "typescript": "javascript"}


def _no_files(_: str) -> str | None:
    return None


def _no_changes(_: str) -> bool:
    return False


def read_script(
    language: str,
    text: str,
    *,
    cwd: str | None,
    name: str,
    arguments: Sequence[Word] = (),
    files: Callable[[str], str | None] = _no_files,
    changed: Callable[[str], bool] = _no_changes,
) -> ScriptReading:
    """The effects of a script in `python` or `javascript` (`typescript` as far as it is JavaScript).

    `cwd` is the directory it runs in, `name` its path or a made-up name such as ``-c``, `arguments` what follows it
    on the command line, and `files` gives the text of a file that is known: local modules are followed through it.
    `changed` says whether there is something new under a path: a module of that name is not the one that is known.
    """
    if language not in _LANGUAGES:
        trouble = f"scripts in {language} are not read"
        return ScriptReading(trouble=(trouble,), unseen=(trouble,))
    if len(text) > MAX_TEXT:
        trouble = f"the script is longer than {MAX_TEXT} characters"
        return ScriptReading(trouble=(trouble,), unseen=(trouble,))
    from vigil_lang.abstraction.scripts.reading import read

    return read(_LANGUAGES[language], text, cwd, name, arguments, files, changed)
