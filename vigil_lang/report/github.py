"""GitHub's workflow commands: annotations at the lines of a pull request, as many as GitHub shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import SEVERITIES
from vigil_lang.diagnostics.log import harmless
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible
from vigil_lang.report.content import by_severity

if TYPE_CHECKING:
    from vigil_lang.report.content import Report, Result

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
# What GitHub shows of each command in one step.
_SHOWN = 10
_LONGEST = 4_000


def render(report: Report) -> str:
    """A command a line, the most severe first.

    What is beyond GitHub's limits follows as plain lines of the log, and a notice says how many those are.
    """
    shown, rest = _shared(by_severity(report.counted))
    lines = [_annotation(report, result) for result in shown]
    if rest:
        some = f"{len(rest)} more {'finding' if len(rest) == 1 else 'findings'}"
        lines.append(_command("notice", f"{some}: see the log and the summary of this job", title="vigil"))
        lines += [_plain(report, result) for result in rest]
    return "".join(f"{line}\n" for line in lines)


def _shared(results: list[Result]) -> tuple[list[Result], list[Result]]:
    """The results to annotate and the others; where there are others, a notice is kept for saying so."""
    of_level = {level: [result for result in results if result.level == level] for level in SEVERITIES}
    limits = dict.fromkeys(SEVERITIES, _SHOWN)
    if any(len(found) > _SHOWN for found in of_level.values()):
        limits["info"] = _SHOWN - 1
    shown = [result for level in SEVERITIES for result in of_level[level][: limits[level]]]
    return shown, [result for level in SEVERITIES for result in of_level[level][limits[level] :]]


def _annotation(report: Report, result: Result) -> str:
    found = result.place.range()
    where: dict[str, str] = {"file": visible(report.places.in_root(result.place.path))}
    if result.place.line is not None:
        where["line"] = str(result.place.line)
    if found is not None:
        (line, column), (end_line, end_column) = found
        where["endLine"] = str(end_line)
        if line == end_line:  # GitHub has no columns for what spans lines
            where |= {"col": str(column), "endColumn": str(end_column)}
    text = visible(result.message)
    if result.help:
        text += "\n" + visible(result.help)
    return _command(_COMMANDS[result.level], text, **where, title=_title(result))


def _title(result: Result) -> str:
    return visible(f"{result.subject} is violated" if result.subject else f"{result.rule.id}: {result.rule.summary}")


def _command(name: str, text: str, **properties: str) -> str:
    """`::name key=value,…::text`, which the runner takes apart again into just these."""
    given = ",".join(f"{key}={_property(cut(value, _LONGEST))}" for key, value in properties.items())
    return f"::{name} {given}::{_data(cut(text, _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plain(report: Report, result: Result) -> str:
    path = report.places.in_root(result.place.path)
    return harmless(visible(f"{path}:{result.place.line or 1}: {result.rule.id} {result.message}"))
