"""docs/vocabulary.md says what stdlib/vocabulary.toml has; VIGIL_UPDATE=1 writes it anew."""

from __future__ import annotations

import os
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.ingest import FORMATS
from vigil_lang.trace.vocabulary import GATHERING, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "vocabulary.md"

HEAD = """\
# The vocabulary of typed events

Calls of any harness, programs on a command line and effects of a script become events of these **kinds**, with values
under these **roles** (spec.md, 5.4). A policy that speaks of `file.write(path ~ "*AGENTS.md")` means the tool `Write`,
a redirection, `sed -i`, `open(…, "w")` in a script and all else that writes a file. This page is made from
`stdlib/vocabulary.toml`.
"""


def page() -> Iterator[str]:
    words = vocabulary()
    yield HEAD
    yield "## Kinds\n"
    for family, kinds in groupby(words.kinds.values(), key=lambda kind: kind.name.partition(".")[0]):
        yield f"### {family}\n"
        yield "| kind | an event in which | roles | implies |\n|---|---|---|---|"
        for kind in kinds:
            roles = ", ".join(f"`{role}`" for role in kind.roles)
            implied = ", ".join(f"`{name}`" for name in kind.implies)
            yield f"| `{kind.name}` | {kind.summary} | {roles} | {implied} |"
        yield ""
    yield "## Roles\n"
    yield "| role | what it holds | type |\n|---|---|---|"
    for role in words.roles.values():
        yield f"| `{role.name}` | {role.summary} | {role.type}{', several' if role.many else ''} |"


def test_the_page_says_what_the_vocabulary_has() -> None:
    text = "\n".join(page()) + "\n"
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_every_format_is_described() -> None:
    table = (PAGE.parent / "formats.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(FORMATS)


def test_what_the_vocabulary_refers_to_is_there() -> None:
    words = vocabulary()
    assert {name for name, role in words.roles.items() if role.gathers} == GATHERING
    for role in words.roles.values():
        assert all(each in words.roles and kind in ("", *words.kinds) for each, kind in role.gathers)
    for kind in words.kinds.values():
        assert set(kind.roles) <= set(words.roles)
        assert set(kind.implies) <= set(words.kinds)
        assert kind.name not in kind.implies


def test_implications_are_closed() -> None:
    words = vocabulary()
    assert words.closed(["package.publish", "file.append"]) == (
        "package.publish",
        "net.upload",
        "net.request",
        "file.append",
        "file.edit",
        "file.write",
    )
    assert all(set(words.closed(kind.implies)) == set(kind.implies) for kind in words.kinds.values())


def test_files_of_secrets_are_told_by_their_names() -> None:
    holds = vocabulary().holds_secrets
    assert all(map(holds, ["/repo/.env", ".env.local", "~/.ssh/id_ed25519", "/home/a/.aws/credentials", "/etc/shadow"]))
    assert not any(map(holds, ["/repo/.env.example", "/repo/environment.py", "~/.ssh/id_ed25519.pub", "/etc/passwd"]))
