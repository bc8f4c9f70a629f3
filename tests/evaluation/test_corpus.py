"""`CORPUS.toml`: what is wrong in it is said at its place, and nothing outside its project is read."""

from __future__ import annotations

import json
import os
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import InputError
from vigil_lang.evaluation.corpus import LAYOUTS, Group, corpus_schema, read_corpus
from vigil_lang.project.schema import schema_text

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "corpus.schema.json"
TOP = 'policies = ["p.vgl"]\nruns = ["runs"]\n'

WRONG = [
    ("‹polices› = []", "there is no setting `polices`", "did you mean `policies`?"),
    ("policies = ‹\"p.vgl\"›\nruns = ['r']", '`policies` is a list of paths, not `"p.vgl"`', None),
    ("[[group]]\nname = ‹3›", "`group.name` is a name of at most 100 characters, not `3`", None),
    ("‹[[group]]›\nwhere = {suite = 'x'}", "`group` needs `name`", None),
    (
        "[[group]]\nname = 'a'\n[[group]]\nname = ‹'a'›",
        "two `group` tables have the name `a`",
        None,
    ),
    ("‹[group]›\nname = 'a'", "`group` is a list of tables, not a table", None),
    ("[[group]]\nname = 'a'\nwhere = {suite = ‹1›}", "`group.where.suite` is a glob, not `1`", None),
    ("layout = ‹'agentdoj'›", "`layout` is one of", "did you mean `agentdojo`?"),
    (
        "labels = [‹'../../l.jsonl'›]",
        "`../../l.jsonl` leads out of the project of the corpus",
        "`--data FOLDER` says where runs and labels are",
    ),
    ("runs = [‹'/etc/passwd'›]", "`/etc/passwd` leads out of the project of the corpus", None),
    ("[reading]\nskills = ‹'/etc'›", "`/etc` leads out of the project of the corpus", None),
    ("[reading]\nkeep-output = ‹9›", "`reading.keep-output` is a whole number from 256 to", None),
    ("[bootstrap]\nconfidence = ‹95›", "`bootstrap.confidence` is a number from 0.5 to 0.999, not `95`", None),
    ("[[baseline]]\nname = 'b'\ncommand = ‹'x'›", "`baseline.command` is a list of texts, not `'x'`", None),
    ("[[baseline]]\nname = 'b'\ncommand = ‹[]›", "`command` names no program", None),
    ("[[baseline]]\nname = ‹'vigil'›\ncommand = ['x']", "`vigil` is what figures of the policies are called", None),
    ("[[baseline]]\nname = ‹'verify'›\ncommand = ['x']", "`verify` is what figures of the policies", None),
    ("[[baseline]]\nname = ‹'without steps'›\ncommand = ['x']", "`without steps` is what figures of the", None),
    ("‹[[baseline]]›\nname = 'b'", "`baseline` needs `command`", None),
    (
        "[bootstrap]\nresamples = ‹100000›" + "".join(f"\n[[group]]\nname = 'g{n}'" for n in range(11)),
        "100,000 resamples of 11 groups are more than 1,000,000 draws",
        None,
    ),
    (
        "".join(f"[[‹group›]]\nname = '{n}'\n" if not n else f"[[group]]\nname = '{n}'\n" for n in range(1001)),
        "1,001 groups are more than 1,000",
        None,
    ),
    ("name = 'a' ‹b›", "the corpus is no valid TOML:", None),
]


@pytest.mark.parametrize(("text", "message", "help_text"), WRONG, ids=[case[1] for case in WRONG])
def test_one_finding_at_its_place(text: str, message: str, help_text: str | None, tmp_path: Path) -> None:
    start, end = text.index("‹"), text.index("›") - 1
    wanted, plain = text[start + 1 : end + 1], text.replace("‹", "").replace("›", "")
    plain = plain if "policies" in plain or "polices" in plain else f"{_above(plain)}{plain}"
    path = tmp_path / "corpus.toml"
    path.write_text(plain, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_corpus(str(path))
    found = refused.value.diagnostics[0]
    assert found.message.startswith(message)
    assert (found.severity, found.help if help_text else None) == ("error", help_text)
    assert found.source.path == str(path)
    if "TOML" not in message:
        assert (
            found.source.text[slice(*found.span)] == wanted
            or wanted.strip("[]") in found.source.text[slice(*found.span)]
        )


def _above(text: str) -> str:
    return 'policies = ["p.vgl"]\n' + ("" if text.startswith("runs") else 'runs = ["runs"]\n')


def test_a_group_needs_policies_and_runs_from_somewhere(tmp_path: Path) -> None:
    path = tmp_path / "corpus.toml"
    path.write_text('[[group]]\nname = "a"\npolicies = ["p.vgl"]\n', encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_corpus(str(path))
    assert [d.message for d in refused.value.diagnostics] == [
        "the group `a` has no `runs`, and the corpus has none for all"
    ]
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_corpus(str(path))
    assert len(refused.value.diagnostics) == 2


def test_a_group_has_what_it_does_not_set_from_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "in" / "c.toml"
    path.parent.mkdir()
    text = 'policies = ["p.vgl", "std.guard"]\nruns = ["r/*.json"]\nlayout = "tau-bench"\n[[group]]\nname = "a"\n'
    path.write_text(f"{text}[[group]]\nname = 'b'\nruns = ['x']\npolicies = []\nlayout = 'recordings'\n", "utf-8")
    with pytest.raises(InputError):  # an empty list is none of its own, but says that there are none
        read_corpus(str(path))
    path.write_text(f"{text}[[group]]\nname = 'b'\nruns = ['x']\n", "utf-8")
    one, other = read_corpus(str(path)).groups
    folder = f"{path.parent}/"
    assert one.policies == other.policies == (f"{folder}p.vgl", "std.guard")
    assert (one.runs, other.runs) == ((f"{folder}r/*.json",), (f"{folder}x",))
    assert (one.layout, other.layout) == ("tau-bench", "tau-bench")
    given_ = read_corpus(str(path), str(tmp_path / "data")).groups[0]
    assert (given_.policies[0], given_.runs) == (f"{folder}p.vgl", (f"{tmp_path}/data/r/*.json",))


def test_no_link_leads_a_corpus_out(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "r.jsonl").write_text('{"action": "secret"}\n', encoding="utf-8")
    (inside / "r.jsonl").symlink_to(outside / "r.jsonl")
    (inside / "all").symlink_to(outside)
    path = inside / "c.toml"
    for runs in ("r.jsonl", "all/r.jsonl", "all"):
        path.write_text(f'policies = ["p.vgl"]\nruns = ["{runs}"]\n', encoding="utf-8")
        with pytest.raises(InputError, match="leads out of the project of the corpus"):
            read_corpus(str(path))


def test_standard_input_is_no_part_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text('policies = ["-"]\nruns = ["-"]\nlabels = ["-"]\n', encoding="utf-8")
    (group,) = read_corpus("c.toml").groups
    assert group.policies == group.runs == group.labels == ("./-",)


def test_without_groups_all_runs_are_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TOP, encoding="utf-8")
    corpus = read_corpus(str(path))
    assert (corpus.name, [group.name for group in corpus.groups]) == ("mine", ["mine"])


def test_the_stored_schema_is_the_tables() -> None:
    text = schema_text(corpus_schema())
    if os.environ.get("VIGIL_UPDATE"):
        STORED.write_text(text, encoding="utf-8")
    assert STORED.read_text(encoding="utf-8") == text
    assert resource("corpus.schema.json") == STORED
    Draft7Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*corpus*.toml")), ids=lambda path: path.parent.name)
def test_the_corpora_of_the_project_are_right(path: Path) -> None:
    Draft7Validator(corpus_schema()).validate(tomllib.loads(path.read_text(encoding="utf-8")))
    assert read_corpus(str(path)).groups


def test_what_the_schema_refuses_is_refused() -> None:
    validator = Draft7Validator(corpus_schema())
    for text in ("runs = 'r'", "[[group]]\nwhere = {}", "[bootstrap]\nseed = -1", "layout = 'x'", "polices = []"):
        assert not validator.is_valid(tomllib.loads(text))


def test_every_layout_is_read() -> None:
    from vigil_lang.evaluation import layouts

    assert {*layouts._READERS, "recordings", "skilllearnbench"} == set(LAYOUTS)
    assert Group(name="x").layout is None


@given(st.text(max_size=40))
def test_no_text_is_more_than_findings(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(f"{TOP}{text}", encoding="utf-8", errors="replace")
    with suppress(InputError):
        read_corpus(str(path))
