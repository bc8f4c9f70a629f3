"""std.files: what counts as reading, writing, editing and deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from std_support import bash, call, matches, policy, run

from vigil_lang.semantics.denotation import violations

if TYPE_CHECKING:
    from vigil_lang.trace import Event


def holds(pattern: str, event: Event) -> bool:
    return matches("std.files", pattern, event)


@pytest.mark.parametrize(
    "event",
    [
        call("Read", file_path="/a/notes.md", limit=5),
        call("mcp__fs__read_file", path="/a/notes.md"),
        call("mcp__fs__read_text_file", path="/a/notes.md"),
        call("cat", "file.read", file="/a/notes.md"),
    ],
)
def test_reads(event: Event) -> None:
    assert holds("reading", event)
    assert holds('reads("/a/notes.md")', event)
    assert holds('reads_like("*.md")', event)
    assert not holds('reads("/a/other.md")', event)
    assert not holds("changing", event)


@pytest.mark.parametrize(
    "event",
    [
        call("Grep", pattern="x", path="/a/notes.md"),
        call("mcp__crm__read_profile", path="/a/notes.md"),
        bash("cat /a/notes.md"),
        call("Write", file_path="/a/notes.md", content=""),
    ],
)
def test_does_not_read(event: Event) -> None:
    assert not holds("reading", event)


def test_searches() -> None:
    assert holds("searching", call("Grep", pattern="x", path="/a/notes.md"))
    assert holds("searching", call("Glob", pattern="**/*.md"))
    assert not holds("searching", call("Read", file_path="/a/notes.md"))


@pytest.mark.parametrize(
    "event",
    [
        call("Write", file_path="/a/b.py", content="x = 1"),
        call("mcp__fs__write_file", path="/a/b.py"),
        call("mcp__fs__create_file", path="/a/b.py"),
        call("tee", "file.write", file=["/a/c.py", "/a/b.py"]),
    ],
)
def test_writes(event: Event) -> None:
    assert holds('writes("/a/b.py")', event)
    assert holds('writes_like("*.py")', event)
    assert holds('changes("/a/b.py")', event)
    assert not holds("editing", event)


@pytest.mark.parametrize(
    "event",
    [
        call("Edit", file_path="/a/b.py", old_string="1", new_string="2"),
        call("MultiEdit", file_path="/a/b.py"),
        call("NotebookEdit", notebook_path="/a/b.py", new_source=""),
        call("mcp__fs__edit_file", path="/a/b.py"),
        call("sed", "file.edit", "file.write", file="/a/b.py"),
    ],
)
def test_edits(event: Event) -> None:
    """What edits does not write as a whole, even where its kinds say it is a write too."""
    assert holds('edits("/a/b.py")', event)
    assert holds('edits_like("/a/*")', event)
    assert holds('changes_like("/a/*")', event)
    assert not holds("writing", event)


@pytest.mark.parametrize(
    "event",
    [
        bash("rm notes.md"),
        bash("rm -rf build/ && make"),
        bash("cd build && rm -f *.o"),
        bash("make clean; /bin/rm -r out"),
        bash("sudo rm x"),
        bash("find . -name '*.pyc' | xargs -0 rm -f "),
        bash("find . -name '*.tmp' -delete"),
        bash("find . -type f -exec rm {} +"),
        bash('bash -c "rm -rf build"'),
        bash("if true; then rm x; fi"),
        bash("for f in *.log; do\n  rm $f\ndone"),
        bash("rmdir old"),
        call("mcp__fs__delete_file", path="/a"),
        call("remove", "file.delete", file="/a"),
    ],
)
def test_deletes(event: Event) -> None:
    assert holds("deletes", event)


@pytest.mark.parametrize(
    "event",
    [
        bash("ls -la"),
        bash("grep -rf patterns.txt ."),
        bash("docker run --rm image"),
        bash("npm run clean"),
        bash("cargo rm-unused"),
        bash("echo done | tee alarm log"),
        bash("find . -newer x -print"),
        bash("find . -name deleted.txt"),
        bash("git rm-stale"),
        call("Write", file_path="/a/clean.sh", content="rm -rf /"),
    ],
)
def test_does_not_delete(event: Event) -> None:
    assert not holds("deletes", event)


def test_mentions_is_for_what_a_trigger_has_fixed() -> None:
    rule = policy("use std.files: edits, mentions, reads\nstatement S: prec(edits(x), reads(x) or mentions(x))\n")
    trace = run(
        bash("sed -n 1,20p /a/seen.py"),
        call("Edit", file_path="/a/seen.py"),
        call("Edit", file_path="/a/unseen.py"),
    )
    assert violations(rule.statements[0].requirement, trace) == [(2, {"x": "/a/unseen.py"})]
