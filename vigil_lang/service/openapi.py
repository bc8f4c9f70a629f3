"""The OpenAPI document, made of the routes themselves and of the structs that they read and write."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from starlette.requests import Request

F = TypeVar("F", bound="Callable[..., Any]")

PAGE = "text/html"
"""What a route answers that says nothing of itself."""

_NAME = "vigil_operation"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


class ErrorText(msgspec.Struct):
    """A word that programs go by, and a sentence for people."""

    code: str
    message: str


class Error(msgspec.Struct):
    """Why a request was refused."""

    error: ErrorText


@dataclass(frozen=True)
class Operation:
    """What a route reads and answers: structs, or None for what is no JSON.

    `query` has the parameters of its query with what each means; `also` further answers by their status, each with its
    media type. A `public` one needs no token; the body of an `optional` one may be left out.
    """

    body: Any = None
    answer: Any = None
    status: int = 200
    media: str = "application/json"
    query: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[int, tuple[Any, str]] = field(default_factory=dict)
    public: bool = False
    optional: bool = False


def operation(
    *,
    body: Any = None,
    answer: Any = None,
    status: int = 200,
    media: str = "application/json",
    query: Mapping[str, str] | None = None,
    also: Mapping[int, tuple[Any, str]] | None = None,
    public: bool = False,
    optional: bool = False,
) -> Callable[[F], F]:
    """Say what a handler reads and answers, as `Operation` has it; its docstring says what it does."""
    found = Operation(body, answer, status, media, query or {}, also or {}, public, optional)

    def mark(handler: F) -> F:
        setattr(handler, _NAME, found)
        return handler

    return mark


def document(title: str, server: str, routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of some routes."""
    types = [Error]
    for route in routes:
        said = _said(route)
        types += [
            each for each in (said.body, said.answer, *(each for each, _ in said.also.values())) if each is not None
        ]
    unique = list({id(each): each for each in types}.values())
    schemas, components = msgspec.json.schema_components(unique, ref_template="#/components/schemas/{name}")
    by_type = {id(each): schema for each, schema in zip(unique, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in routes:
        path = _PARAMETER.sub(r"{\1}", route.path)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            paths.setdefault(path, {})[method.lower()] = _operation(route, method, by_type)
    made = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__},
        "servers": [{"url": server}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "vigil"},
            },
        },
        "security": [{"token": []}],
    }
    return msgspec.json.decode(msgspec.json.encode(made), type=dict[str, Any])


def _said(route: Route) -> Operation:
    found: Operation = getattr(route.endpoint, _NAME, Operation(media=PAGE))
    return found


def _operation(route: Route, method: str, schemas: Mapping[int, Any]) -> dict[str, Any]:
    said = _said(route)
    summary = (inspect.getdoc(route.endpoint) or route.name.replace("_", " ")).split("\n\n")[0]
    name = re.sub(r"\W+", "_", f"{method.lower()}{_PARAMETER.sub(lambda found: found[1], route.path)}").rstrip("_")
    parameters = [
        {"name": each, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for each in _PARAMETER.findall(route.path)
    ]
    parameters += [
        {"name": each, "in": "query", "description": meaning, "schema": {"type": "string"}}
        for each, meaning in said.query.items()
    ]
    found: dict[str, Any] = {"operationId": name, "summary": " ".join(summary.split())}
    if parameters:
        found["parameters"] = parameters
    if said.body is not None:
        content = {"application/json": {"schema": schemas[id(said.body)]}}
        found["requestBody"] = {"required": not said.optional, "content": content}
    answers = {status: _answer(*each, schemas) for status, each in said.also.items()}
    for each in answers.values():
        each["content"] = _answer(Error, "application/json", schemas)["content"] | each["content"]
    answers[said.status] = _answer(said.answer, said.media, schemas)
    found["responses"] = {str(status): each for status, each in sorted(answers.items())}
    found["responses"]["default"] = _answer(Error, "application/json", schemas)
    if said.media == PAGE:
        found["responses"]["default"]["content"] |= _answer(None, PAGE, schemas)["content"]
        found["security"] = [{"cookie": []}, {"token": []}]
    if said.public:
        found["security"] = []
    return found


def _answer(type_: Any, media: str, schemas: Mapping[int, Any]) -> dict[str, Any]:
    schema = schemas[id(type_)] if type_ is not None else {"type": "string"} if media != "application/json" else {}
    return {
        "description": (inspect.getdoc(type_) or "").split("\n\n")[0] or "Done",
        "content": {media: {"schema": schema}},
    }


def routes(title: str, server: str, others: Iterable[Route]) -> list[Route]:
    """The document of other routes, and of its own."""
    found: list[Route] = []

    @operation(public=True)
    async def openapi(_: Request) -> Response:
        """This document."""
        return Response(made(), media_type="application/json")

    def made() -> bytes:
        return msgspec.json.encode(document(title, server, [*others, *found]))

    found.append(Route("/openapi.json", openapi, methods=["GET"]))
    return found
