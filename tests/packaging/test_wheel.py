"""The wheel holds everything the verbs read, and works away from the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from posixpath import normpath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without the network."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


def test_what_the_verbs_read_is_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in (
        "vigil_lang/py.typed",
        "vigil_lang/grammar/vigil.lark",
        "vigil_lang/stdlib/std/files.vgl",
        "vigil_lang/codes/VGL101.md",
        "vigil_lang/corpus.schema.json",
        "vigil_lang/policy-document.schema.json",
        "vigil_lang/vigil.schema.json",
        "vigil_lang/examples/dashcam/dashcam.vgl",
        "vigil_lang/examples/skills/glm-backup/violating.jsonl",
        "vigil_lang/stdlib/vocabulary.toml",
        "vigil_lang/stdlib/tables.json",
        "vigil_lang/stdlib/commands/git.toml",
        "vigil_lang/stdlib/libraries/python.toml",
        "vigil_lang/stdlib/tools/mcp.toml",
    ):
        assert wanted in names
    assert not [n for n in names if n.startswith("tests/")]


def test_links_of_the_pages_of_codes_lead_somewhere(wheel: Path) -> None:
    """An editor opens the installed page of a finding's code."""
    archive = zipfile.ZipFile(wheel)
    pages = [name for name in archive.namelist() if name.startswith("vigil_lang/codes/")]
    linked = {
        (page, normpath(f"vigil_lang/codes/{link}"), anchor)
        for page in pages
        for link, anchor in re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", archive.read(page).decode())
    }
    assert "vigil_lang/vocabulary.md" in {target for _, target, _ in linked}
    assert not [(page, target) for page, target, _ in linked if target not in archive.namelist()]
    for page, target, anchor in linked:
        headings = re.findall(r"^#+ (.+)$", archive.read(target).decode(), re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, page


def requirements(wheel: Path) -> list[Requirement]:
    """What the wheel says that it needs."""
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    about = message_from_bytes(archive.read(name))
    return list(map(Requirement, about.get_all("Requires-Dist", [])))


OWN = ("all", "draft", "gate", "mcp", "oidc", "otel", "postgres", "scan", "spark")
EXTRAS = ("claude-agent-sdk", "google-adk", "inspect-ai", "langchain", "openai-agents", "pydantic-ai")
SDKS = {*EXTRAS, "pydantic-ai-slim"}
"""What an adapter is for: who has one of them needs none of the others."""


def test_no_extra_names_the_distribution_and_every_major_is_capped(wheel: Path) -> None:
    wanted = requirements(wheel)
    assert all(canonicalize_name(one.name) != "vigil-lang" for one in wanted)
    assert not [str(one) for one in wanted if not any(each.operator == "<" for each in one.specifier)]
    extras = {one.name for one in wanted if "extra ==" in str(one.marker)} - SDKS
    everything = {one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": "all"})}
    assert extras <= everything


def test_under_an_older_python_nothing_is_wanted_so_that_it_is_refused_at_once(wheel: Path) -> None:
    for one in requirements(wheel):
        assert one.marker is not None
        assert not one.marker.evaluate({"python_version": "3.10", "extra": "all"})
        given = [{"python_version": "3.11", "extra": extra} for extra in (*OWN, *EXTRAS)]
        assert any(one.marker.evaluate(each) for each in given)


def test_an_installed_copy_runs_the_demo_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "a site with spaces"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "100"}
    command = [sys.executable, "-m", "vigil_lang", "demo"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "e5" in done.stdout
    assert "unsafe" in done.stdout
    assert str(ROOT) not in done.stdout
