"""Paths as texts."""

from __future__ import annotations

import posixpath

import pytest
from abstraction_support import abstracted, bash
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.abstraction.paths import START, is_below, resolve
from vigil_lang.trace.unseen import is_wholly_seen


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("a.txt", "/repo", "/repo/a.txt"),
        ("./b//c/", "/repo", "/repo/b/c"),
        ("../x", "/repo/src", "/repo/x"),
        ("../../../../x", "/repo", "/x"),
        ("//etc/passwd", "/repo", "/etc/passwd"),
        ("/a/../b", None, "/b"),
        ("a", None, None),
        ("a", START, "a"),
        ("../a", START, "../a"),
        (".", START, START),
        ("~", "/repo", "~"),
        ("~/.ssh/id_rsa", None, "~/.ssh/id_rsa"),
        ("$HOME/x", None, "~/x"),
        ("${HOME}/x/..", None, "~"),
        ("~bob/x", "/repo", "~bob/x"),
        ("x", "~/work", "~/work/x"),
        ("*.py", "/repo", "/repo/*.py"),
        ("C:\\tools\\a.exe", "/repo", "C:/tools/a.exe"),
        ("", "/repo", None),
        ("a\0b", "/repo", None),
    ],
)
def test_resolve(path: str, cwd: str | None, expected: str | None) -> None:
    # spec R5.4-5
    assert resolve(path, cwd) == expected


@given(st.text(alphabet="ab./~$", max_size=12), st.sampled_from(["/", "/r", "/r/s", "~", START, None]))
def test_what_is_resolved_stays_as_it_is(path: str, cwd: str | None) -> None:
    once = resolve(path, cwd)
    if once is not None and not once.startswith("$"):
        assert resolve(once, START) == once


def test_below() -> None:
    assert is_below("/repo/a", "/repo")
    assert is_below("/repo", "/repo")
    assert is_below("/x", "/")
    assert not is_below("/repository", "/repo")
    assert is_below("src", START)
    assert not is_below("../src", START)
    assert not is_below("/src", START)


_NAMES = st.sampled_from(["a", "b", ".", "..", "...", "~", "", "x.py"])
_ROOTS = st.sampled_from(["", "", "~/", "/", "$HOME/", "${HOME}/", "~bob/", "C:/", "./", "../"])


@given(
    st.lists(_NAMES, max_size=7), _ROOTS, st.sampled_from(["/r", "/r/s", "/", "~", "~/w", "~/w/v", "~bob/x", "C:/w"])
)
def test_a_path_is_where_it_really_is_or_nowhere(names: list[str], root: str, cwd: str) -> None:
    """Against directories that do lie somewhere: nothing leaves a home, or enters one, without being told."""
    places = {"~bob": "/homes/bob", "~": "/homes/ann", "C:": "/drive"}

    def really(path: str) -> str:
        first, slash, rest = path.replace("${HOME}", "~").replace("$HOME", "~").partition("/")
        return "/" + posixpath.normpath(places.get(first, first) + slash + rest).lstrip("/")

    path = root + "/".join(names)
    found = resolve(path, cwd)
    if not path:
        assert found is None
        return
    absolute = path if path.startswith(("/", "~", "$", "C:/")) else f"{cwd}/{path}"
    true = really(absolute)
    if found is None:
        assert absolute.startswith(("~", "$"))  # it left a home
        home = "/homes/bob" if absolute.startswith("~bob") else "/homes/ann"
        assert not is_below(true, home) or ".." in absolute
    elif not absolute.startswith("C:"):
        assert really(found) == true
    else:
        assert found.startswith("C:/")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rm -rf ~/..", None),
        ("rm -rf $HOME/../ann", None),
        ("rm -rf ~/../../etc", None),
        ("rm -rf ~/a/..", "~"),
        ("rm -rf ~ann/..", None),
        ("rm -rf '~'", "/repo/~"),
        ("rm -rf './~'", "/repo/~"),
        ("rm -rf '$HOME/x'", "/repo/$HOME/x"),
        ("HOME=/x; rm -rf ~/a", "/x/a"),
        ("HOME=/x; cd; rm -rf a", "/x/a"),
        ("read HOME; rm -rf ~/a", None),
        ("cd ~/..; rm -rf a", None),
        ("cd ~; cd ..; rm -rf a", None),
        ("cd /a/b; cd ..; rm -rf c", "/a/c"),
        ("cd /a; cd /b; cd -; rm -rf c", "/a/c"),
        ("cd -; rm -rf c", None),
        ("cd /a; rm -rf ~-/c", "/repo/c"),
        ("rm -rf ~+/c", "/repo/c"),
        ("rm -rf ~1/c", None),
        ("cd $X; rm -rf a", None),
        ("CDPATH=/x; cd a; rm -rf b", None),
        ("cd a || true; rm -rf /b", "/b"),
        ("HOME=/x bash -c 'rm -rf ~/a'", "/x/a"),
        ("declare -n r=OUT; OUT=/a; r=/b; rm -rf $OUT", "/a"),
    ],
)
def test_what_is_deleted(line: str, expected: str | None) -> None:
    events = abstracted([bash("1", line)])
    paths = [path for event in events if "file.delete" in event.kinds for path in event.args.get("path", ())]
    assert paths == ([] if expected is None else [expected])
    assert expected is not None or not is_wholly_seen(events[0])
