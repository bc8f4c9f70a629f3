"""Signature help: what is being called where the cursor `«»` is, and which of its terms; the active one in `«»` too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsp_completing import known, read
from lsp_positions import marked
from lsprotocol import types

from vigil_lsp.completing.signatures import Signature, signature_at

if TYPE_CHECKING:
    from lsp_session import Session

POLICY = """use std.files: changes_like

/// Consumes `x` by way of `y`.
pattern consumes(x, y) = Write(file_path = x) and path ~ y
pattern handed(z) = consumes(z, "a")
pattern bare = a()

"""


def _at(text: str, *, with_runs: bool = True) -> Signature | None:
    plain, spans = marked(POLICY + text)
    return signature_at(read(plain), spans[0][0], known() if with_runs else None)


def _told(text: str) -> str | None:
    """The label with the active term in angle quotes."""
    found = _at(text)
    if found is None:
        return None
    start, end = found.places[found.active]
    return f"{found.label[:start]}<{found.label[start:end]}>{found.label[end:]}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("statement S: prec(«»", "prec(<trigger>, guard)"),
        ("statement S: prec(a(),«»", "prec(trigger, <guard>)"),
        ("statement S: prec(a(), b(), «»", "prec(trigger, <guard>)"),
        ("statement S: prec(\n    a(b = {1, 2}),\n    «»\n)\n\nstatement T: abs(a())", "prec(trigger, <guard>)"),
        ("statement S: abs(«»)", "abs(<forbidden>)"),
        ("statement S: until(a(), b() and «»", "until(trigger, <resolver>, forbidden)"),
        ("statement S: bresp[«»", "bresp[<bound>](trigger, response)"),
        ("statement S: bresp[3«»](a(), b())", "bresp[<bound>](trigger, response)"),
        ("statement S: bresp[3](«»", "bresp[bound](<trigger>, response)"),
        ("statement S: bresp[3](a(), «»", "bresp[bound](trigger, <response>)"),
        ("statement S: atmost[3](«»", "atmost[bound](<counted>)"),
        ("statement S: prec(consumes(«»", "consumes(<x>, y)"),
        ('statement S: prec(consumes("a, b", «»), b())', "consumes(x, <y>)"),
        ("statement S: prec(consumes(x, y), «»)", "prec(trigger, <guard>)"),
        ("statement S: prec((not (a() and «»", "prec(<trigger>, guard)"),
        ("statement S: prec(unknown(«»", "prec(<trigger>, guard)"),
        ("statement S: prec(a in {«»", "prec(<trigger>, guard)"),
        ("statement S: abs(changes_like(«»", "changes_like(<glob>)"),
        ("statement S: abs(Bash(«»", "Bash(<command>, timeout, description)"),
        ('statement S: abs(Bash(command = "x", «»', "Bash(command, <timeout>, description)"),
        ("statement S: abs(Bash(description«»", "Bash(command, timeout, <description>)"),
        ("statement S: abs(file.edit(«»", "file.edit(<path>, text)"),
        ('statement S: abs("Bash"(«»', "Bash(<command>, timeout, description)"),
        ("statement S: prec(consumes(«» ), ] b", "consumes(<x>, y)"),
        ("@severity(«»\nstatement S: abs(a())", "@severity(<level>)"),
        ('@source("a.md", «»', "@source(file, <sentence>)"),
        ('@source("a«»', "@source(<file>, sentence)"),
        ('test "t" { run { Bash(«»', "Bash(<command>, timeout, description)"),
        ("statement S: abs(prec(«»", "abs(<forbidden>)"),
        ("«»", None),
        ("statement S: «»", None),
        ("statement S: abs(a())«»", None),
        ("statement S: abs(«»bare(", "abs(<forbidden>)"),
        ("statement S: abs(bare(«»", None),
        ("pattern q(«»", None),
        ("pattern q(x) = («»", None),
        ("statement S: abs( // a «»", None),
        ("@nothing(«»", None),
    ],
)
def test_what_is_called(text: str, told: str | None) -> None:
    assert _told(text) == told


def test_terms_are_told_of() -> None:
    consumes = _at("statement S: prec(consumes(«»")
    assert consumes is not None
    assert consumes.terms == (("x", "compared with `file_path`"), ("y", "a glob for `path`"))
    assert consumes.told == "Consumes `x` by way of `y`."
    handed = _at("statement S: prec(handed(«»")
    assert handed is not None
    assert handed.terms == (("z", "compared with `file_path`"),)
    bash = _at("statement S: abs(Bash(«»")
    assert bash is not None
    assert bash.terms[0] == ("command", '8 events, `git status`, `grep "a*b" src/x.py`')
    assert bash.told == "`Bash`\n\n8 events."
    prec = _at("statement S: prec(«»")
    assert prec is not None
    meaning = "```\nprec(ψ, ψ′) = □ (ψ ⇒ ◇⁻ψ′)\n```"
    assert prec.told == f"Whenever the trigger happens, the guard must have happened before.\n\n{meaning}"


def test_places_are_those_of_the_terms() -> None:
    for text in ("statement S: bresp[«»", "statement S: until(«»", "statement S: abs(Bash(«»", "@source(«»"):
        found = _at(text)
        assert found is not None
        assert [found.label[a:b] for a, b in found.places] == [term for term, _ in found.terms]


def test_an_action_of_which_nothing_is_known_leaves_the_form() -> None:
    found = _at("statement S: abs(Bash(«»", with_runs=False)
    assert found is not None
    assert found.label == "abs(forbidden)"


def test_no_place_makes_it_raise() -> None:
    text = (
        POLICY + 'statement S: bresp[3](consumes(x, "y"), Bash(command in {"a", b}) and ((not c)))\n@severity(error)\n'
    )
    for at in range(0, len(text) + 1, 3):
        signature_at(read(text), at, known())
        signature_at(read(text[:at]), at, known())


async def test_over_the_wire(session: Session) -> None:
    page = await session.open(
        '/// 𝔸.\npattern consumes(x, y) = a(b = x, c = y)\n\nstatement S: prec(a(t = "𝔸é"), consumes(x, «»'
    )
    answer = await page.ask(types.TEXT_DOCUMENT_SIGNATURE_HELP)
    assert isinstance(answer, types.SignatureHelp)
    assert (answer.active_signature, answer.active_parameter) == (0, 1)
    signature = answer.signatures[0]
    assert signature.label == "consumes(x, y)"
    assert signature.parameters is not None
    labels = [one.label for one in signature.parameters]
    assert [label if isinstance(label, str) else signature.label[slice(*label)] for label in labels] == ["x", "y"]
    told = signature.documentation
    assert (told if isinstance(told, str) else told and told.value) == "𝔸."
    page.change(page.spans[0][0], page.spans[0][0], "z))")
    assert await page.ask(types.TEXT_DOCUMENT_SIGNATURE_HELP, page.position(len(page.text))) is None
