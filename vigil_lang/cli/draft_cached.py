"""`vigil draft --cached`: the answers that are stored, so that people can look at them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.output import console
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.diagnostics.visible import safe_json, shown_path, visible
from vigil_lang.draft.store import every

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.draft.store import Found

_SCHEMA = "vigil.stored-drafts/1"


def show_stored(format: str) -> int:  # noqa: A002 - the option's name
    """Write what is stored, the newest first: for people, or as one object of JSON."""
    found = every()
    if format == "json":
        click.echo(safe_json({"schema": _SCHEMA, "drafts": [_object(one) for one in found]}))
        return CLEAN
    screen = console()
    if not found:
        screen.print(Text("no answers are stored"))
    for at, one in enumerate(found):
        if at:
            screen.print(Text())
        for line in _lines(one, screen.width):
            screen.print(line)
    return CLEAN


def _lines(one: Found, width: int) -> Iterator[Text]:
    stored = one.stored
    effort = f", effort {visible(stored.made_of.effort)}" if stored.made_of.effort else ""
    when = stored.made[:16].replace("T", " ")
    documents = middle(", ".join(stored.documents) or "unnamed documents", max(width - 24, 20))
    yield Text.assemble((visible(when), "dim"), "  ", (documents, "bold"))
    told = ", ".join(f"{number} {word}" for word, number in _counts(one).items())
    yield Text(f"  {visible(stored.made_of.model)}{effort} · {told}{_cost(one)}")
    yield Text(f"  {shown_path(str(one.path))}", "dim")


def _counts(one: Found) -> dict[str, int]:
    """How many clauses came out how, in words."""
    counted = Counter(answer.outcome.replace("_", " ") for answer in one.stored.answers)
    words = {"statements": "with statements", "unsupported": "unsupported", "not normative": "not normative"}
    found = {said: counted[word] for word, said in words.items() if counted[word]}
    if one.stored.left:
        found["without an answer"] = len(one.stored.left)
    return found


def _cost(one: Found) -> str:
    cost = one.stored.spent.cost
    return "" if cost is None else f" · ${cost:.4f}"


def _object(one: Found) -> dict[str, Any]:
    stored = one.stored
    return {
        "file": str(one.path),
        "made": stored.made,
        "model": stored.made_of.model,
        "effort": stored.made_of.effort,
        "documents": stored.documents,
        "clauses": len(stored.answers) + len(stored.left),
        "answered": len(stored.answers),
        "cost_usd": None if stored.spent.cost is None else round(stored.spent.cost, 6),
    }
