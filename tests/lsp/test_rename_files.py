"""What is renamed is still what policies, tests and configurations name: each path leads where it led before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsp_session import Profile
from lsprotocol import types

from vigil_lang.project.paths import parted
from vigil_lsp.features.rename_files import edits_of_uses
from vigil_lsp.files import Files
from vigil_lsp.path_mentions import located, mentions_in_configuration, mentions_in_policy, path_after
from vigil_lsp.reading import Readings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lsp_session import Session

    from vigil_lsp.path_mentions import PathMention

    Alone = Callable[..., Awaitable[Session]]

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
    found = edits_of_uses(readings, {str(root / old): str(root / new)})
    assert [(one.source.path.removeprefix(f"{root}/"), edit.new_text) for one, edit in found] == names


async def test_renaming_a_file_mends_those_that_use_it(session: Session) -> None:
    session.write("shared.vgl", SHARED)
    page = await session.open("use .shared: sends\nstatement S: abs(sends)\n", "user.vgl")
    files = [types.FileRename(session.uri("shared.vgl"), session.uri("common.vgl"))]
    edit = await session.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files))
    assert session.after(edit) == {"user.vgl": page.text.replace(".shared", ".common")}


# --- paths ---

PROJECT = {
    "vigil.toml": """# kept
runs = ["runs/violating.jsonl", 'runs/*.jsonl', "./more/"] # kept
signatures = ["tools.json"]
exclude = ["pol/old.vgl", "vendor/"]
[lint]
benign = ["good/**/*.jsonl"]
baseline = "pol/base.json"
per-file-ignores = {"pol/dashcam.vgl" = ["VGL7"]}
[test]
paths = ["pol/", "pol/dashcam_test.vgl"]
[hook]
policies = ["pol/dashcam.vgl", "std.guard"]
""",
    "pol/dashcam.vgl": """// runs: ../runs/violating.jsonl, ../runs/*.jsonl
use .shared
@source("../docs/SKILL.md", "You must ask.")
@source("docs/SKILL.md", "You must ask.")
statement S: abs(sends)
""",
    "pol/shared.vgl": SHARED,
    "pol/dashcam_test.vgl": """use .dashcam
test "it" { run "../runs/violating.jsonl" expect S violated }
test "one" { run "../runs/violating.jsonl#a" expect S violated }
""",
    "pol/old.vgl": SHARED,
    "docs/SKILL.md": "You must ask.\n",
    "runs/violating.jsonl": '{"vigil_trace": 1, "run": "a"}\n{"action": "Send"}\n',
    "runs/a b.jsonl": "",
    "more/x.jsonl": "",
    "good/x.jsonl": "",
    "tools.json": "[]",
}
Led = dict[str, list[tuple[str, str]]]
USES = ": uses"


def led(folder: Path) -> Led:
    """By file, where each path in it leads, in order, with what is behind the plain part of a glob."""
    files, found = Files(), Led()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        mentions: list[PathMention] = []
        if path.name == "vigil.toml":
            mentions = [*mentions_in_configuration(files.source(str(path)))]
        elif path.suffix == ".vgl":
            reading = Readings(files).of(files.source(str(path)), {})
            mentions = [*mentions_in_policy(reading)]
            if not name.startswith("pol/sub/"):  # nothing leads up
                uses = reading.module.uses
                found[f"{name}{USES}"] = [(str(Path(used.source.path).relative_to(folder)), "") for _, used in uses]
        for mention in mentions:
            start, magic = parted(mention.named)
            target = Path(located(str(Path(mention.beside).parent / start.replace("[[]", "["))))
            found.setdefault(name, []).append((str(target.relative_to(folder)), "/".join(magic)))
    return found


def skeleton(text: str) -> list[str]:
    """The lines of a text without the paths in them."""
    return [re.sub(r"\"(\\.|[^\"])*\"|'[^']*'|(?<=runs: ).*|(?<=use ).*", "…", line) for line in text.splitlines()]


RENAMES = [
    ("docs/SKILL.md", "docs/GUIDE.md"),
    ("docs/SKILL.md", 'docs/a "b".md'),
    ("docs", "doc"),
    ("docs", "pol/doc"),
    ("runs", "recorded"),
    ("runs", "pol/recorded"),
    ("runs/violating.jsonl", "runs/bad.jsonl"),
    ("runs/violating.jsonl", "bad.jsonl"),
    ("more", "less"),
    ("good", "better/good"),
    ("good", "[good"),
    ("pol", "policies"),
    ("pol", "sub/policies"),
    ("pol/dashcam.vgl", "pol/cam.vgl"),
    ("pol/dashcam_test.vgl", "pol/sub/dashcam_test.vgl"),
    ("tools.json", "tools/all.json"),
    ("pol/old.vgl", "pol/older.vgl"),
]


@pytest.mark.slow
async def test_each_path_leads_where_it_led(alone: Alone, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of the texts nothing but the paths is changed."""
    session = await alone(Profile("vscode"))
    for name, text in PROJECT.items():
        session.write(name, text)
    session.changed(*PROJECT, how=types.FileChangeType.Created)
    await session.open(PROJECT["pol/dashcam.vgl"], "pol/dashcam.vgl")
    before = led(session.folder)
    assert [len(before[name]) for name in ("vigil.toml", "pol/dashcam.vgl", "pol/dashcam_test.vgl")] == [11, 4, 2]
    for old, new in RENAMES:
        files = [types.FileRename(session.uri(old), session.uri(new))]
        edit = await session.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files))
        copy = tmp_path_factory.mktemp("renamed").resolve() / "copy"
        shutil.copytree(session.folder, copy)
        changes = edit.document_changes or ()
        along = [change for change in changes if isinstance(change, types.RenameFile)]
        edit.document_changes = [change for change in changes if change not in along]
        for name, text in session.after(edit).items():
            assert text != PROJECT[name]
            assert skeleton(text) == skeleton(PROJECT[name])
            (copy / name).write_text(text)
        renamed = {old: new} | {session.name(one.old_uri): session.name(one.new_uri) for one in along}
        assert list(renamed)[1:] == (["pol/dashcam_test.vgl"] if old == "pol/dashcam.vgl" else [])
        for one, other in renamed.items():
            (copy / other).parent.mkdir(parents=True, exist_ok=True)
            (copy / one).rename(copy / other)
        expected = Led()
        for name, paths in before.items():
            file, uses = path_after(name.removesuffix(USES), renamed), name.endswith(USES)
            if not (uses and file.startswith("pol/sub/")):
                expected[f"{file}{USES * uses}"] = [(path_after(path, renamed), magic) for path, magic in paths]
        assert led(copy) == expected, (old, new)


async def test_what_names_nothing_that_is_renamed_stays(session: Session) -> None:
    for name, text in PROJECT.items():
        session.write(name, text)
    session.write("other.md", "")
    session.write("runs/new.jsonl", "")
    for old, new in (("other.md", "more.md"), ("runs/new.jsonl", "runs/newer.jsonl"), ("nowhere", "elsewhere")):
        files = [types.FileRename(session.uri(old), session.uri(new))]
        assert await session.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files)) is None


async def test_a_configuration_that_is_no_toml_stays(session: Session) -> None:
    session.write("vigil.toml", 'runs = ["runs\n')
    session.changed("vigil.toml", how=types.FileChangeType.Created)
    page = await session.open("// runs: runs/*.jsonl\nstatement S: abs(A())\n")
    files = [types.FileRename(session.uri("runs"), session.uri("recorded"))]
    edit = await session.ask(types.WORKSPACE_WILL_RENAME_FILES, types.RenameFilesParams(files))
    assert session.after(edit) == {"p.vgl": page.text.replace("runs/", "recorded/")}


async def test_every_file_and_folder_is_asked_about(session: Session) -> None:
    if session.profile.editor != "vscode":
        return  # Neovim of this profile does not ask
    workspace = session.capabilities.workspace
    assert workspace is not None
    assert workspace.file_operations is not None
    assert workspace.file_operations.will_rename is not None
    filters = workspace.file_operations.will_rename.filters
    assert [(one.pattern.glob, one.pattern.matches) for one in filters] == [
        ("**/*", types.FileOperationPatternKind.File),
        ("**/*", types.FileOperationPatternKind.Folder),
    ]


@pytest.mark.parametrize("comment", ["// runs: runs/*.jsonl\n", "// runs: ./runs/a.jsonl , b.jsonl\n"])
def test_what_cannot_be_written_stays(tmp_path: Path, comment: str) -> None:
    root = tmp_path.resolve()
    written(root, {"p.vgl": comment})
    files = Files()
    reading = Readings(files).of(files.source(str(root / "p.vgl")), {})
    first = next(iter(mentions_in_policy(reading)))
    assert first.after({f"{root}/runs": f"{root}/two words"}) is None
    assert first.after({f"{root}/runs": f"{root}/sub/runs"}) == first.named.replace("runs/", "sub/runs/")
