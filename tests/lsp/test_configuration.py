"""A `vigil.toml` in the editor: completion, hover and findings of what no schema knows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from vigil_lsp.configuring.project_names import ProjectNames
from vigil_lsp.configuring.toml_candidates import candidates
from vigil_lsp.configuring.toml_hover import hover_at
from vigil_lsp.configuring.toml_place import TomlPlace, place_at

if TYPE_CHECKING:
    from pathlib import Path

    from lsp_session import Page, Session

NAMES = ProjectNames(
    "/nowhere",
    {"run_shell": ("command", "cwd"), "Bash": ("command",)},
    ("acme.report",),
    {"mover": ("target", "path")},
    lambda: {"max_rate": "number"},
)


def at(text: str) -> TomlPlace | None:
    """The place of `‸` in a text."""
    return place_at(text.replace("‸", ""), text.index("‸"))


@pytest.mark.parametrize(
    ("text", "path", "within", "typed"),
    [
        ("‸", (), "key", ""),
        ("ru‸", (), "key", "ru"),
        ("lint.sel‸", ("lint",), "key", "sel"),
        ("[li‸", (), "key", "li"),
        ("[tools.‸", ("tools",), "key", ""),
        ("[tools.a]\nki‸", ("tools", "a"), "key", "ki"),
        ('[tools."a b"]\nki‸', ("tools", "a b"), "key", "ki"),
        ("[tools.a]\nkinds = [\"‸", ("tools", "a", "kinds"), "value", ""),
        ('[tools.a]\nkinds = ["x.y",\n  "file.re‸"\n]', ("tools", "a", "kinds"), "value", "file.re"),
        ('[tools.a]\nkinds = [ # "b\n  "file.re‸', ("tools", "a", "kinds"), "value", "file.re"),
        ("tools.a.roles = {pa‸", ("tools", "a", "roles"), "key", "pa"),
        ("tools = {a = {roles = {path = 'fi‸'}}}", ("tools", "a", "roles", "path"), "value", "fi"),
        ("[tools.a.roles]\npath = ‸", ("tools", "a", "roles", "path"), "value", ""),
        ("runs = [\n[tools.a]\nki‸", ("tools", "a"), "key", "ki"),
        ("runs = ['a'‸", None, "", ""),
        ("runs = ['a']‸", None, "", ""),
        ("runs # ‸", None, "", ""),
        ("[lint]‸", None, "", ""),
        ('runs = """‸', None, "", ""),
    ],
)  # fmt: skip
def test_where_somebody_types(text: str, path: tuple[str, ...] | None, within: str, typed: str) -> None:
    found = at(text)
    said = None if found is None else (found.path, found.within, found.typed)
    assert said == (None if path is None else (path, within, typed))


@given(st.text(alphabet="ab[]{}=,.\"'#\n \\", max_size=40), st.data())
def test_every_text_has_places(text: str, data: st.DataObject) -> None:
    """What is being written is part of the text around the cursor, whatever the text is."""
    offset = data.draw(st.integers(0, len(text)))
    found = place_at(text, offset)
    if found is not None:
        assert 0 <= found.start <= offset <= found.end <= len(text)
        assert "\n" not in text[found.start : found.end]
        assert text[found.start : offset] == found.typed


def offered(text: str, *, schema: bool = False) -> list[str]:
    """The labels at `‸`, the likeliest first."""
    place = at(text)
    found = [] if place is None else list(candidates(place, NAMES, schema=schema))
    return [one.label for one in sorted(found, key=lambda one: one.group)]


def test_kinds_are_those_of_the_project_and_of_the_vocabulary() -> None:
    found = offered('[tools.a]\nkinds = ["‸"]')
    assert found[0] == "acme.report"
    assert {"file.read", "shell.run"} <= set(found)
    assert offered("tools.a.effects.path = '‸'") == found
    assert offered('[tools.a]\nkinds = ["‸"]', schema=True) == found, "a schema does not know them"


def test_roles_tools_arguments_and_params() -> None:
    assert "path" in offered("[tools.a.roles]\n‸")
    assert offered("[tools.mover]\neffects = {‸")[:2] == ["target", "path"]
    assert offered("[tools.‸") == ["run_shell"], "Vigil knows what `Bash` is"
    assert offered("[tools.run_shell]\nshell = '‸'") == ["command", "cwd"]
    assert offered("[tools.run_shell]\nroles = {path = ['‸']}") == ["command", "cwd"]
    assert offered("[params]\n‸") == ["max_rate"]
    assert offered("[tools.a]\naliases = ['‸']") == ["run_shell", "Bash"]
    assert "std.guard" in offered("[hook]\npolicies = ['‸']")


def test_settings_where_no_schema_tells_them() -> None:
    assert {"runs", "lint", "tools"} <= set(offered("‸"))
    assert {"select", "severity"} <= set(offered("[lint]\n‸"))
    assert set(offered("[‸")) >= {"lint", "tools"}
    assert "runs" not in offered("[‸")
    assert offered("fail-level = '‸'") == ["error", "warning", "info", "never"]
    assert offered("lint.obligations = ‸") == ["true", "false"]
    assert "VGL301" in offered("[lint]\nselect = ['‸']")
    for text in ("‸", "[lint]\n‸", "fail-level = '‸'", "lint.obligations = ‸", "[lint]\nselect = ['‸']"):
        assert offered(text, schema=True) == []
    for text in ("[nothing]\n‸", "runs.a = '‸'", "[draft]\nmodel = '‸'", "fail-level = ['‸']"):
        assert offered(text) == []


def test_what_is_written_fits(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text("")
    (tmp_path / ".hidden").write_text("")
    (tmp_path / "out").symlink_to("/usr")
    names = ProjectNames(str(tmp_path))

    def written(text: str) -> list[str]:
        place = at(text)
        assert place is not None
        return [
            one.raw if place.quote and one.raw is not None else one.text
            for one in candidates(place, names, schema=False)
        ]

    assert written("runs = ‸") == ['["out/"]', '["runs/"]']
    assert written("runs = [‸") == ['"out/"', '"runs/"']
    assert written("runs = ['‸']") == ["out/", "runs/"]
    assert written("runs = ['runs/‸']") == ["runs/a.jsonl"]
    assert written("runs = ['../‸']") == written("runs = ['/‸']") == written("runs = ['out/‸']") == []
    assert written("lint.baseline = ‸") == ['"out/"', '"runs/"']


def test_files_are_those_that_a_setting_can_be_about(tmp_path: Path) -> None:
    """Folders lead to them, so they are offered everywhere."""
    names = ("a.jsonl", "a.json", "a.log", "a.md", "p.vgl", "p_test.vgl", "vigil.toml")
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()
    project = ProjectNames(str(tmp_path))
    expected = {
        "runs": {"a.jsonl", "a.json", "a.log"},
        "lint.benign": {"a.jsonl", "a.json", "a.log"},
        "signatures": {"a.jsonl", "a.json"},
        "lint.baseline": {"a.json"},
        "test.paths": {"p_test.vgl"},
        "hook.policies": {"p.vgl", "p_test.vgl"},
        "exclude": set(names),
    }
    for setting, files in expected.items():
        place = at(f"{setting} = '‸'" if setting == "lint.baseline" else f"{setting} = ['‸']")
        assert place is not None
        found = {one.label for one in candidates(place, project, schema=True) if not one.label.startswith("std.")}
        assert found == {*files, "folder/"}, setting


@pytest.mark.parametrize(
    ("text", "said", "of"),
    [
        ("fail-le‸vel = 'error'", "The least severe finding", "fail-level"),
        ("[li‸nt]", "What `vigil lint` looks for", "lint"),
        ("tools.a.kinds = ['file.re‸ad']", "path", "file.read"),
        ("tools.a.kinds = ['acme.rep‸ort']", "the project's own", "acme.report"),
        ("tools.a.roles = {pa‸th = 'x'}", "A path", "path"),
        ("tools.run_sh‸ell.shell = 'command'", "`command`, `cwd`", "run_shell"),
        ("tools.Ba‸sh.kinds = []", "A tool that Vigil knows", "Bash"),
        ("tools.run_shell.shell = 'comm‸and'", "an argument of `run_shell`", "command"),
        ("params = {max_‸rate = 3}", "param max_rate: number", "max_rate"),
        ("lint.ignore = ['VGL3‸01']", "", "VGL301"),
    ],
)
def test_hover(text: str, said: str, of: str) -> None:
    plain = text.replace("‸", "")
    found = hover_at(plain, text.index("‸"), NAMES, schema=False)
    assert found is not None
    assert said in found[0]
    assert plain[slice(*found[1])] == of


def test_a_schema_tells_of_settings_itself() -> None:
    assert hover_at("fail-level = 'error'", 3, NAMES, schema=True) is None
    assert hover_at("tools.a.kinds = ['file.read']", 20, NAMES, schema=True) is not None
    assert hover_at("nothing = 1", 3, NAMES, schema=False) is None


# --- in a session ---


async def labels(page: Page, line: int, character: int) -> list[str]:
    params = types.CompletionParams(page.id, types.Position(line, character))
    found = await page.session.ask(types.TEXT_DOCUMENT_COMPLETION, params)
    return [item.label for item in found.items] if found is not None else []


async def test_a_configuration_in_the_editor(session: Session) -> None:
    """Tools come from the runs, though no policy is open; findings are those of the text that is written."""
    session.write("runs/a.jsonl", '{"action": "run_shell", "args": {"command": "ls"}}\n')
    session.write("p.vgl", "param max_rate: number\nstatement S: abs(Send(rate > max_rate))\n")
    text = 'runs = ["runs/"]\n[tools.‸]\n[params]\n'.replace("‸", "x")
    session.write("vigil.toml", text)
    session.changed("vigil.toml", "p.vgl", how=types.FileChangeType.Created)
    page = session.open_uri(session.uri("vigil.toml"), text, "toml")
    found: list[str] = []
    for _ in range(200):
        found = await labels(page, 1, 7)
        if found:
            break
        await asyncio.sleep(0.05)
    assert found == ["run_shell"]
    assert await labels(page, 3, 0) == ["max_rate"]
    page.replace("[params]", 'kinds = ["file.raed"]\n[params]')
    said = session.published

    def wrong() -> list[str]:
        return [page.part(one.range) for one in said[page.uri][-1].diagnostics] if said.get(page.uri) else []

    assert await session.until(lambda: wrong() == ['"file.raed"'])
    at = page.find("file.raed")
    asked = types.CodeActionParams(page.id, at, types.CodeActionContext(said[page.uri][-1].diagnostics))
    (fix,) = await session.ask(types.TEXT_DOCUMENT_CODE_ACTION, asked)
    assert (fix.title, len(fix.diagnostics)) == ("write `file.read`", 1)
    (changed,) = session.after(fix.edit).values()
    assert changed == page.text.replace("file.raed", "file.read")
    page.replace("file.raed", "file.read")
    assert await session.until(lambda: wrong() == [])
    hover = await session.ask(types.TEXT_DOCUMENT_HOVER, types.HoverParams(page.id, page.find("file.read").start))
    assert page.part(hover.range) == "file.read"
