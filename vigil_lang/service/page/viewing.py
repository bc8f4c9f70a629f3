"""What every page does first: who asks, what is refused, and that what a form asks for is really asked for."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, quote

from starlette.datastructures import FormData
from starlette.responses import JSONResponse, RedirectResponse, Response

from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.kill_switch import NoSuchName
from vigil_lang.gate.state import StateError
from vigil_lang.service.auth import csrf
from vigil_lang.service.errors import Refused
from vigil_lang.service.limits import body
from vigil_lang.service.page.rendering import HEADERS, page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from vigil_lang.service.auth.principal import Role
    from vigil_lang.service.service import Service

Handler: TypeAlias = "Callable[[Request], Awaitable[Response]]"

_TITLES = {
    400: "That request has no meaning",
    403: "That is not allowed",
    404: "There is no such page",
    409: "That cannot be done any more",
    503: "The gate cannot judge now",
}
_MOST_FIELDS = 300


def viewed(service: Service, role: Role, handler: Handler) -> Handler:
    """A page for a role and those that may more. What is refused is said in a page, too."""

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            request.state.principal = await service.auth.require(request, role)
            return await handler(request)
        except Exception as error:
            refused = _refused(error)
            if refused is None:
                raise
            if refused.status == 401 and request.method == "GET":
                return RedirectResponse(f"/sign-in?next={quote(request.url.path, safe='/')}", 303, HEADERS)
            return refusal(request, refused)

    return endpoint


def answered(service: Service, role: Role, handler: Handler) -> Handler:
    """As `viewed`, for what the page's script asks: what is refused is JSON."""

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            request.state.principal = await service.auth.require(request, role)
            return await handler(request)
        except Exception as error:
            refused = _refused(error)
            if refused is None:
                raise
            said = {"error": {"code": refused.code, "message": refused.message}}
            return JSONResponse(said, refused.status, HEADERS | {"Cache-Control": "no-store"} | refused.headers)

    return endpoint


def refusal(request: Request, refused: Refused) -> Response:
    """A page that says what was refused, and why."""
    title = _TITLES.get(refused.status, "That was refused")
    response = page(request, "message.html", refused.status, title=title, message=refused.message)
    response.headers.update(refused.headers)
    return response


def _refused(error: Exception) -> Refused | None:
    match error:
        case Refused():
            return error
        case HoldError():
            return Refused(409, "hold", str(error))
        case NoSuchName():
            return Refused(404, "unknown", str(error))
        case StateError():
            return Refused(503, "state", str(error))
        case _:
            return None


async def posted(request: Request) -> FormData:
    """The form that was sent, from a page of this session.

    Raises:
        Refused: it is none, is too large, or was sent by another site.
    """
    found = await read_form(request)
    csrf.check(request, {name: value for name, value in found.items() if isinstance(value, str)})
    return found


async def read_form(request: Request) -> FormData:
    """The form that was sent, wherever from.

    Raises:
        Refused: it is none, or too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(400, "form", "this takes a form")
    data = await body(request)
    try:
        pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Refused(400, "form", "the form cannot be read") from None
    return FormData([*pairs])


def field(form: FormData, name: str, most: int = 2000) -> str:
    """A field of a form, empty where it has none.

    Raises:
        Refused: it is longer than `most` characters.
    """
    value: Any = form.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise Refused(400, "form", f"`{name}` is too long")
    return value


def whole(text: str | None, least: int, most: int) -> int | None:
    """A whole number within bounds; None where the text is none."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    return found if least <= (found := int(text)) <= most else None
