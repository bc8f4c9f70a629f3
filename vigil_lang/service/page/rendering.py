"""Pages from templates: every text is escaped with its hidden characters made visible, under a strict policy."""

from __future__ import annotations

import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from vigil_lang.diagnostics.secrets import has_masked, masked
from vigil_lang.diagnostics.shorten import after, before
from vigil_lang.diagnostics.visible import pieces
from vigil_lang.gate.hold_words import seconds_text
from vigil_lang.gate.log.log import text_of
from vigil_lang.service.auth import csrf
from vigil_lang.service.edge import SHOWN
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",  # with no-referrer a browser sends forms with `Origin: null`
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": (
        "camera=(), geolocation=(), microphone=(), "
        "publickey-credentials-create=(self), publickey-credentials-get=(self)"
    ),
}
"""What every answer of the page says of itself; pages are also not stored."""

LONGEST = 2000
"""Characters of a text that are shown where a template does not say how many."""

_HERE = Path(__file__).parent
_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page from a template; `request.state.principal` is who signed in, where somebody did."""
    principal = getattr(request.state, "principal", None)
    address = request.url.path + (f"?{request.url.query}&" if request.url.query else "?") + SHOWN.decode()
    values = {
        "here": request.url.path,
        "unmasked": address,
        "now": int(time.time()),
        "title": "",
        "csrf": csrf.token(request),
        **values,
    }
    text = _environment().get_template(template).render(principal=principal, **values)
    return HTMLResponse(text, status, HEADERS | {"Cache-Control": "no-store"})


def static(name: str) -> Response:
    """A file of the page, which is never another under the same address.

    Raises:
        Refused: 404, there is none.
    """
    known = _TYPES.get(name)
    if known is None:
        raise Refused(404, "not_found", "there is no such file")
    headers = HEADERS | {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_file(name), headers=headers, media_type=known)


def shown(text: object, most: int = LONGEST) -> Markup:
    """A text as it can be shown anywhere in a page: on one line, with its hidden characters written out and marked.

    Beyond so many characters its middle is left out.
    """
    given = masked(str(text))
    if len(given) > most:
        first, last = before(given, most * 2 // 3), after(given, len(given) - most // 3)
        told = Markup('<span class="cut">… {:,} characters …</span>').format(last - first)
        return _marked(given[:first]) + told + _marked(given[last:])
    return _marked(given)


def _marked(text: str) -> Markup:
    if text.isascii() and text.isprintable():
        return escape(text)
    parts = (f'<span class="hidden">{each}</span>' if is_hidden else escape(each) for each, is_hidden in pieces(text))
    return Markup("".join(parts))


def ticks(text: str, most: int = LONGEST) -> Markup:
    """A sentence as `shown` has it, what stands between backticks as code."""
    pieces_of = shown(text, most).split("`")
    if len(pieces_of) % 2 == 0:  # one has no partner
        return Markup("`").join(pieces_of)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(each) if at % 2 else each for at, each in enumerate(pieces_of))


def attribute(text: object) -> Markup:
    """A text as the value of a form's field, which comes back as it is."""
    return escape(str(text))


def path_of(text: object) -> str:
    """A text as one segment of an address."""
    return quote(str(text).encode("utf-8", "surrogatepass"), safe="")


def run_at(name: str) -> str:
    """The address of a run. A browser would go up from a name of dots, and a path has no line feed."""
    return f"/runs?name={path_of(name)}" if name in (".", "..") or "\n" in name else f"/runs/{path_of(name)}"


def clock(at: int) -> str:
    """A time in POSIX seconds, as people read it."""
    return f"{text_of(at * 1_000_000)[:10]} {text_of(at * 1_000_000)[11:19]} UTC"


def iso(at: int) -> str:
    """A time in POSIX seconds, as programs read it."""
    return f"{text_of(at * 1_000_000)[:19]}Z"


def number(count: int) -> str:
    """A number with its thousands set apart."""
    return f"{count:,}"


def some(count: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def asset(name: str) -> str:
    """The address of a file of the page."""
    return f"/static/{name}?v={sha256(_file(name)).hexdigest()[:16]}"


@cache
def _file(name: str) -> bytes:
    return (_HERE / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "shown": shown, "ticks": ticks, "attribute": attribute, "path": path_of, "run_at": run_at, "clock": clock,
        "iso": iso, "number": number, "left": seconds_text,
    }  # fmt: skip
    made.globals |= {"asset": asset, "some": some, "has_masked": has_masked}
    return made


def _finalize(value: object) -> object:
    return shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
