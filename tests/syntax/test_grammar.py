"""The grammar: by itself, with Lark's own lexer, it says the same; and its tables come back from the cache unharmed."""

from __future__ import annotations

import functools
import json
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from lark import Lark
from lark.lexer import PatternStr
from msgspec.structs import replace
from syntax_support import FromLark, source

from tests.strategies import trees
from vigil_lang.base import cache
from vigil_lang.base.resources import resource
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.grammar import grammar
from vigil_lang.syntax.print import UNICODE, to_text
from vigil_lang.syntax.scan import ITEM_WORDS, tokens
from vigil_lang.syntax.terminals import Body

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAMMAR = resource("grammar", "vigil.lark").read_text(encoding="utf-8")


@functools.cache
def by_itself() -> Lark:
    """Lark's own parser of the grammar."""
    return Lark(GRAMMAR, parser="lalr", start=["header", "item"], maybe_placeholders=True, transformer=FromLark())


@settings(max_examples=100, deadline=None, database=None)
@given(trees.items)
def test_the_grammar_alone_reads_every_item(item: tree.Item) -> None:
    text = to_text(item)
    (parsed,) = parse(source(f"policy p\n{text}")).file.items
    assert by_itself().parse(text, start="item") == replace(parsed, doc=None)


def test_every_fixed_terminal_is_one_token() -> None:
    fixed = {t.pattern.value for t in by_itself().terminals if isinstance(t.pattern, PatternStr)}
    assert ITEM_WORDS | {"(", ":", "|", "∉", "<", "has"} <= fixed
    for text in fixed | set(UNICODE) - {"not in"} | set(UNICODE.values()):
        assert [token.text for token in tokens(text)] == [text]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache; the parser forgets its tables before and after."""
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    grammar.cache_clear()
    yield tmp_path / "cache"
    grammar.cache_clear()


def works() -> bool:
    grammar.cache_clear()
    body = Body(tokens("statement S: abs(a and not b)"))
    return bool(grammar().parse(body, start="item") == parse(source("statement S: abs(a and not b)")).file.items[0])


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def is_good(path: Path) -> bool:
    return (cache.read(path.name) or "").startswith('{"terminals":[["')


def test_the_tables_are_kept_for_the_user_alone(folder: Path) -> None:
    assert works()
    path = only_file(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    written = path.stat().st_mtime_ns
    assert works()
    assert path.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", ["", "x", "0" * 64 + "\n{}", "\n", "{}"])
def test_a_damaged_file_is_written_anew(folder: Path, damage: str) -> None:
    assert works()
    path = only_file(folder)
    path.write_text(damage)
    assert works()
    assert is_good(path)


def test_wrong_tables_with_a_right_digest_are_written_anew(folder: Path) -> None:
    assert works()
    path = only_file(folder)
    nothing = {"terminals": [], "rules": [], "states": [], "starts": {}, "ends": {}}
    for wrong in ("", "[]", "{}", json.dumps(nothing), json.dumps({**nothing, "starts": {"item": 7}}), "not json"):
        cache.write(path.name, wrong)
        assert works()
        assert is_good(path)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another thing there")
def test_what_others_could_have_written_is_not_read(folder: Path) -> None:
    cache.write("a", "text")
    assert cache.read("a") == "text"
    folder.chmod(0o777)
    assert cache.read("a") is None
    cache.write("b", "text")
    assert not (folder / "b").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_only_a_plain_file_is_read(folder: Path) -> None:
    cache.write("a", "text")
    (folder / "link").symlink_to(folder / "a")
    os.mkfifo(folder / "pipe")
    (folder / "dir").mkdir()
    assert [cache.read(name) for name in ("link", "pipe", "dir", "missing", "nul\0")] == [None] * 5


def test_a_folder_that_is_not_ours_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert works()
    assert not folder.exists()


@pytest.mark.parametrize("place", ["", "/dev/null/x", "/proc/none", "nul\0"])
def test_without_a_place_nothing_is_kept(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "\0" in place:
        monkeypatch.setattr(cache, "_folder", lambda: Path(place))
    monkeypatch.setenv("VIGIL_CACHE_DIR", place.replace("\0", ""))
    cache.write("a", "text")
    assert cache.read("a") is None
    assert works()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/vigil"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, None),
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/vigil"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/vigil"),
        ("win32", {"LOCALAPPDATA": "/c/local"}, "/c/local/vigil"),
        ("win32", {}, None),
    ],
)
def test_the_place_is_the_platforms(
    platform: str, variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VIGIL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache._folder() == (Path(expected) if expected else None)
