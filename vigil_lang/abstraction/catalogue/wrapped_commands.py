"""The commands that a command runs: after sudo, by xargs, by find -exec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.catalogue import values
from vigil_lang.abstraction.catalogue.options import EFFECTS
from vigil_lang.abstraction.catalogue.programs import Inner
from vigil_lang.abstraction.step import Word

if TYPE_CHECKING:
    from vigil_lang.abstraction.catalogue.options import Sorted

_MOST = 50
"""Commands one `parallel` is unrolled into."""

_FED = Word("{}", known=False)


def commands_of(found: Sorted, words: tuple[Word, ...], language: str, cwd: str | None) -> list[Inner]:
    """The commands that begin with these words, given what the program `found` feeds them."""
    feed = found.program.feed
    assignments = tuple(found.assignments) if isinstance(found.program.assign, str) else ()
    head = words[0]
    if language and head.known and "/" not in head.text and values.script_language(head.text):
        words = (head._replace(text="./" + head.text), *words[1:])
    if not feed:
        return [Inner(words, cwd, assignments)]
    if feed == "either" and ":::" in (texts := [word.text for word in words]):
        at = texts.index(":::")
        command, each = words[:at], words[at + 1 :]
        if len(each) > _MOST:
            found.unresolved.append(EFFECTS)
        if command and not any(word.text[:3] == ":::" for word in each):
            return [Inner(_filled(command, word), cwd) for word in each[:_MOST]]
        words = command or words
    placeholder = next((word.text for word in found.values.get("-I", ())), "{}")
    replaced = tuple(_unknown(word, placeholder, feed) for word in words)
    if feed == "append" and "-I" not in found.values:
        return [Inner((*words, _FED), cwd, assignments)]
    if feed == "either" and replaced == words:
        return [Inner((*words, _FED), cwd)]
    return [Inner(replaced, cwd, assignments)]


def _unknown(word: Word, placeholder: str, feed: str) -> Word:
    """A word that holds the placeholder is known only when it runs."""
    some = placeholder in word.text if placeholder else False
    if feed == "either":
        some = some or any(each in word.text for each in ("{.}", "{/}", "{//}", "{/.}", "{#}", "{%}"))
    return word._replace(known=False) if some else word


def _filled(command: tuple[Word, ...], value: Word) -> tuple[Word, ...]:
    """A command with its placeholder replaced by one value, or the value at its end."""
    if any("{}" in word.text for word in command):
        return tuple(
            Word(word.text.replace("{}", value.text), word.known and value.known) if "{}" in word.text else word
            for word in command
        )
    unclear = tuple(_unknown(word, "", "either") for word in command)
    return unclear if unclear != command else (*command, value)
