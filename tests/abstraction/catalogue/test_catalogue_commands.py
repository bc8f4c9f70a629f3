"""Command lines and what they come to, as `commands.txt` lists them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from vigil_lang.abstraction.catalogue import Inner, Invocation, read_command
from vigil_lang.abstraction.catalogue.programs import PATH_ROLES
from vigil_lang.abstraction.step import Word

_TABLE = Path(__file__).with_name("commands.txt").read_text("utf-8")
_ROWS = [line for line in _TABLE.splitlines() if line and not line.startswith("#")]
_WHOLE = (PATH_ROLES | {"url", "host"}) - {"file"}
"""Roles that a row names whenever the command has them."""


def words_of(line: str) -> tuple[Word, ...]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    raw = shlex.shlex(line, posix=False, punctuation_chars=False)
    raw.whitespace_split, raw.commenters = True, ""
    return tuple(
        Word(text, known="$" not in text, glob="*" in text and quoted == text, quoted=quoted != text)
        for text, quoted in zip(lexer, raw, strict=True)
    )


def shown(inner: Inner) -> str:
    assigned = [f"{name}={word.text}" for name, word in inner.assignments]
    texts = [word.text if word.known else "?" + word.text for word in inner.words]
    return " ".join([*assigned, ">", *(f'"{text}"' if " " in text else text for text in texts)])


def ran(invocation: Invocation) -> str:
    code = invocation.code
    if code is None:
        return " ".join(map(shown, invocation.inner))
    if code.stdin:
        return f"{code.language}<stdin"
    if code.script is not None:
        return f"{code.language}@{code.script.text}"
    if code.text is None:
        return code.language  # a module
    return f"{code.language}:{code.text.text if code.text.known else '?'}".replace("\n", " ")


@pytest.mark.parametrize("row", _ROWS)
def test_command(row: str) -> None:
    line, kinds, roles, effects, runs = (part.strip() for part in (row + " =>" * 4).split("=>")[:5])
    invocation = read_command(words_of(line), "/repo")
    step = invocation.step
    assert step.kinds == ("process.run", *kinds.split())

    expected = shlex.split(roles)
    unresolved = {each[1:] for each in expected if each.startswith("!")}
    assert set(step.unresolved) == unresolved
    for each in expected:
        if not each.startswith("!"):
            name, _, value = each.partition("=")
            values = (
                (value,)
                if value in (",", "1,5p") or name in ("delimiter", "key", "fields")
                else tuple(value.split(","))
            )
            assert step.roles.get(name) == values, name
    named = {each.partition("=")[0] for each in expected if not each.startswith("!")}
    assert {name for name in step.roles if name in _WHOLE} <= named

    seen = [
        f"{each.kind}:{','.join([*each.paths, *(['?'] if each.unresolved else [])])}" for each in invocation.effects
    ]
    assert seen == effects.split()
    assert ran(invocation) == runs
