"""Where policies, tests and configurations name files and folders, and how they name them once those are renamed."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec.structs import fields

from vigil_lang.base.files import project_root, real_path
from vigil_lang.project.paths import parted
from vigil_lang.project.positions import Place
from vigil_lang.project.settings import Configuration
from vigil_lang.project.shape import bare_type, is_table, note_of, origin_of
from vigil_lang.project.toml import read_toml
from vigil_lang.semantics.modules import is_standard
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lsp.quotations import named_recording, quotations, text_of
from vigil_lsp.recordings.run_sources import patterns_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Source, Span
    from vigil_lsp.reading import Reading


@dataclass(frozen=True, slots=True)
class PathMention:
    """A path or glob, `named` as seen from the folder that a file is in (`beside`), and where it is written.

    `write` says what stands there for another path; None where that cannot be written so.
    """

    span: Span
    named: str
    beside: str
    write: Callable[[str], str | None]

    def after(self, renamed: Mapping[str, str]) -> str | None:
        """What stands there when files and folders, by absolute paths, are renamed; None where that is the same."""
        folder, new_folder = Path(self.beside).parent, Path(path_after(self.beside, renamed)).parent
        is_there = os.path.lexists(folder / self.named)  # whatever characters are in its name
        start, magic = (self.named, []) if is_there else parted(self.named)
        target = located(str(folder / start))
        new_target = path_after(target, renamed)
        seen = os.path.relpath(new_target, new_folder)
        if seen == os.path.relpath(target, folder):
            return None
        seen = (new_target if Path(start).is_absolute() else seen).replace(os.sep, "/")
        if magic:
            seen = "/".join([*([] if seen == "." else [glob.escape(seen)]), *magic])
        if self.named.startswith("./") and not seen.startswith((".", "/")):
            seen = f"./{seen}"
        return self.write(f"{seen}/" if self.named.endswith("/") and not seen.endswith("/") else seen)


def located(path: str) -> str:
    """An absolute path with the links of its folder followed: a link that is renamed is not what it leads to."""
    plain = Path(os.path.normpath(path))
    return str(Path(real_path(plain.parent)) / plain.name)


def path_after(path: str, renamed: Mapping[str, str]) -> str:
    """Where a file or folder will be."""
    for old, new in renamed.items():
        if path == old or path.startswith(old + os.sep):
            return new + path[len(old) :]
    return path


def mentions_in_policy(reading: Reading) -> Iterator[PathMention]:
    """The documents that a policy cites, the recordings that tests run, and those that comments hold it against."""
    policy = located(reading.source.path)
    for quotation in quotations(reading.file):
        if (beside := _cited_from(policy, quotation.file)) is not None:
            yield PathMention(quotation.spans[0], quotation.file, beside, quote)
    for item in reading.file.items:
        for clause in item.clauses if isinstance(item, tree.TestCase) else ():
            name = text_of(clause.path) if isinstance(clause, tree.RunFile) else None
            if isinstance(clause, tree.RunFile) and name and (found := named_recording(policy, name)) is not None:
                yield PathMention(clause.path.span, found[1], policy, partial(_run, name[len(found[1]) :]))
    for pattern, span in patterns_in(reading.source.text):
        yield PathMention(span, pattern, policy, _bare)


def _cited_from(policy: str, name: str) -> str | None:
    """A file in the folder that a citation is seen from: the policy's own, or else the project's."""
    folder = Path(policy).parent
    for start in (folder, project_root(folder)):
        if name and os.path.lexists(start / name):
            return str(start / Path(policy).name)
    return None


def _run(run: str, path: str) -> str:
    return quote(path + run)


def _bare(path: str) -> str | None:
    return path if not any(character.isspace() or character == "," for character in path) else None


def mentions_in_configuration(source: Source) -> Iterator[PathMention]:
    """The paths that a configuration names; globs of what is left out are no paths unless they begin at its folder.

    Raises:
        InputError: it is no TOML.
    """
    beside = located(source.path)
    for _, named, span in configured_paths(source):
        yield PathMention(span, named, beside, partial(_toml, source.text[span.start : span.end]))


def configured_paths(source: Source) -> Iterator[tuple[str, str, Span]]:
    """The paths in a configuration, each with its setting (`lint.benign`) and where it is written.

    Raises:
        InputError: it is no TOML.
    """
    data, place = read_toml(source)
    for name in ("tool", "vigil") if source.path.endswith("pyproject.toml") else ():
        data, place = data.get(name, {}), place.members.get(name, place)
    yield from _paths(Configuration, data, place, "")


def _paths(kind: Any, value: object, place: Place, setting: str) -> Iterator[tuple[str, str, Span]]:
    bare = bare_type(kind)
    if is_table(bare) and isinstance(value, dict):
        for one in fields(bare):
            if one.encode_name in value and one.encode_name in place.members:
                name = f"{setting}.{one.encode_name}" if setting else one.encode_name
                yield from _paths(one.type, value[one.encode_name], place.members[one.encode_name], name)
    elif origin_of(bare) is tuple and isinstance(value, list):
        for inner, at in zip(value, place.items, strict=False):
            yield from _paths(get_args(bare)[0], inner, at, setting)
    elif origin_of(bare) is Mapping and isinstance(value, dict):
        for key, at in place.members.items():
            yield from _paths(get_args(bare)[0], key, Place(at.key, at.key), setting)
    elif isinstance(value, str) and (
        (note_of(kind, "check") == "path" and not is_standard(value))
        or (note_of(kind, "check") == "glob" and "/" in value.rstrip("/") and not value.startswith("/"))
    ):
        yield setting, value, place.value


def _toml(written: str, path: str) -> str:
    """A path as a TOML string, between single quotes where the old one was."""
    if written.startswith("'") and "'" not in path and path.isprintable():
        return f"'{path}'"
    return json.dumps(path, ensure_ascii=False)
