"""Every shipped catalogue file is well-formed, agrees with the vocabulary, and its pieces can be read alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from vigil_lang.abstraction.catalogue import names, program
from vigil_lang.abstraction.catalogue.entry import CHANGES, CONDITIONS, FIELDS
from vigil_lang.abstraction.catalogue.programs import PATH_ROLES
from vigil_lang.abstraction.catalogue.validate import problems
from vigil_lang.base.resources import resource

_FILES = sorted(resource("stdlib", "commands").glob("*.toml"))
_VOCABULARY = tomllib.loads(resource("stdlib", "vocabulary.toml").read_text("utf-8"))
_KINDS, _ROLES = set(_VOCABULARY["kinds"]), set(_VOCABULARY["roles"])


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.stem)
def test_shipped_file(path: Path) -> None:
    assert problems(path.read_text("utf-8"), _KINDS, _ROLES) == []


def test_no_name_is_taken_twice() -> None:
    owner: dict[str, str] = {}
    for path in _FILES:
        for name, table in tomllib.loads(path.read_text("utf-8")).items():
            for each in (name, *table.get("aliases", ())):
                assert each not in owner, f"{each} is in {owner.get(each)} and in {path.name}"
                owner[each] = path.name


@pytest.mark.unmeasured
def test_every_program_is_found_by_every_name() -> None:
    for path in _FILES:
        for name, table in tomllib.loads(path.read_text("utf-8")).items():
            for each in (name, *table.get("aliases", ())):
                found = program(each)
                assert found is not None
                assert (found.name, found.subject) == (name, path.stem)


@pytest.mark.unmeasured
def test_every_subcommand_can_be_read() -> None:
    def walk(commands: object) -> int:
        assert commands is None or hasattr(commands, "items")
        return sum(1 + walk(below.commands) for _, below in commands.items()) if commands else 0  # type: ignore[attr-defined]

    assert sum(walk(found.commands) for name in names() if (found := program(name))) > 500


def test_there_are_enough_programs() -> None:
    assert len(names()) >= 200


def test_path_roles_are_the_vocabulary_s() -> None:
    assert {name for name, role in _VOCABULARY["roles"].items() if role["type"] == "path"} == PATH_ROLES


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[a]\nkinds = [", "no TOML: Invalid value (at end of document)"),
        ("x = 1\n", "x: no table"),
        ('[a]\nkinds = ["k"]', "a: no summary"),
        ('[a]\nsummary = "s"', "a: no kinds"),
        ('[a]\nsummary = "s"\nkinds = ["other"]', "a: unknown kind other"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\neffects = { path = "other" }', "a: unknown kind other"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\noperands = ["pth*"]', "a: unknown role pth"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\noperands = ["path*", "_*"]', "a: more than one operand is repeated"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nroles = { "-f" = "pth" }', "a: unknown role pth"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nruns = "-x"', "a: -x of runs is no option"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nreads = "all"', "a: reads cannot be all"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\ncolour = "red"', "a: unknown key colour"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nstop = 1', "a: stop must be true or false"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nswitches = ["-a"]', "a: switches must be a text"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nswitches = "-a"\nvalues = "-a,--all"', "a: -a is listed twice"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nswitches = "all"', "a: all is no option"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nsame = ["-a --all"]', "a: -a of same is no option"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nstdin = "text"', "a: stdin cannot be text"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nfeed = "all"', "a: feed cannot be all"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nassign = "pth"', "a: unknown role pth"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nassign = { if = "pth" }', "a: unknown role pth"),
        (
            '[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ has = "-x", also = ["k"] }]',
            "a: when asks for -x, no option of it",
        ),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ has = "pth", also = ["k"] }]', "a: unknown role pth in when"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ has = "path", kind = "k" }]', "a: unknown key kind in when"),
        (
            '[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ has = "path" }]',
            "a: an entry of when without a condition or a change: {'has': 'path'}",
        ),
        (
            '[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ has = "path", operands = ["_"] }]',
            "a: operands cannot depend on operands",
        ),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nforms = { path = "(" }', "a: ( is no expression"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [{ like = "path=+", also = ["k"] }]', "a: + is no expression"),
        ('[a]\nsummary = "s"\nkinds = ["k"]\nwhen = 3', "a: cannot be understood: 'int' object is not iterable"),
        (
            '[a]\nsummary = "s"\nkinds = ["k"]\n[b]\nsummary = "s"\nkinds = ["k"]\n[a.commands.x]\n',
            "a: its tables are not together",
        ),
        ('[a.commands.x]\nsummary = "s"', "a: no header of its own"),
        (
            '[a]\nsummary = "s"\nkinds = ["k"]\nwhen = [\n[1]]',
            "a: cannot be read by itself: Invalid value (at end of document)",
        ),
    ],
)
def test_faults_are_told(text: str, fault: str) -> None:
    assert fault in problems(text, {"k"}, {"path"})


def test_options_of_the_program_may_be_asked_for_by_a_subcommand() -> None:
    text = (
        '[a]\nsummary = "s"\nswitches = "-q"\n'
        '[a.commands.x]\nkinds = ["k"]\noperands = ["path*", "--", "_*"]\nwhen = [{ has = "-q --", also = ["k"] }]\n'
    )
    assert problems(text, {"k"}, {"path"}) == []


def test_every_field_is_described() -> None:
    page = (Path(__file__).parents[3] / "docs" / "catalogue.md").read_text(encoding="utf-8")
    described = {
        name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert FIELDS | {"commands"} <= described
    assert all(f"`{change}`" in page or f"`{change} = " in page for change in CHANGES | CONDITIONS)
