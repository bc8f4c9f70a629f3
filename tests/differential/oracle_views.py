"""Views of a field as the language's definition has them (spec 7.12), for the oracle."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.differential.oracle_texts import canonical, flattened, unescaped

if TYPE_CHECKING:
    from vigil_lang.syntax import tree


def viewed(views: tuple[tree.View, ...], texts: list[str]) -> list[str]:
    """A field's texts through its views, from left to right."""
    for view in views:
        counts = view.name.text == "count"
        texts = [str(len(texts))] if counts else [made for text in texts for made in one(view, text)]
    return texts


def one(view: tree.View, text: str) -> list[str]:
    """What a view makes of one text."""
    path = re.split(r"[/\\]", text)
    match view.name.text:
        case "lower":
            return [text.lower()]
        case "length":
            return [str(len(text))]
        case "host":
            return host(text.strip())
        case "base":
            return [next((part for part in reversed(path) if part), "")]
        case "dir":
            return [directory(text.replace("\\", "/"))]
        case "ext":
            stem, dot, last = path[-1].rpartition(".")
            return [last] if dot and stem else []
        case "json":
            return selected(text, unescaped(view.argument.raw))
        case "find":
            return [m[1] if m.re.groups else m[0] for m in regex(view.argument).finditer(text) if not groupless(m)]
        case "without":
            return [regex(view.argument).sub("", text)]
    raise AssertionError(view)


def groupless(match: re.Match[str]) -> bool:
    """Whether its first group took no part."""
    return bool(match.re.groups) and match[1] is None


def regex(written: tree.Regex) -> re.Pattern[str]:
    # A letter of `\w` is one of ASCII, as RE2 has it.
    raw = written.raw.replace("\\/", "/").replace("\\w", "(?-i:[0-9A-Za-z_])")
    return re.compile(raw, re.IGNORECASE if written.ignore_case else 0)


def host(text: str) -> list[str]:
    """The host of `scheme://user@host:port/…`, as browsers read it, of `user@host:path`, or of `name@host`."""
    text = re.sub(r"[\t\n\r]", "", text).strip()
    known = re.match(r"(?ai)(?:http|https|ws|wss|ftp):[/\\]*([^/?#\\]*)", text)
    if url := known or re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\][/\\]([^/?#\\]*)", text):
        authority = url[1].split("@")[-1]
        found = authority[1:].split("]")[0] if "[" in authority[:1] and "]" in authority else authority.split(":")[0]
    elif (scp := re.match(r"[^@/:\s]+@([^:/\s]+):", text)) or (scp := re.fullmatch(r"[^@\s]+@([^@\s/:]+)", text)):
        found = scp[1]
    else:
        return []
    found = found.rstrip(".").lower()
    return [found] if found else []


def directory(path: str) -> str:
    """All before the last part: `/` of what stands in the root, `.` of a name alone."""
    *folders, _ = path.rstrip("/").split("/")
    return "/".join(folders) or ("/" if path[:1] == "/" else ".")


# --- JSON ---


def parsed(text: str) -> list[Any]:
    """The JSON value in a list; nothing where the text is none."""

    try:
        return [json.loads(text.removeprefix("\ufeff"), parse_float=Decimal, parse_constant=lambda _: None)]
    except ValueError:
        return []


def entry(text: str) -> dict[str, list[str]] | None:
    """The members of an object as arguments."""
    found = parsed(text)
    if not found or not isinstance(found[0], dict):
        return None
    return {name[1:]: texts for name, texts in flattened("", found[0]).items()}


def selected(text: str, path: str) -> list[str]:
    """The texts at a path: `a.b`, `a[0]`, `a[*].b`, `["odd name"]`; of a list its elements."""
    found = parsed(text)
    for name, place, quoted in re.findall(r'([^.\[\]]+)|\[(\*|\d+)\]|\["([^"]*)"\]', path):
        step = name or quoted
        if step:
            found = [value[step] for value in found if isinstance(value, dict) and step in value]
            continue
        lists = [value for value in found if isinstance(value, list)]
        found = [v for value in lists for v in (value if place == "*" else value[int(place) : int(place) + 1])]
    spread = [v for value in found for v in (value if isinstance(value, list) else [value])]
    return [compact(v) if isinstance(v, dict | list) else canonical(v) for v in spread if v is not None]


def compact(value: Any) -> str:
    """JSON without white space."""
    match value:
        case dict():
            return "{" + ",".join(f"{compact(k)}:{compact(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(compact, value)) + "]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
