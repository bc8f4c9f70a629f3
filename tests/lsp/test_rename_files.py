"""A policy whose file is renamed is still what others use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from vigil_lsp.features.rename_files import edits
from vigil_lsp.files import Files
from vigil_lsp.reading import Readings

if TYPE_CHECKING:
    from pathlib import Path

    from lsp_session import Session

SHARED = "pattern sends = Send()\n"


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


FILES = {
    "a.vgl": "use .shared: sends\nuse std.files: changing\nuse .sub.inner: gets\n"
    "statement S: abs(sends or changing or gets)\n",
    "shared.vgl": SHARED,
    "sub/inner.vgl": "use .deep\npattern gets = Get() or sends\n",
    "sub/deep.vgl": SHARED,
}


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("shared.vgl", "common.vgl", [("a.vgl", ".common")]),
        ("shared.vgl", "sub/shared.vgl", [("a.vgl", ".sub.shared")]),
        ("sub", "parts", [("a.vgl", ".parts.inner")]),
        ("sub/inner.vgl", "inner.vgl", [("a.vgl", ".inner"), ("sub/inner.vgl", ".sub.deep")]),
        ("shared.vgl", "two.words.vgl", []),
        ("shared.vgl", "shared.txt", []),
        ("a.vgl", "b.vgl", []),
        ("a.vgl", "sub/a.vgl", [("a.vgl", ".inner")]),
    ],
)
def test_uses_follow_their_files(tmp_path: Path, old: str, new: str, names: list[tuple[str, str]]) -> None:
    root = tmp_path.resolve()
    written(root, FILES)
    files = Files()
    readings = [Readings(files).of(files.source(str(root / name)), {}) for name in FILES]
    found = edits(readings, {str(root / old): str(root / new)})
    assert [(one.source.path.removeprefix(f"{root}/"), edit.new_text) for one, edit in found] == names


async def test_renaming_a_file_mends_those_that_use_it(session: Session) -> None:
    session.write("shared.vgl", SHARED)
    page = await session.open("use .shared: sends\nstatement S: abs(sends)\n", "user.vgl")
    files = [types.FileRename(session.uri("shared.vgl"), session.uri("common.vgl"))]
    edit = await session.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files))
    assert session.after(edit) == {"user.vgl": page.text.replace(".shared", ".common")}
