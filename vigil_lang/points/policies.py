"""Which policies come with the skills that an agent loads: `policy.vgl` beside each `SKILL.md`."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import is_file, real_path
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POLICY, SKILL = "policy.vgl", "SKILL.md"

_SKILL_TOOLS = frozenset({"skill", "activate_skill", "load_skill", "use_skill"})
_SKILL_ARGUMENTS = ("skill", "name", "skill_name", "command")
_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,99}")
_SKILL_FILE = regex(r"[^\s'\"`;|&<>()=]*(?<![A-Za-z0-9_.-])SKILL\.md", re.IGNORECASE)
_ASKED = regex(r"\s*[/$]([A-Za-z0-9][A-Za-z0-9._:-]{0,99})")
_MOST_FILES = 20
_MOST_LOOKED_AT = 200_000
"""Characters of a call's arguments in which files of skills are looked for."""
_PLUGINS = ("*/skills", "cache/*/*/*/skills", "marketplaces/*/skills", "marketplaces/*/plugins/*/skills")
_MOST_PLUGINS = 500

_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude/skills",),
    "codex": (".codex/skills", ".agents/skills"),
    "gemini": (".gemini/skills", ".agents/skills"),
    "copilot": (".github/skills", ".copilot/skills", ".claude/skills", ".agents/skills"),
    "cursor": (".cursor/skills", ".claude/skills", ".agents/skills"),
}
"""Where each host looks for skills, in the folders upwards and in the user's own."""


class PoliciesUnknown(Exception):
    """Which policies apply cannot be said; the text says why."""


def skill_policies(host: str, tool: str, args: Mapping[str, Any], folder: str, env: Mapping[str, str]) -> list[str]:
    """The policies beside the skills that a call loads: by the host's own tool, or by reading a `SKILL.md`."""
    found: list[str] = []
    if tool.lower() in _SKILL_TOOLS:
        name = next((args[key] for key in _SKILL_ARGUMENTS if isinstance(args.get(key), str)), "")
        found += _of_skill(host, name, folder, env)
    looked_at = 0
    for text in _texts(args):
        looked_at += len(text)
        if looked_at > _MOST_LOOKED_AT:
            break
        if "skill.md" not in text.lower():
            continue
        for match in _SKILL_FILE.findall(text)[:_MOST_FILES]:
            path = match.replace("~", env.get("HOME", "~"), 1) if match.startswith("~/") else match
            found += _beside(Path(folder, path).parent)
    return list(dict.fromkeys(found))


def asked_policies(host: str, prompt: str, folder: str, env: Mapping[str, str]) -> list[str]:
    """The policies beside a skill that the user asks for by name: `/NAME …` or `$NAME …`."""
    asked = _ASKED.match(prompt)
    return _of_skill(host, asked[1], folder, env) if asked else []


def _of_skill(host: str, given: str, folder: str, env: Mapping[str, str]) -> list[str]:
    plugin, _, name = given.strip().rpartition(":")
    if not _NAME.fullmatch(name) or ".." in name:
        return []
    here = Path(folder)
    roots = [*(here, *here.parents), *((Path(env["HOME"]),) if env.get("HOME") else ())]
    places = [root / each / name for root in roots for each in _FOLDERS.get(host, ())]
    if env.get("CLAUDE_CONFIG_DIR"):
        places.append(Path(env["CLAUDE_CONFIG_DIR"], "skills", name))
    places += _in_plugins(name, plugin, env)
    return list(dict.fromkeys(path for place in places for path in _beside(place)))


def _in_plugins(name: str, plugin: str, env: Mapping[str, str]) -> Iterator[Path]:
    """The folders of a skill in Claude Code's plugins; of any plugin where none is named, for the host may mean it."""
    homes = [Path(env[key], *rest) for key, *rest in (("CLAUDE_CONFIG_DIR",), ("HOME", ".claude")) if env.get(key)]
    found = (skills for home in homes for pattern in _PLUGINS for skills in (home / "plugins").glob(pattern))
    for skills in islice(found, _MOST_PLUGINS):
        if not plugin or plugin in skills.parts:
            yield skills / name


def _beside(folder: Path) -> list[str]:
    path = folder / POLICY
    return [real_path(path)] if is_file(path) else []


def _texts(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case list(items):
                waiting += items
            case dict(members):
                waiting += members.values()
