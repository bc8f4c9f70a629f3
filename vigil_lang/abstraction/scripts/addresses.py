"""The addresses of requests: what a client puts before a relative one, and which of them name no machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from vigil_lang.abstraction.catalogue.values import host_of_beginning, is_nowhere
from vigil_lang.abstraction.scripts.values import MAX_STRING, Base, Mapping, Ref, Thing, is_literal, part, text_of

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.draft import Draft
    from vigil_lang.abstraction.scripts.libraries import Entry
    from vigil_lang.abstraction.scripts.site import Arguments
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Value

_WHOLE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[\\/]{2}|[^\x21-\x7e]|.*\\")
"""What a client may take for the beginning of a whole address, or read in another way than it is written."""

_SETTLED = re.compile(r"/[^/\\$]|[^/\\:$?#]+[/?#]|[?#]")
"""The beginning of an address that is relative, whatever follows."""

_KEYWORDS = re.compile(r"\s*[a-z_]+\s*=")
_HOST = re.compile(r"(?:^|\s)host(?:addr)?\s*=\s*'?([^\s',]+)")

URL = "URL"
ITSELF = "="
"""The `base` of an attribute: it is what the attribute is set to."""


def base_of(run: Run, entry: Entry, this: Thing | None, given: Arguments) -> Base | None:
    """What is put before relative addresses by a call, and by what the call makes; None where there is no such thing.

    It is what the call is given, or its object has, or has been set for the whole library.
    """
    before = this.base if this is not None else run.bases.get(entry.name.partition(".")[0])
    for each in entry.base.split():
        name, _, how = each.partition(":")
        value, unknown = _argument(entry, name, given)
        if value is not None or unknown:
            return Base(_address(value), how or "append")
    return Base(before.address, before.joined) if before is not None else Base("", "append") if entry.base else None


def _argument(entry: Entry, name: str, given: Arguments) -> tuple[Value, bool]:
    """An argument, or a member of one, by name; and whether it cannot be told if there is such a one."""
    name, _, member = name.partition(".")
    names = list(dict.fromkeys(each.partition(".")[0] for each, _ in entry.args))
    value = given.get(names.index(name) if name in names else -1, name)
    if not member or value is None:
        return value, value is None and given.more
    if not isinstance(value, Mapping):
        return None, not is_literal(value)
    return value.items.get(member), member not in value.items and value.open


def _address(value: Value) -> str | None:
    """A whole address; None for what is not known, or is itself below another."""
    text = text_of(value)
    return text if text is not None and _WHOLE.match(text) else None


def set_attribute(run: Run, holder: Ref | Thing, name: str, value: Value) -> None:
    """An attribute of a library, a client or an address is set: `axios.defaults.baseURL = "https://a.example"`."""
    entry = run.library.find(run.library.canonical(f"{holder.name}.{name}")) if holder.name else None
    if isinstance(holder, Thing) and holder.name == URL:
        holder.text = holder.shape = None
    if isinstance(holder, Thing) and holder.request is not None:
        holder.request.set(name, value, certain=run.certain)
        run.changes += 1
    if entry is None or entry.base != ITSELF:
        return
    address = _address(value) if run.certain else None
    if isinstance(holder, Ref):
        run.bases[holder.name.partition(".")[0]] = Base(address, "append")
    elif holder.base is not None:
        holder.base.address = address


def parsed(text: str | None) -> Thing | None:
    """A `URL` of JavaScript: parts of it can be set."""
    if text is None or "*" in text or not _WHOLE.match(text):
        return None
    return Thing(name=URL, text=text if host_of_beginning(text) else f"{text}/")


def url_attribute(url: Thing, name: str) -> Value:
    """An attribute of a `URL`; what is done with its parameters changes its query."""
    if url.text is None or name not in ("href", "searchParams"):
        return part(url, f".{name}")
    if name == "href":
        return url.text
    url.shape = url.text.partition("#")[0].partition("?")[0] + "${__query}"
    url.text = None
    return part(url, f".{name}")


def place(draft: Draft, base: Base | None) -> None:
    """Gives a request the whole of its address, or says that its machine is not known."""
    found: list[str] = []
    for text in draft.roles.get("url", ()):
        if "net.connect" in draft.kinds and _KEYWORDS.match(text):  # "dbname=x host=db.example"
            draft.roles["host"] = (*draft.roles.get("host", ()), *_HOST.findall(text))
            continue
        whole = joined(base, text.strip())
        found += [text] if whole is None else [whole]
        if whole is None:
            draft.unresolved["host"] = None
            if _WHOLE.match(text):  # some versions of a client take it as it is, and some put the base before it
                draft.unresolved["url"] = None
                found.pop()
    if draft.address is not None and (host := _host_of_shape(base, draft.address)):
        draft.roles["host"] = (host,)
    if found:
        draft.roles["url"] = tuple(found)
    else:
        draft.roles.pop("url", None)


def _host_of_shape(base: Base | None, shape: str) -> str | None:
    """The machine of an address of which only the beginning is known: `https://a.example/${page}`."""
    if not _WHOLE.match(shape) and not _SETTLED.match(shape):
        return None
    return host_of_beginning(joined(base, shape) or "")


def joined(base: Base | None, text: str) -> str | None:
    """The whole address that is meant by one; None where that is not known."""
    if text and is_nowhere(text):
        return text
    if _WHOLE.match(text):
        return None if base is not None and base.joined == "prefix" and base.address != "" else text
    if base is None or not base.address or len(text) + len(base.address) > MAX_STRING:
        return None
    if base.joined == "resolve" and text[:2] == "//" and _WHOLE.match(f"x:{text}"):
        return _resolved(base.address, text)
    if _SCHEME.match(text):
        return None
    if base.joined == "resolve":
        return _resolved(base.address, text)
    return f"{base.address.rstrip('/')}/{text.lstrip('/')}" if text else base.address


def _resolved(base: str, text: str) -> str | None:
    try:
        return urljoin(base, text)
    except ValueError:
        return None
