"""Scans as Markdown, CSV, and one page of HTML with its plots: the same whenever made, and no script in them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import polars as pl

from vigil_lang.corpus.figures import Figures, Row, day_text
from vigil_lang.diagnostics.visible import visible
from vigil_lang.report.markdown import cell

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS: Final = 200
_GROUPS: Final = 400


def share(part: int, whole: int) -> str:
    """A part as a percentage: `0 %` and `100 %` only where it is none and all."""
    if not part or not whole:
        return "0 %"
    percent = 100 * part / whole
    if part == whole:
        return "100 %"
    return "<0.1 %" if percent < 0.1 else f"{min(percent, 99.9):.1f} %"


def many(number: int, noun: str) -> str:
    """`1 run`, `2,000 runs`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def headline(found: Figures) -> str:
    """`1,200 runs · 48,000 events · 31 runs unsafe (2.6 %)`."""
    facts = [many(found.runs, "run"), many(found.events, "event")]
    facts.append(
        f"{many(found.unsafe, 'run')} unsafe ({share(found.unsafe, found.runs)})" if found.unsafe else "all safe"
    )
    if found.unreadable:
        facts.append(f"{len(found.unreadable):,} not readable")
    if found.interrupted:
        facts.append("interrupted")
    return " · ".join(facts)


def as_csv(found: Figures) -> str:
    """A line for each event at fault."""
    return table(found).write_csv()


def table(found: Figures) -> pl.DataFrame:
    """The same as columns: times as ISO 8601."""
    times = pl.Series("time", [None if t is None else _time(t) for t in found.violations["time"]], dtype=pl.String)
    return found.violations.with_columns(times)


def _time(time: int) -> str:
    from vigil_lang.trace.values import time_text

    return time_text(time)


def as_markdown(found: Figures) -> str:
    """Tables of the statements and of the groups."""
    lines = [f"**{headline(found)}**", "", "| statement | runs violated | | events | vacuous | first | last |"]
    lines.append("|---|--:|--:|--:|--:|---|---|")
    for row in found.rows:
        first, last = _seen(row)
        lines.append(
            f"| {cell(row.name)} | {row.violated:,} | {share(row.violated, found.runs)} | {row.events:,} | "
            f"{row.vacuous:,} | {first} | {last} |"
        )
    broken = [row for row in found.rows if row.violated]
    if broken and len(found.groups) > 1:
        lines += ["", f"| {cell(found.by)} | runs | {' | '.join(cell(row.name) for row in broken)} |"]
        lines.append(f"|---|--:|{'--:|' * len(broken)}")
        for group, runs in list(found.groups.items())[-_ROWS:]:
            counts = " | ".join(f"{row.groups.get(group, 0):,}" for row in broken)
            lines.append(f"| {cell(group)} | {runs:,} | {counts} |")
    return "\n".join(lines) + "\n"


def _seen(row: Row) -> tuple[str, str]:
    return ("" if row.first is None else day_text(row.first), "" if row.last is None else day_text(row.last))


# --- the page ------------------------------------------------------------------------------------------------------

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#667085;--line:#d8dde6;--paper:#fff;--bad:#c0362c;--cell:192,54,44}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#97a1b3;--line:#333b49;--paper:#14181f;--bad:#ff7a6b;
--cell:255,122,107}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;
max-width:1100px;padding:24px}h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 8px}
p{margin:4px 0;color:var(--soft)}table{border-collapse:collapse;width:100%}.wide{overflow-x:auto}
th,td{padding:5px 10px 5px 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--soft)}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.bad{color:var(--bad);font-weight:600}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
svg{display:block;max-width:none}svg text{fill:var(--soft);font:11px system-ui,sans-serif}
.bar{fill:var(--line)}.part{fill:var(--bad)}.cell{fill:rgb(var(--cell));stroke:var(--line);stroke-width:.5}
"""


def as_html(found: Figures, title: str) -> str:
    """One page that needs nothing else: the table, the trend, and the heat map of statements and groups."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{_text(title)}</h1><p>{_text(headline(found))}</p>",
            *_statements(found),
            *_trend(found),
            *_heat(found),
            *_listed(found),
            "</body></html>",
            "",
        ]
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _statements(found: Figures) -> Iterator[str]:
    yield "<h2>Statements</h2><div class=wide><table><thead><tr><th>statement</th><th class=n>runs violated</th>"
    yield "<th class=n>share</th><th class=n>events</th><th class=n>vacuous</th><th>first</th><th>last</th></tr>"
    yield "</thead>"
    yield "<tbody>"
    for row in found.rows:
        first, last = _seen(row)
        style = " class=bad" if row.violated else ""
        unjudged = f" <span class=bad>({many(row.unjudged, 'run')} not judged)</span>" if row.unjudged else ""
        yield (
            f"<tr><td><span{style}>{_text(row.name)}</span>{unjudged}<br><small>{_text(row.doc)}</small></td>"
            f"<td class=n>{row.violated:,}</td><td class=n>{share(row.violated, found.runs)}</td>"
            f"<td class=n>{row.events:,}</td><td class=n>{row.vacuous:,}</td><td>{first}</td><td>{last}</td></tr>"
        )
    yield "</tbody></table></div>"


def _trend(found: Figures) -> Iterator[str]:
    """Bars of the runs of each group, with those that are unsafe."""
    groups = list(found.groups.items())[-_GROUPS:]
    if len(groups) < 2:
        return
    unsafe = dict(found.violations.select("run", "group").unique().group_by("group").len().iter_rows())
    wide = max(6, min(48, 1000 // len(groups)))
    high, most = 120, max(runs for _, runs in groups)
    yield f"<h2>Trend by {_text(found.by)}</h2><p>Runs, and in colour those that violate something.</p><div class=wide>"
    yield _svg(wide * len(groups) + 60, high + 40, f"runs and unsafe runs by {found.by}")
    for at, (group, runs) in enumerate(groups):
        for kind, number in (("bar", runs), ("part", unsafe.get(group, 0))):
            size = high * number / most
            yield (
                f'<rect class="{kind}" x="{at * wide + 1}" y="{high - size + 4:.1f}" width="{wide - 2}" '
                f'height="{size:.1f}">'
                f"<title>{_text(group)}: {many(runs, 'run')}, {unsafe.get(group, 0):,} unsafe</title></rect>"
            )
    yield from _labels(groups, wide, 0, high + 18)
    yield "</svg></div>"


def _svg(width: int, height: int, label: str) -> str:
    return f'<svg width="{width}" height="{height}" role="img" aria-label="{_text(label)}">'


def _labels(groups: list[tuple[str, int]], wide: int, left: int, at: int) -> Iterator[str]:
    """Names of groups below a plot, as many as have room."""
    step = max(1, -(-90 // wide))
    for number, (group, _) in enumerate(groups):
        if number % step == 0:
            yield f'<text x="{left + number * wide}" y="{at}">{_text(group[:24])}</text>'


def _heat(found: Figures) -> Iterator[str]:
    """The share of runs that violate each statement, by group."""
    groups = list(found.groups.items())[-_GROUPS:]
    broken = [row for row in found.rows if row.violated]
    if not broken or len(groups) < 2:
        return
    wide, high, left = max(6, min(48, 800 // len(groups))), 22, 220
    yield f"<h2>Statement × {_text(found.by)}</h2><p>The darker, the larger the share of the runs that violate it.</p>"
    yield "<div class=wide>"
    label = f"share of runs that violate each statement by {found.by}"
    yield _svg(left + wide * len(groups) + 60, high * len(broken) + 30, label)
    for line, row in enumerate(broken):
        yield f'<text x="0" y="{line * high + 15}">{_text(row.name[:34])}</text>'
        for at, (group, runs) in enumerate(groups):
            part = row.groups.get(group, 0)
            depth = 0 if not part else 0.15 + 0.85 * part / runs
            yield (
                f'<rect class="cell" fill-opacity="{depth:.2f}" x="{left + at * wide}" y="{line * high + 2}" '
                f'width="{wide}" height="{high - 2}">'
                f"<title>{_text(row.name)} · {_text(group)}: {part:,} of {many(runs, 'run')}</title></rect>"
            )
    yield from _labels(groups, wide, left, high * len(broken) + 18)
    yield "</svg></div>"


def _listed(found: Figures) -> Iterator[str]:
    """The violations, as far as there is room."""
    if not found.violations.height:
        return
    yield "<h2>Violations</h2><div class=wide><table>"
    yield "<thead><tr><th>run</th><th>statement</th><th>events</th></tr></thead>"
    yield "<tbody>"
    for number, one in enumerate(found.by_run()):
        if number == _ROWS:
            rest = found.violations.select("run", "name").n_unique() - _ROWS
            yield f"<tr><td colspan=3>and {rest:,} more</td></tr>"
            break
        events = ", ".join(one["events"][:20]) + (", …" if len(one["events"]) > 20 else "")
        yield (
            f"<tr><td><code>{_text(one['run'])}</code></td><td>{_text(one['name'])}</td>"
            f"<td><code>{_text(events)}</code></td></tr>"
        )
    yield "</tbody></table></div>"
