"""Hover: what is said of each thing, with and without runs, and never as markup that somebody else wrote."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from markdown_it import MarkdownIt
from written import Project, shared

from tests.strategies import policies
from vigil_lang.diagnostics import Source, Span
from vigil_lang.trace import Signature
from vigil_lang.trace.samples import ActionSamples, ArgumentSamples, Samples
from vigil_lang.trace.signature import Action, Argument
from vigil_lsp.hovering.hover import hover_text
from vigil_lsp.hovering.target import HoverTarget
from vigil_lsp.markup import plain, prose
from vigil_lsp.names import Names
from vigil_lsp.operator_help import OPERATORS
from vigil_lsp.recordings.results import ItemResult, Judged, Placed, RunInfo, RunResults, StatementResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from lsp_session import Session

POLICY = """/// Rules of warps.
policy warps

use std.files: changes

let ACTS = {warp, "b c"}
let ALL = ACTS | {other}
param rate: number = 6

/// Uses `x`.
pattern uses(x) = action in ACTS and transform = x
pattern both(x) = uses(x) and not has odd

/// No use without a check.
@source("SKILL.md", "Check first.")
@severity(warning)
@on_violation(hold)
@message("`{x}` was used")
statement R0: prec(both(x), check(target = x))
statement R1: always (file.delete(path ~ "/etc/*") implies not earlier uses("M") or fps > rate)
statement R2: abs(changes("/x") and kind not in ALL) // vigil: ignore[VGL301] why
"""


def ask(
    folder: Path, where: str, text: str = POLICY, known: Callable[[str], RunResults] | None = None, **params: object
) -> tuple[str, str] | None:
    """What is said where the bar stands in a piece of the text, with the text it is said of."""
    before, _, after = where.partition("|")
    assert text.count(before + after) == 1, where
    project = Project(folder, {"p.vgl": text}, params)
    reading = project["p.vgl"]
    offset = text.index(before + after) + len(before)
    found = hover_text(HoverTarget(reading, offset, project.names, known(text) if known else None, folder="/w"))
    return None if found is None else (text[found.span.start : found.span.end], found.markdown)


R0 = """**`R0`** · warning · hold

No use without a check.

Whenever `both(x)` happens, `check(target = x)` must have happened before. This must hold for every value of `x`.

This can be prevented: refuse the call that meets `both(x)` and would violate it.

```
∀ x. □ both(x) ⇒ ◇⁻ check(target = x)
```

A violation says: `` `{x}` was used ``

It enforces `SKILL.md`: `Check first.`"""


def test_a_statement_and_its_form(tmp_path: Path) -> None:
    assert ask(tmp_path, "R|0: prec") == ("R0", R0)
    assert ask(tmp_path, "state|ment R0") == ("statement", R0)
    found = ask(tmp_path, "pr|ec(both")
    assert found is not None
    assert found[0] == "prec"
    assert found[1].startswith(R0)
    assert "prec(ψ, ψ′) = □ (ψ ⇒ ◇⁻ψ′)" in found[1]


def test_what_refusing_calls_can_do(tmp_path: Path) -> None:
    asked = ask(tmp_path, "statement A|B", 'statement AB: bresp[2](a(), b(status = ok, text = "`*x*`"))\n')
    assert asked is not None
    response = '``b(status = ok, text = "`*x*`")``'
    assert asked[1].split("\n\n")[2] == (
        f"This can be prevented only at its last chance: refuse every call but {response} once the bound has room for "
        f"one; nothing can make the agent do {response}; "
        f"it can be reported, not prevented: only the outcome of {response} tells."
    )
    unbreakable = ask(tmp_path, "statement A|B", "statement AB: abs(action in {})\n")
    assert unbreakable is not None
    assert "This can" not in unbreakable[1]


def test_patterns(tmp_path: Path) -> None:
    assert ask(tmp_path, "pattern us|es(x)") == (
        "uses",
        "```vigil\npattern uses(x) = action in ACTS and transform = x\n```\n\nUses `x`.",
    )
    assert ask(tmp_path, 'us|es("M")') == (
        "uses",
        "```vigil\npattern uses(x) = action in ACTS and transform = x\n```\n\nUses `x`.\n\nHere:\n\n"
        '```vigil\naction in ACTS and transform = "M"\n```',
    )
    assert ask(tmp_path, "bo|th(x), check") == (
        "both",
        "```vigil\npattern both(x) = uses(x) and not has odd\n```\n\nIn full:\n\n"
        "```vigil\n(action in ACTS and transform = x) and not has odd\n```",
    )
    found = ask(tmp_path, 'chan|ges("/x")')
    assert found is not None
    assert "From `std.files`." in found[1]
    assert '```vigil\naction in {file.write} and path = "/x"\n```' in found[1]


def test_values(tmp_path: Path) -> None:
    assert ask(tmp_path, "action in AC|TS") == ("ACTS", '```vigil\nlet ACTS = {warp, "b c"}\n```')
    assert ask(tmp_path, "not in A|LL") == (
        "ALL",
        "```vigil\nlet ALL = ACTS | {other}\n```\n\nIts value is {`b c`, `other`, `warp`}.",
    )
    assert ask(tmp_path, "fps > ra|te") == (
        "rate",
        "```vigil\nparam rate: number = 6\n```\n\nIts value is `6`, its default.",
    )
    found = ask(tmp_path, "fps > ra|te", rate=7)
    assert found is not None
    assert found[1].endswith("Its value is `7`, from `vigil.toml`.")


def test_variables_and_parameters(tmp_path: Path) -> None:
    assert ask(tmp_path, "target = |x") == (
        "x",
        "`x`: a value variable. It has the same value wherever it stands in the statement.\n\n"
        "- trigger `both(x)`: `transform = x`\n- guard `check(target = x)`: `target = x`",
    )
    assert ask(tmp_path, "`{|x}`") == ask(tmp_path, "target = |x")
    assert ask(tmp_path, "transform = |x") == ("x", "`x`: a parameter of the pattern `uses`.\n\n- `transform = x`")
    text = "pattern p = f = x\nstatement S: prec(p, a(g = x))\n"
    found = ask(tmp_path, "f = |x", text)
    assert found is not None
    assert "leaves it free" in found[1]


def test_words_and_marks(tmp_path: Path) -> None:
    found = ask(tmp_path, "kind no|t in")
    assert found is not None
    assert found[0] == "not in"
    assert "Of an argument that an event does not carry every test is false" in found[1]
    found = ask(tmp_path, "path |~")
    assert found is not None
    assert found[1].startswith("`~`: Some value of the field matches")
    assert "a glob matches the whole value".capitalize() in (ask(tmp_path, '"/e|tc/*"') or ("", ""))[1]
    assert "RE2" in (ask(tmp_path, "/a|b/", "statement S: abs(a(f ~ /ab/))\n") or ("", ""))[1]
    assert (ask(tmp_path, "@seve|rity") or ("", ""))[0] == "severity"
    assert (ask(tmp_path, "file.de|lete") or ("", ""))[1].startswith("`file.delete`: a file or a directory is removed.")
    assert (ask(tmp_path, "fp|s >") or ("", ""))[1].startswith("`fps`: an argument of the event.")
    assert (ask(tmp_path, "std.fi|les") or ("", ""))[1].startswith("**`std.files`**\n\nWhat happens to files")
    assert (ask(tmp_path, "policy wa|rps") or ("", ""))[1] == (
        "**`warps`** · 3 statements\n\nRules of warps.\n\nIt declares `ACTS`, `ALL`, `rate`, `uses`, `both`."
    )


def test_words_are_told_of_by_where_they_stand(tmp_path: Path) -> None:
    level = "@severity({})\nstatement S: abs(a(status = error))\n"
    assert ask(tmp_path, "(er|ror", level.format("error")) == (
        "error",
        "`error`: a violation is an error; so it is without this.",
    )
    assert ask(tmp_path, "hol|d") == ("hold", "`hold`: a gate asks somebody first.")
    assert ask(tmp_path, "= er|ror", level.format("info")) == ("error", "`error`: The event is known to have failed.")
    assert ask(tmp_path, "a(status |=", level.format("info")) == ("=", f"`=`: {OPERATORS['=']}")
    assert ask(tmp_path, ": se|t", "param s: set = {a}\n") == ("set", "A set of values.")
    assert ask(tmp_path, "num|ber") == ("number", "A number.")


def test_the_page_of_a_code(tmp_path: Path) -> None:
    found = ask(tmp_path, "ignore[VGL3|01]")
    assert found is not None
    assert found[0] == "VGL301"
    assert found[1].startswith("**VGL301** (warning): a value variable occurs only once\n\n")
    assert "## Why" in found[1]
    assert ask(tmp_path, "ign|ore[VGL301]") is None


def test_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert ask(tmp_path, "|\nuse std") is None
    assert ask(tmp_path, "prec(both(x)|,") is None
    assert ask(tmp_path, "/// Rules |of") is None
    assert ask(tmp_path, "let ACTS |=") is None
    assert ask(tmp_path, "uses(x) |=") is None
    assert ask(tmp_path, "number |=") is None
    assert ask(tmp_path, "o|k", "let A = ok\n") is None
    assert ask(tmp_path, "te|xt", "let A = {text}\n") is None


# --- with runs ---


def runs_know(text: str) -> RunResults:
    """Three runs of ten events, in which some things happen."""
    signature = Signature(
        {
            "warp": Action({"transform": Argument(frozenset({"text"}))}),
            "rm": Action({"path": Argument(frozenset({"text"}), many=True)}, frozenset({"file.delete"})),
        },
        "observed",
    )
    paths = ArgumentSamples(5, (("/etc/hosts", 3), ("/tmp/a`b", 2)))
    transforms = ArgumentSamples(4, (("M", 4),))
    rm = ActionSamples(5, {"path": paths})
    samples = Samples({"warp": ActionSamples(4, {"transform": transforms}), "rm": rm}, {"file.delete": rm})
    infos = tuple(RunInfo(f"runs/{n}.jsonl", "vigil", 10, str(n), f"runs/{n}.jsonl") for n in range(3))
    call = text.index('file.delete(path ~ "/etc/*")')
    test = text.index('path ~ "/etc/*"')
    body = text.index("action in ACTS and transform = x")
    counts = (
        (call, call + len('file.delete(path ~ "/etc/*")'), 3, 2),
        (test, test + len('path ~ "/etc/*"'), 3, 2),
        (body, body + len("action in ACTS and transform = x"), 1, 1),
    )
    broken = ("/w/runs/1.jsonl#a",)
    source = Source("work.vgl", text)
    judged = Judged(source.path, text, 1, (ItemResult(text, 0, counts),))
    statements = {"R0": StatementResult("R0", 3, broken, 2)}
    here = Placed(judged, source, [Span(0, len(text))])
    return RunResults(signature, samples, infos, stale=False, statements=statements, here=here)


def test_tool_definitions_alone_count_no_events(tmp_path: Path) -> None:
    def no_runs(text: str) -> RunResults:
        return replace(runs_know(text), runs=(), samples=Samples())

    def said(where: str) -> str:
        return (ask(tmp_path, where, known=no_runs) or ("", ""))[1]

    assert said("file.de|lete").startswith("`file.delete`: a file or a directory is removed.\n\n- `path`: ")
    assert "match" not in said("file.de|lete")
    assert "in the runs" not in said("transf|orm = x")


def test_what_the_runs_say(tmp_path: Path) -> None:
    def said(where: str) -> str:
        return (ask(tmp_path, where, known=runs_know) or ("", ""))[1]

    assert said("R|0: prec").endswith(
        "Violated in 1 of 3 runs · exercised in 2.\n\nIt is violated in `runs/1.jsonl#a`."
    )
    assert said("pattern us|es(x)").endswith("**1** of 30 events of the runs match in 1 run.")
    assert said("file.de|lete(").endswith("**3** of 30 events of the runs match in 2 runs.")
    assert "text; carried by `rm`. Some have several values of it." in said("pa|th ~")
    assert said("pa|th ~").endswith("**3** of 30 events of the runs match in 2 runs.")
    glob = said('"/e|tc/*"')
    assert "It matches, for example, `/etc/hosts`." in glob
    assert glob.endswith("**3** of 30 events of the runs match in 2 runs.")
    assert said("target = |x").endswith("Type: text.")


# --- text that others wrote ---

HOSTILE = "[x](http://a.b) <b>c</b> ![y](z) https://a.b www.a.b a@b.c `code` *d* _e_ # f | g &lt; ~h~ `` ` ``"


_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z]://|[Ww]{3}\.|(?<!\\)@")


def links(markdown: str) -> list[str]:
    """Everything in Markdown that is more than text, emphasis and code; also addresses that some readers link."""
    found = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    every = [*found, *(child for token in found for child in token.children or ())]
    active = ("link", "image", "html", "heading", "table", "em", "strong", "s_")
    return [t.type for t in every if t.type.startswith(active)] + _ADDRESS.findall(_CODE.sub("", markdown))


def test_documentation_is_only_text() -> None:
    assert links(HOSTILE) != []
    assert links(prose(HOSTILE)) == []
    assert plain(prose(HOSTILE)) == HOSTILE.replace("`code`", "code").replace("`` ` ``", "`")
    assert prose("- a\n1. b\n\x1b[0m") == "\\- a\n1\\. b\n\\\\x1b\\[0m"


@settings(deadline=None)
@given(st.text(alphabet="[]()<>!*_`#|&~:/.@ \nabwh\\-1", max_size=40))
def test_prose_never_links(text: str) -> None:
    assert links(prose(text)) == []


def test_a_policy_cannot_write_markup_into_a_hover(tmp_path: Path) -> None:
    text = f'/// {HOSTILE}\n@message("{HOSTILE}")\n@source("{HOSTILE}", "{HOSTILE}")\n'
    text += f'statement S: abs(a(f = "{HOSTILE}"))\n'
    for where in ("statement |S", "ab|s(a", '|a(f = "'):
        found = ask(tmp_path, where, text)
        assert found is not None
        assert set(links(found[1])) <= {"strong_open", "strong_close"}, found[1]  # those are the hover's own


@settings(deadline=None, max_examples=40)
@given(
    text=policies.policies(), cut=st.floats(0, 1), noise=st.sampled_from(("", "(", '"', "}", "@", "// vigil: [VGL301"))
)
def test_every_place_can_be_asked_about(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: float, noise: str
) -> None:
    at = int(cut * len(text))
    text = text[:at] + noise + text[at:]
    reading = Project(shared(tmp_path_factory), {"p.vgl": text})["p.vgl"]
    names = Names([reading])
    for offset in range(len(text) + 1):
        found = hover_text(HoverTarget(reading, offset, names))
        assert found is None or found.span.start <= offset <= found.span.end


# --- with a server ---


async def test_ranges_in_every_encoding(session: Session) -> None:
    page = await session.open('// 𝔸\npattern p(x) = a(f = "𝔸é", g = x)\nstatement S: prec(«»p(x), b(g = x))\n')
    found = await page.ask(types.TEXT_DOCUMENT_HOVER)
    assert page.part(found.range) == "p"
    assert 'pattern p(x) = a(f = "𝔸é", g = x)' in found.contents.value
    place = page.find("g = x)\n").start
    found = await page.ask(types.TEXT_DOCUMENT_HOVER, at=place)
    assert page.part(found.range) == "g"
    assert await page.ask(types.TEXT_DOCUMENT_HOVER, at=types.Position(0, 1)) is None


async def test_a_param_of_the_configuration(session: Session) -> None:
    session.write("vigil.toml", "[params]\nrate = 9\n")
    page = await session.open("param rate: number = 6\nstatement S: abs(a(f > «»rate))\n")
    found = await page.ask(types.TEXT_DOCUMENT_HOVER)
    assert found.contents.value.replace("`", "").endswith("Its value is 9, from vigil.toml.")


async def test_the_runs_of_the_workspace(session: Session) -> None:
    lines = [{"vigil_trace": 1}, {"action": "send", "args": {"to": "ann"}}, {"action": "ask", "args": {"of": "ann"}}]
    session.write("r.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    session.write("vigil.toml", 'runs = ["r.jsonl"]\n')
    page = await session.open("// 𝔸\nstatement S: prec(«»send(to = x), ask(of = x))\n")

    async def said() -> str:
        found = await page.ask(types.TEXT_DOCUMENT_HOVER)
        text: str = found.contents.value
        return text.replace("*", "")

    for _ in range(300):
        if "1 of 2 events" in await said():
            break
        await asyncio.sleep(0.1)
    assert (await said()).endswith("1 of 2 events of the runs match in 1 run.")
    found = await page.ask(types.TEXT_DOCUMENT_HOVER, at=page.find("S:").start)
    assert "Violated in 1 of 1 run" in found.contents.value
