"""Repositories that try to have files outside of them read, shown or written, against every verb."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cli_support import called
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")

SECRET = "zqsecretzq"
"""Stands in every file outside; it must appear nowhere."""
UNNAMED = "zqunnamedzq"
"""Stands in the names of files outside that nobody mentions: not even what is there is to be told."""

PLAIN = "statement R: abs(rm())"

OUTSIDE = {
    "policy.vgl": f"statement  {SECRET}:abs( rm()and not {SECRET} )\n",
    f"{UNNAMED}.vgl": f"statement  {SECRET}:abs( {SECRET}() )\n",
    f"{UNNAMED}_test.vgl": f'test "{SECRET}" {{ run {{}} expect {SECRET} satisfied }}\n',
    "broken.vgl": f"statement {SECRET}: abs(((\n",
    "run.jsonl": f'{{"vigil_trace":1}}\n{{"action":"{SECRET}","args":{{"path":"{SECRET}"}}}}\n',
    f"{UNNAMED}.jsonl": f'{{"action":"{SECRET}"}}\n',
    "tools.json": f'[{{"name": "{SECRET}", "inputSchema": {{"type": "object"}}}}]',
    "doc.md": f"# Rules\n\n- You must never {SECRET} anything.\n",
    "vigil.toml": f'lint.{SECRET} = "{SECRET}"\n',
    "baseline.json": f'{{"schema": "vigil.baseline/1", "findings": {{"{SECRET}": {{}}}}}}',
}
TARGETS = [
    *(name for name in OUTSIDE if UNNAMED not in name), ".", "nothing.vgl", "pipe", "/proc/self/environ", "/dev/zero",
    "/dev/null", "..", "self",
]  # fmt: skip
LINKS = [
    "a_link.vgl", "zz.vgl", "x_test.vgl", "own.vgl", "own_test.vgl", "r.jsonl", "s.json", "t.txt", "SKILL.md", "d",
    "sub/l.vgl", "sub/m.jsonl", "vigil.toml", "pyproject.toml", "base.json", "tools.json", "draft.json", "report.json",
]  # fmt: skip
REACHED = ["../outside/", "", "d/", "sub/../../outside/", "{outside}/", "./d/../d/"]


def named(names: list[str]) -> st.SearchStrategy[str]:
    return st.builds("".join, st.tuples(st.sampled_from(REACHED), st.sampled_from(names)))


settings_lines = st.one_of(
    st.builds('runs = ["{}"]'.format, named(["run.jsonl", "r.jsonl", "*.jsonl", "**", "*/*", "sub/m.jsonl", "d/*"])),
    st.builds('signatures = ["{}"]'.format, named(["tools.json", "policy.vgl"])),
    st.builds('lint.baseline = "{}"'.format, named(["baseline.json", "base.json", "policy.vgl"])),
    st.builds('lint.benign = ["{}"]'.format, named(["", "run.jsonl", "m.jsonl"])),
    st.builds('test.paths = ["{}"]'.format, named(["", "x_test.vgl"])),
    st.just('exclude = ["zz.vgl", "../outside/"]'),
    st.just("lint.obligations = true"),
)
policy_lines = st.one_of(
    st.sampled_from(["use .zz", "use .d.policy", "use .sub.l", "use .own", "use ..outside.policy"]),
    st.builds('@source("{}", "You must never.")\nstatement S1: abs(rm())'.format, named(["doc.md", "SKILL.md"])),
    st.just("statement R: abs(rm(path = x) and not a(path = x))"),
)
test_lines = st.builds('test "t" {{ run "{}" expect R satisfied }}'.format, named(["run.jsonl", "r.jsonl", "x#y"]))

VERBS = [
    ("check", "."), ("check", "*.vgl", "--format", "json"), ("lint", "--no-cache"), ("lint", ".", "--format", "sarif"),
    ("lint", "**/*.vgl"), ("lint", "--fix", "--unsafe-fixes", "--no-cache", "."), ("lint", "--diff"),
    ("lint", "--baseline", "base.json", "--update-baseline", "--no-cache"), ("lint", "--obligations", "own.vgl"),
    ("fmt", "."), ("fmt",), ("fmt", "**"), ("fmt", "--diff", "."), ("fmt", "--check", "sub"), ("test", "."),
    ("test", "--coverage"), ("verify", "."), ("verify", "own.vgl", "**/*.jsonl"), ("verify", "*", "--isolated"),
    ("replay", "."), ("replay", "own.vgl", "**/*.jsonl", "--against", "**/*.vgl", "--labels", "r.jsonl"),
    ("signature", "."), ("signature", "**/*", "-o", "report.json"), ("abstract", "."), ("abstract", "sub", "--stats"),
    ("compile", "own.vgl", "--length", "2"), ("draft", "--skeleton", "."),
    ("draft", "--show-prompt", ".", "--trace", "."),
    ("draft", "--eval", ".", "--from-json", "."), ("run", ".", "--spec", ".", "--offline"),
    ("run", "**/*.jsonl", "--spec", "sub", "--offline"), ("lint", ".", "-o", "report.json"),
    ("verify", ".", "-o", "d/report.json"), ("lint", ".", "-o", "d/policy.vgl"), ("explain", "VGL001"),
    ("eval", "c.toml"), ("eval", "sub/c.toml", "-o", "d/report.json"),
]  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what lies outside, beside the place of the repository."""
    root = tmp_path_factory.mktemp("world")
    (root / "outside").mkdir()
    for name, text in OUTSIDE.items():
        (root / "outside" / name).write_text(text)
    os.mkfifo(root / "outside" / "pipe")
    (root / "outside" / "self").symlink_to("self")
    (root / "repo").mkdir()
    return root


@pytest.fixture(autouse=True)
def _inside(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world / "repo")


def state(folder: Path) -> dict[str, object]:
    """All files below a folder, with what they hold."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def make(world: Path, links: list[tuple[str, str]], config: list[str], policy: list[str], tests: list[str]) -> None:
    """The repository anew, with its own files and the links that there is room for."""
    repo = world / "repo"
    assert Path.cwd() == repo  # verbs are about to change what is there
    for path in repo.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    (repo / "sub").mkdir()
    files = {
        "own.vgl": policy, "own_test.vgl": ["use .own", *tests], "mine.vgl": ["statement  M:abs( rm() )"],
        "mine.jsonl": ['{"action":"rm","args":{"path":"/x"}}'], "sub/SKILL.md": ["- You must never push."],
        "c.toml": ['policies = ["mine.vgl"]', 'runs = ["**/*.jsonl"]', 'labels = ["*.json*"]'],
        "sub/c.toml": ['policies = ["."]', 'runs = ["../"]', 'layout = "tau-bench"'],
    }  # fmt: skip
    if config:
        files["vigil.toml"] = config
    for name, lines in files.items():
        text = "\n".join(lines).replace("{outside}", str(world / "outside"))
        (repo / name).write_text(f"{text}\n")
    for name, target in links:
        if not os.path.lexists(repo / name):
            aim = target if target.startswith("/") else f"{'../' * name.count('/')}../outside/{target}"
            (repo / name).symlink_to(aim)


def refused(world: Path, verbs: list[tuple[str, ...]]) -> None:
    """Call verbs in the repository and see that nothing comes of what is outside."""
    before = state(world / "outside")
    for verb in verbs:
        result = called(*verb)
        said = result.out + result.err
        assert result.status in (0, 1, 2), said
        for hidden in (SECRET, UNNAMED, os.environ["PATH"]):
            assert hidden not in said, verb
        assert state(world / "outside") == before, verb
    for path in (world / "repo").rglob("*"):
        assert path.is_symlink() or not path.is_file() or SECRET not in path.read_text(), path


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(LINKS), st.sampled_from(TARGETS)), min_size=1, max_size=8),
    st.lists(settings_lines, max_size=3, unique_by=lambda line: line.partition(" ")[0]),
    st.lists(policy_lines, min_size=1, max_size=3, unique=True),
    st.lists(test_lines, max_size=2, unique=True),
    st.lists(st.sampled_from(VERBS), min_size=3, max_size=3, unique=True),
)
def test_nothing_outside_is_read_shown_or_written(
    world: Path,
    links: list[tuple[str, str]],
    config: list[str],
    policy: list[str],
    tests: list[str],
    verbs: list[tuple[str, ...]],
) -> None:
    make(world, links, config, policy, tests)
    refused(world, verbs)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_follows_links_out(world: Path, verb: tuple[str, ...]) -> None:
    links = [
        ("a_link.vgl", "policy.vgl"), ("zz.vgl", "broken.vgl"), ("x_test.vgl", "policy.vgl"), ("r.jsonl", "run.jsonl"),
        ("s.json", "tools.json"), ("SKILL.md", "doc.md"), ("d", "."), ("sub/l.vgl", "/proc/self/environ"),
        ("sub/m.jsonl", "run.jsonl"), ("report.json", "policy.vgl"), ("loop", "../repo"),
    ]  # fmt: skip
    policy = ["use .zz", "use .d.policy", '@source("d/doc.md", "You must never.")', PLAIN]
    make(world, links, [], policy, ['test "t" { run "r.jsonl" expect R satisfied }'])
    refused(world, [verb])


@pytest.mark.parametrize(
    "line",
    [
        'runs = ["../outside/run.jsonl"]', 'runs = ["r.jsonl"]', 'runs = ["*.jsonl"]', 'runs = ["d/"]',
        'runs = ["*/*"]', 'runs = ["/**"]', 'runs = ["sub/*/../../../outside/*"]',
        'signatures = ["../outside/tools.json"]',
        'signatures = ["s.json"]', 'lint.baseline = "../outside/baseline.json"', 'lint.baseline = "base.json"',
        'lint.benign = ["d/run.jsonl"]', 'test.paths = ["../outside"]', 'test.paths = ["d"]',
    ],
)  # fmt: skip
def test_no_configuration_leads_out(world: Path, line: str) -> None:
    links = [("r.jsonl", "run.jsonl"), ("s.json", "tools.json"), ("base.json", "baseline.json"), ("d", ".")]
    make(world, links, [line], [PLAIN], [])
    refused(world, [("lint", "--update-baseline"), ("check", "own.vgl"), ("test",), ("lint", "--no-cache", "mine.vgl")])
    verb = ("test",) if "test" in line else ("lint", "mine.vgl", "--no-cache")
    result = called(*verb)
    said = " ".join((result.out + result.err).split())
    assert (result.status, "out of the project" in said or "baseline" in line) == (2, True) or "*/*" in line, said


@pytest.mark.parametrize("name", ["vigil.toml", "pyproject.toml"])
def test_a_configuration_that_is_a_link_out_is_not_read(world: Path, name: str) -> None:
    make(world, [(name, "vigil.toml")], [], [PLAIN], [])
    refused(world, [("lint", "own.vgl"), ("fmt", "--check", "own.vgl")])
    result = called("check", "own.vgl")
    assert (result.status, "leads out of its folder" in result.err) == (2, True)
    assert called("check", "own.vgl", "--isolated").status == 0


def test_what_is_passed_over_does_not_seem_clean(world: Path) -> None:
    make(world, [("a_link.vgl", "policy.vgl")], [], [PLAIN], [])
    for verb in (("lint", "--no-cache"), ("check", "."), ("fmt",), ("test", "."), ("verify", "."), ("lint", "--diff")):
        result = called(*verb)
        if verb[0] != "test":  # which looks for other names
            assert (result.status, "a_link.vgl" in result.out + result.err) == (2, True), verb
    assert Path("mine.vgl").read_text() == "statement M: abs(rm())\n"  # the others are formatted
    Path("vigil.toml").write_text('exclude = ["a_link.vgl"]\n')
    assert called("check", ".").status == 0


def test_what_the_call_names_is_read_but_not_written_through(world: Path) -> None:
    make(world, [("a_link.vgl", "policy.vgl"), ("d", ".")], [], [PLAIN], [])
    before = state(world / "outside")
    assert SECRET in called("check", "a_link.vgl").out
    assert SECRET in called("signature", "d/run.jsonl").out
    for args in (("fmt", "a_link.vgl"), ("fmt", "d/policy.vgl"), ("fmt", "d"), ("lint", "own.vgl", "-o", "d/x.txt")):
        assert called(*args).status == 2
    assert called("lint", "own.vgl", "-o", "a_link.vgl").status == 0
    assert not Path("a_link.vgl").is_symlink()
    assert state(world / "outside") == before


def test_links_within_the_project_are_read(world: Path) -> None:
    make(world, [], [], [PLAIN], [])
    Path("sub/again.vgl").symlink_to("../mine.vgl")
    Path("sub/lost.vgl").symlink_to("nowhere.vgl")
    Path("sub/round").symlink_to("..")
    assert called("check", "sub/again.vgl").status == 0
    assert "sub/lost.vgl" in called("check", "sub").out
    result = called("fmt", "sub")
    assert (result.status, "sub/again.vgl" in result.err) == (2, True)
    assert called("fmt", ".").status == 2  # sub/lost.vgl
    assert Path("sub/again.vgl").is_symlink()
    assert Path("mine.vgl").read_text() == "statement M: abs(rm())\n"


def test_a_glob_does_not_go_round_in_circles(world: Path) -> None:
    make(world, [], [], [PLAIN], [])
    for name in ("a", "b", "c", "sub/d", "sub/e"):
        Path(name).symlink_to(world / "repo")
    assert called("check", "**/*.vgl").status == 0
    assert called("fmt", "*/**/*.vgl").status == 2  # nothing matches
