"""Codex's managed settings, `requirements.toml`: our hooks are a block at the end, between two comments."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from vigil_lang.points.install.registration import Standing, Unusable

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGIN, END = "# vigil hooks: begin", "# vigil hooks: end"
_BLOCK = re.compile(rf"\n?^{BEGIN}$.*?^{END}$\n?", re.DOTALL | re.MULTILINE)


def installed(text: str, hooks: Mapping[str, dict[str, Any]]) -> str:
    """The text with a block of these hooks, in the place of one that is there.

    Raises:
        Unusable: it is no TOML, or has hooks in a form that no block can be added to.
    """
    block = "\n".join([BEGIN, *(_table(event, hook) for event, hook in hooks.items()), END]) + "\n"
    bare = uninstalled(text)
    whole = f"{bare}{'' if not bare or bare.endswith(chr(10)) else chr(10)}\n{block}" if bare else block
    _parsed(whole)
    return whole


def uninstalled(text: str) -> str:
    """The text without our block. Raises as `installed`."""
    _parsed(text)
    return _BLOCK.sub("", text)


def standing(text: str) -> list[Standing]:
    """The hooks in our block. Raises as `installed`."""
    found = _BLOCK.search(text)
    hooks = _parsed(found[0] if found else "").get("hooks", {})
    return [
        Standing(event, hook, group)
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        for group in groups
        for hook in group["hooks"]
    ]


def _table(event: str, hook: Mapping[str, Any]) -> str:
    lines = [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]"]
    # A basic string of TOML has all escapes of JSON's strings, as long as they are ASCII.
    lines += [f"{name} = {json.dumps(value)}" for name, value in hook.items()]
    return "\n".join(lines)


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unusable(f"it is no TOML: {error}") from None
