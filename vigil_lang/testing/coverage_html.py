"""Coverage as one self-contained page: no script, nothing loaded, readable by keyboard and in the dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.testing.coverage_report import missing_words, percent, shortened
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.testing.coverage import Coverage, FileCoverage, Part

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --dim: #59636e; --line: #d1d9e0; --link: #0550ae;
  --seen: #dafbe1; --part: #fff1c2; --miss: #ffdcd7; --edge: #b3261e; --warn: #7d5300; --good: #116329; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #3d444d;
  --link: #79b8ff; --seen: #12361f; --part: #453a0c; --miss: #541d18; --edge: #ff9c8f; --warn: #e3b341;
  --good: #56d364; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; overflow-wrap: anywhere; }
a { color: var(--link); } .dim { color: var(--dim); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .75rem .3rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.path { overflow-wrap: anywhere; }
meter { width: 8rem; max-width: 100%; }
code, pre { font: .85rem/1.6 ui-monospace, monospace; }
.source { display: flex; margin-top: 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; }
.source pre { margin: 0; padding: .75rem; }
.source pre.lines { text-align: right; color: var(--dim); border-right: 1px solid var(--line); user-select: none; }
.source pre.text { flex: 1; tab-size: 4; padding-bottom: 3rem; }
.seen { background: var(--seen); } .part { background: var(--part); } .miss { background: var(--miss); }
.part, .miss { border-bottom: 2px dashed var(--warn); position: relative; border-radius: 2px; }
.miss { border-bottom: 2px solid var(--edge); }
[data-told]:focus::after { content: attr(data-told); position: absolute; left: 0; top: 1.7em; z-index: 1;
  padding: .1rem .5rem; border-radius: 4px; background: var(--text); color: var(--back); white-space: nowrap;
  font-family: system-ui, sans-serif; }
:focus-visible, :target { outline: 2px solid var(--link); outline-offset: 1px; }
.full { color: var(--good); } .low { color: var(--edge); } .some { color: var(--warn); }
.key span { padding: 0 .4rem; margin-right: .75rem; }
"""


def coverage_html(coverage: Coverage) -> str:
    """The whole page as HTML; every text from a policy is escaped."""
    seen, wanted = coverage.counted
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Policy coverage: {percent(coverage.percent)}</title>",
            f"<style>{_STYLE}</style></head><body>",
            f"<header><h1>Policy coverage: {percent(coverage.percent)}</h1>",
            f'<p class="dim">{seen} of {wanted} things that tests can show of these policies are shown. '
            "A statement should be satisfied by a run that puts it to the test, and violated; a condition and each of "
            "its alternatives should be true and false; each of several conditions joined by <code>and</code> should "
            "be the one that fails.</p>",
            "" if coverage.complete else "<p>The runs are too long to look at all of their events.</p>",
            '<p class="key"><span class="seen">shown</span><span class="part">shown in part</span>'
            '<span class="miss">not shown</span></p></header>',
            "<main>",
            *_summary(coverage),
            *(line for number, file in enumerate(coverage.files, start=1) for line in _file(file, number)),
            "</main>",
            f'<footer><p class="dim">vigil {escape(__version__)}</p></footer></body></html>',
            "",
        ]
    )


def _summary(coverage: Coverage) -> Iterator[str]:
    yield '<table><thead><tr><th scope="col">File</th><th scope="col" class="number">Statements</th>'
    yield '<th scope="col" class="number">Conditions</th><th scope="col" class="number">Coverage</th>'
    yield '<th scope="col"><span class="dim">Share</span></th></tr></thead><tbody>'
    for number, file in enumerate(coverage.files, start=1):
        statements = _counted([p for p in file.parts if p.kind == "statement"])
        conditions = _counted([p for p in file.parts if p.kind != "statement"])
        path = escape(shown_path(file.source.path))
        yield f'<tr><td class="path"><a href="#f{number}">{path}</a></td><td class="number">{statements}</td>'
        yield f'<td class="number">{conditions}</td>'
        yield f'<td class="number {_grade(file.percent)}">{percent(file.percent)}</td>'
        share = f'max="100" value="{int(file.percent)}" aria-label="coverage of {path}"'
        yield f"<td><meter {share}>{percent(file.percent)}</meter></td></tr>"
    yield "</tbody></table>"


def _counted(parts: list[Part]) -> str:
    wanted = sum(len(p.wanted) for p in parts)
    return f"{wanted - sum(len(p.missing) for p in parts)}/{wanted}"


def _grade(share: float) -> str:
    return "full" if share >= 100 else "some" if share >= 50 else "low"


def _file(file: FileCoverage, number: int) -> Iterator[str]:
    yield f'<section aria-labelledby="f{number}"><h2 id="f{number}">{escape(shown_path(file.source.path))} '
    yield f'<span class="{_grade(file.percent)}">{percent(file.percent)}</span></h2>'
    missing = [(at, part) for at, part in enumerate(file.parts) if part.missing]
    if missing:
        yield '<table><thead><tr><th scope="col">Place</th><th scope="col">Part</th><th scope="col">Not shown</th>'
        yield "</tr></thead><tbody>"
        for at, part in missing:
            line, column = file.source.position(part.span.start)
            yield f'<tr><td><a href="#f{number}p{at}">{line}:{column}</a></td>'
            yield f"<td><code>{escape(shortened(part.text, 80))}</code></td><td>{escape(missing_words(part))}</td></tr>"
        yield "</tbody></table>"
    text = file.source.text
    count = text.count("\n") + (not text.endswith("\n"))
    lines = "\n".join(map(str, range(1, count + 1)))
    label = f"source of {escape(shown_path(file.source.path))}"
    yield f'<div class="source" role="region" tabindex="0" aria-label="{label}">'
    yield f'<pre class="lines" aria-hidden="true">{lines}</pre>'
    yield f'<pre class="text">{"".join(_source(file, number))}</pre></div></section>'


def _source(file: FileCoverage, number: int) -> Iterator[str]:
    """The text with its parts marked; parts lie within each other as conditions do."""
    text, at = file.source.text, 0
    open_ends: list[int] = []
    for index, part in enumerate(file.parts):
        while open_ends and open_ends[-1] <= part.span.start:
            end = open_ends.pop()
            yield _shown(text[at:end]) + "</span>"
            at = end
        if part.span.start < at or (open_ends and part.span.end > open_ends[-1]):
            continue
        yield _shown(text[at : part.span.start]) + _opening(part, f"f{number}p{index}")
        at = part.span.start
        open_ends.append(part.span.end)
    for end in reversed(open_ends):
        yield _shown(text[at:end]) + "</span>"
        at = end
    yield _shown(text[at:])


def _opening(part: Part, anchor: str) -> str:
    if not part.missing:
        return f'<span class="seen" title="{escape(_seen_words(part))}">'
    kind = "part" if part.seen else "miss"
    told = escape(missing_words(part))
    return f'<span class="{kind}" id="{anchor}" tabindex="0" title="{told}" data-told="{told}">'


def _seen_words(part: Part) -> str:
    words = ["false while everything beside it is true" if seen == "decides" else seen for seen in part.seen]
    return f"{part.kind}: seen {' and '.join(words)}"


def _shown(text: str) -> str:
    """Text of a policy: escaped for HTML, and with what hides or reorders text written out."""
    return escape("\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n")))
