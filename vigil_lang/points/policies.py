"""Which policies apply where an agent works: those of the project, and those beside the skills that it loads."""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import is_file, real_path
from vigil_lang.diagnostics import InputError
from vigil_lang.patterns import regex
from vigil_lang.project.configuration import OWN, load
from vigil_lang.project.paths import TESTS, policy_paths

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


def project_policies(folder: str) -> tuple[str, ...]:
    """The policies that `[hook] policies` of the nearest configuration names: absolute paths, standard modules by name.

    Raises:
        PoliciesUnknown: the configuration or a path in it is at fault.
    """
    loaded = load(Path(folder))
    if loaded.broken:
        raise PoliciesUnknown(f"{_at(folder, loaded.path)}: {loaded.findings[0].message}")
    found: list[str] = []
    for given in loaded.settings.hook.policies:
        name = os.path.basename(given)  # noqa: PTH119 - texts as the settings have them
        path = os.path.normpath(os.path.join(folder, given))  # noqa: PTH118
        if name.startswith("std.") and not os.path.lexists(path):
            found.append(name)
            continue
        try:
            named = policy_paths([path], loaded.settings.excludes)
        except InputError as error:
            raise PoliciesUnknown(f"{_at(folder, loaded.path)}: {error.diagnostics[0].message}") from error
        found += [each for each in named if not each.endswith(TESTS)]
    return tuple(dict.fromkeys(found))


def configuration_files(folder: str) -> tuple[str, ...]:
    """The files upwards from a folder that say, or could say if they were written, which policies apply there.

    A `pyproject.toml` that says nothing for us is edited as ever.
    """
    here = Path(folder)
    found = [str(each / OWN) for each in (here, *here.parents) if is_file(each / OWN)]
    loaded = load(here).path
    named = [] if loaded is None else [os.path.normpath(here / loaded)]
    return tuple(dict.fromkeys((*found, *named, str(here / OWN))))


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


def _at(folder: str, path: Path | None) -> str:
    return os.path.normpath(os.path.join(folder, path or OWN))  # noqa: PTH118 - a text for a message
