"""Who may use what: siblings, folders below, the standard library, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import InputError, Source
from vigil_lang.semantics import core
from vigil_lang.semantics.modules import is_shipped, standard_modules, standard_path
from vigil_lang.semantics.policy import Policy, load_policy, read_policy

if TYPE_CHECKING:
    from pathlib import Path


def stored(folder: Path, **files: str) -> Policy:
    """The policy `main.vgl` in a folder of files; two underscores in a name are a slash."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".vgl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_policy(Source(str(folder / "main.vgl"), files["main"]))


def said(policy: Policy) -> list[str]:
    return [f"{d.code} {d.message}" for d in policy.diagnostics]


def test_a_sibling_and_a_module_below(tmp_path: Path) -> None:
    policy = stored(
        tmp_path,
        main="use .one\nuse .rules.two: q\n\nstatement S: prec(p, q)",
        one="pattern p = a()",
        rules__two="use .three\n\npattern q = r",
        rules__three="pattern r = b()",
    )
    assert said(policy) == []
    tests = [h.condition for h in core.conditions(policy.statements[0].requirement.theta)]
    assert tests == [core.ActionIn(frozenset({"a"})), core.ActionIn(frozenset({"b"}))]


def test_what_a_module_imports_stays_its_own(tmp_path: Path) -> None:
    # spec R4.6-2
    policy = stored(
        tmp_path, main="use .one\n\nstatement S: abs(q)", one="use .two\n\npattern p = q", two="pattern q = a()"
    )
    assert said(policy) == ["VGL201 no pattern named `q` is declared"]


def test_names_mean_what_they_mean_where_they_are_written(tmp_path: Path) -> None:
    # spec R4.3-2
    policy = stored(
        tmp_path,
        main="use .one: p\n\nlet NAMES = {b}\n\nstatement S: prec(p, action in NAMES)",
        one="let NAMES = {a}\n\npattern p = action in NAMES",
    )
    assert said(policy) == []
    tests = [h.condition for h in core.conditions(policy.statements[0].requirement.theta)]
    assert tests == [core.ActionIn(frozenset({"a"})), core.ActionIn(frozenset({"b"}))]


def test_statements_are_not_imported(tmp_path: Path) -> None:
    # spec R4.6-2
    policy = stored(tmp_path, main="use .one: S\n\nstatement T: abs(a())", one="statement S: abs(a())")
    assert said(policy) == ["VGL201 `.one` declares no `S`"]


def test_a_module_does_not_leave_its_folder_by_a_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.vgl").write_text("pattern p = a()", encoding="utf-8")
    inside.mkdir()
    (inside / "file.vgl").symlink_to(outside / "secret.vgl")
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    policy = stored(inside, main="use .file: p\nuse .folder.secret: p\n\nstatement S: abs(a())")
    assert said(policy) == [
        "VGL208 `.file` leads out of the project's folder",
        "VGL208 `.folder.secret` leads out of the project's folder",
    ]


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link.vgl").symlink_to(tmp_path / "one.vgl")
    policy = stored(tmp_path, main="use .link\n\nstatement S: abs(p)", one="pattern p = a()")
    assert said(policy) == []


def test_a_module_below_does_not_leave_the_project(tmp_path: Path) -> None:
    policy = stored(
        tmp_path, main="use .rules.one\n\nstatement S: abs(p)", rules__one="use ..two\n\npattern p = a()", two=""
    )
    assert said(policy) == ["VGL208 `..two` would leave the project's folder"]


def test_a_longer_circle_is_reported_once(tmp_path: Path) -> None:
    policy = stored(
        tmp_path,
        main="use .one\n\nstatement S: abs(p)",
        one="use .two\n\npattern p = q",
        two="use .three\n\npattern q = a()",
        three="use .one\nuse .two",
    )
    assert said(policy) == ["VGL212 modules use each other: one → two → three → one",
                            "VGL212 modules use each other: two → three → two"]  # fmt: skip


def test_what_is_wrong_in_a_module_is_found_there_once(tmp_path: Path) -> None:
    policy = stored(
        tmp_path,
        main="use .one\n\nstatement S: abs(p)\n\nstatement T: prec(p, p)",
        one="pattern p = f ~ /(/",
    )
    (found,) = policy.diagnostics
    assert (found.code, found.source.path) == ("VGL305", str(tmp_path / "one.vgl"))


def test_a_module_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "one.vgl").write_bytes(b"pattern p = \xff")
    policy = stored(tmp_path, main="use .one\n\nstatement S: abs(a())")
    assert [d.code for d in policy.diagnostics] == ["VGL002"]


def test_standard_modules_are_found_by_name() -> None:
    # spec R4.6-4
    assert "std.files" in standard_modules()
    policy = read_policy(Source("<stdin>", 'use std.files: writes\n\nstatement S: abs(writes("a"))'))
    assert said(policy) == []
    assert is_shipped(str(standard_path("std.files")))
    assert load_policy("std.secrets").name == "std.secrets"


def test_a_standard_module_is_read_once_and_what_is_used_of_it_known_by_policy() -> None:
    used = read_policy(Source("<stdin>", 'use std.files: writes\n\nstatement S: abs(writes("a"))'))
    unused = read_policy(Source("<stdin>", "use std.files: writes\n\nstatement S: abs(a())"))
    assert used.module.imported["writes"][0] is unused.module.imported["writes"][0]
    assert said(used) == []
    assert said(unused) == ["VGL205 `writes` is imported and not used"]


def test_what_is_wrong_with_the_use_of_a_standard_module_is_said_every_time() -> None:
    for _ in range(2):
        policy = read_policy(Source("<stdin>", "use std.files: writes\n\nstatement S: abs(writes(a()))"))
        assert said(policy) == ["VGL209 pattern `writes` takes values or variables, not conditions"]


@pytest.mark.parametrize("name", ["os.path", "std", "std.nothing", "std.project"])
def test_other_modules_are_not(name: str) -> None:
    policy = read_policy(Source("<stdin>", f"use {name}\n\nstatement S: abs(a())"))
    assert said(policy) == [f"VGL207 there is no module `{name}`"]


@pytest.mark.parametrize("name", [f".{'a' * 5_000}", f".{'a' * 300}.b", f".a.{'b' * 252}"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    policy = read_policy(Source(str(tmp_path / "p.vgl"), f"use {name}\n\nstatement S: abs(a())"))
    assert [found.code for found in policy.diagnostics] == ["VGL207"]


def test_a_policy_without_a_file_uses_no_sibling() -> None:
    policy = read_policy(Source("<stdin>", "use .one\n\nstatement S: abs(a())"))
    assert said(policy) == ["VGL207 `.one` needs a policy that is stored in a file"]


def test_loading_a_broken_policy_says_why(tmp_path: Path) -> None:
    path = tmp_path / "main.vgl"
    path.write_text("statement S: abs(p)", encoding="utf-8")
    with pytest.raises(InputError, match="VGL201"):
        load_policy(path)
