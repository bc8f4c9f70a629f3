"""The VS Code extension: its manifest says what its source does, its snippets are policies, and it can be packaged."""

from __future__ import annotations

import json
import re
import zipfile
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from node_support import EXTENSION, ROOT, run

import vigil_lang
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse
from vigil_lang.syntax.format import format_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
GIVEN = MANIFEST["contributes"]
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((EXTENSION / "src").glob("*.ts")))
SNIPPETS: dict[str, Any] = json.loads((EXTENSION / "snippets" / "vigil.json").read_text(encoding="utf-8"))
COPIED = dict(re.findall(r'^  "?([\w./-]+)"?: "([\w./-]+)",$', (EXTENSION / "copies.mjs").read_text("utf-8"), re.M))
SETTINGS = GIVEN["configuration"]["properties"]
COMMANDS = {command["command"]: command["title"] for command in GIVEN["commands"]}


def test_the_commands_it_offers_are_those_it_registers() -> None:
    assert set(re.findall(r'^    "(vigil\.\w+)": \(', SOURCE, re.M)) == set(COMMANDS)


def test_what_menus_and_the_walkthrough_call_exists() -> None:
    called = {entry["command"] for menu in GIVEN["menus"].values() for entry in menu}
    steps = json.dumps(GIVEN["walkthroughs"])
    called |= set(re.findall(r"(?:command:|onCommand:)(vigil[\w.]+)", steps))
    assert called <= set(COMMANDS)
    assert "onContext:vigil.serving" in steps
    assert '"setContext", "vigil.serving"' in SOURCE


def test_the_walkthrough_that_messages_open_is_there() -> None:
    (opened,) = re.findall(r'"workbench\.action\.openWalkthrough", "([^"]+)"', SOURCE)
    assert opened == f"{MANIFEST['publisher']}.{MANIFEST['name']}#{GIVEN['walkthroughs'][0]['id']}"


def test_the_settings_it_contributes_are_those_that_are_read() -> None:
    read = set()
    for section, body in re.findall(r'getConfiguration\("([\w.]+)"\)(.*?)\n}', SOURCE, re.S):
        read |= {f"{section}.{name}" for name in re.findall(r'settings\.get<[^>]+>\("(\w+)"', body)}
    # The client library reads the third one, by the name it is given.
    assert 'new LanguageClient("vigil",' in SOURCE
    assert read | {"vigil.trace.server"} == set(SETTINGS)


def test_a_workspace_that_is_not_trusted_does_not_say_what_is_started() -> None:
    restricted = MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(restricted) == {name for name in SETTINGS if name.startswith("vigil.server.")}


def test_every_file_it_names_is_there() -> None:
    named = re.findall(
        r'"(?:\./)?((?:dist|images|snippets|syntaxes|walkthrough)/[\w./-]+|\./[\w.-]+)"', json.dumps(MANIFEST)
    )
    assert len(named) >= 12
    for name in {name.removeprefix("./") for name in named} - {"dist/extension.js"}:
        kept = [ROOT / source for source, target in COPIED.items() if target == name] or [EXTENSION / name]
        assert kept[0].is_file(), name


def test_the_grammars_have_the_scopes_they_are_contributed_under() -> None:
    sources = {target: source for source, target in COPIED.items()}
    for grammar in GIVEN["grammars"]:
        text = (ROOT / sources[grammar["path"].removeprefix("./")]).read_text(encoding="utf-8")
        assert json.loads(text)["scopeName"] == grammar["scopeName"]


def test_the_page_names_every_setting_and_command() -> None:
    page = (EXTENSION / "README.md").read_text(encoding="utf-8")
    assert [name for name in SETTINGS if f"`{name}`" not in page] == []
    assert [title for title in COMMANDS.values() if f"Vigil: {title}" not in page] == []


def test_a_word_is_a_name_of_the_language() -> None:
    configuration = json.loads((EXTENSION / "language-configuration.json").read_text(encoding="utf-8"))
    lark = (ROOT / "grammar" / "vigil.lark").read_text(encoding="utf-8")
    assert f"\nNAME: /{configuration['wordPattern']}/\n" in lark


def test_new_lines_are_indented_after_what_is_open_and_not_after_comments() -> None:
    rules = json.loads((EXTENSION / "language-configuration.json").read_text(encoding="utf-8"))["indentationRules"]
    opens = re.compile(rules["increaseIndentPattern"])
    for line in (
        "let A = {",
        "    run {",
        "statement S: prec(",
        'test "a // b" {',
        "run { // a run",
        "p(x ~ /a\\/b/, q(",
    ):
        assert opens.search(line), line
    for line in ("// run {", "let A = {b}", 'x = "{', "statement S: abs(read())", "/// such as {"):
        assert not opens.search(line), line
    closes = re.compile(rules["decreaseIndentPattern"])
    assert closes.search("    }")
    assert closes.search("  ) after x()")
    assert not closes.search("    x }")


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert packages[""]["devDependencies"] == MANIFEST["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in MANIFEST["devDependencies"].values())


def filled(body: str) -> Iterator[str]:
    """A snippet's text with its placeholders as they are offered, for every combination of choices."""
    parts = re.split(r"\$\{\d+(?::((?:\\.|[^}\\])*)|\|([^|]*)\|)\}|\$\d", body)
    plain, words, choices = parts[::3], parts[1::3], parts[2::3]
    offered = [c.split(",") if c else [(w or "").replace("\\}", "}")] for w, c in zip(words, choices, strict=True)]
    for picked in product(*offered):
        yield reduce(lambda text, pair: text + pair[0] + pair[1], zip(picked, plain[1:], strict=True), plain[0])


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_is_what_the_formatter_would_write(name: str) -> None:
    body = SNIPPETS[name]["body"]
    for text in filled(body if isinstance(body, str) else "\n".join(body)):
        is_annotation = text.startswith("@")
        whole = f"{text}\nstatement s: abs(write(path = x))\n" if is_annotation else text.rstrip() + "\n"
        source = Source("snippet.vgl", whole)
        assert parse(source).diagnostics == ()
        assert format_text(source) == whole


def test_there_is_a_snippet_of_every_form_and_item() -> None:
    texts = " ".join("".join(snippet["body"]) for snippet in SNIPPETS.values())
    for form in ("abs(", "prec(", "resp(", "rslv(", "until(", "bresp[", "atmost[", "always "):
        assert f": {form}" in texts
    for item in (
        "policy ",
        "use ",
        "let ",
        "param ",
        "pattern ",
        "rule ",
        " relaxes ",
        " violates ",
        "@delegable",
        "test ",
        "@source(",
        "@severity(",
        "@on_violation(",
        "@message(",
    ):
        assert item in texts


def luminance(colour: str) -> float:
    """The relative luminance of a colour, as WCAG has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("theme", "background", "least"),
    [
        ("light", "#ffffff", 4.5),
        ("dark", "#1e1e1e", 4.5),
        ("highContrast", "#000000", 7),
        ("highContrastLight", "#ffffff", 7),
    ],
)
def test_verdicts_can_be_read_in_every_theme(theme: str, background: str, least: float) -> None:
    for colour in GIVEN["colors"]:
        dark, light = sorted(luminance(one) for one in (colour["defaults"][theme], background))
        assert (light + 0.05) / (dark + 0.05) >= least, colour["id"]


def test_marks_of_verdicts_differ_in_shape_and_have_the_colours_of_the_texts() -> None:
    states = [colour["id"].removeprefix("vigil.verdict.") for colour in GIVEN["colors"]]
    assert states == re.findall(r'"(\w+)"', re.findall(r"const STATES = \[(.*?)\]", SOURCE)[0])
    shapes = set()
    for colour in GIVEN["colors"]:
        for theme in ("light", "dark"):
            name = f"verdict-{colour['id'].rpartition('.')[2]}-{theme}.svg"
            picture = (EXTENSION / "images" / name).read_text(encoding="utf-8")
            assert colour["defaults"][theme] in picture
            shapes.add(re.sub(r"#\w+", "", picture))
    assert len(shapes) == len(states), "without colours the two themes are alike, and no two verdicts"


def test_the_server_is_looked_for_where_the_page_says() -> None:
    run("--test", "tests/program.test.mjs")


def test_verdicts_and_tests_as_the_editor_is_told_them() -> None:
    run("--test", "tests/verdicts.test.mjs", "tests/testing.test.mjs")


def test_it_is_packaged(tmp_path: Path) -> None:
    package = tmp_path / "vigil.vsix"
    run("package.mjs", str(package))
    with zipfile.ZipFile(package) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist() if name.startswith("extension/")}
        manifest = json.loads(archive.read("extension/package.json"))
        policy = archive.read("extension/example/dashcam/dashcam.vgl")
    assert manifest["version"] == vigil_lang.__version__
    assert manifest["main"].removeprefix("./") in names
    assert policy == (ROOT / "examples/dashcam/dashcam.vgl").read_bytes()
    assert names >= {*COPIED.values(), "dist/NOTICES.txt", "readme.md"} - {"example/dashcam", "LICENSE"}
    folders = {"dist", "example", "images", "snippets", "syntaxes", "walkthrough"}
    assert {name.split("/")[0] for name in names if "/" in name} == folders
    assert package.stat().st_size < 300_000
