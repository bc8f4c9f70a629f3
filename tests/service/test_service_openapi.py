"""The OpenAPI documents: valid, and of every route and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from openapi_spec_validator import validate
from service_support import made_state

from vigil_lang.gate.gate import Gate
from vigil_lang.service.apps import control_routes, data_routes
from vigil_lang.service.openapi import document
from vigil_lang.service.service import Origins, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from service_support import Served
    from starlette.routing import Route


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    gate = Gate(made_state(tmp_path_factory.mktemp("openapi")))
    yield Service(gate, Origins("http://127.0.0.1:1", "http://127.0.0.1:2"))
    gate.close()


def named(routes: list[Route]) -> set[tuple[str, str]]:
    return {
        (re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path), method.lower())
        for route in routes
        for method in (route.methods or set()) - {"HEAD"}
    }


@pytest.mark.parametrize("which", [data_routes, control_routes])
def test_every_route_is_in_the_document_and_nothing_else(service: Service, which: Any) -> None:
    routes = which(service)
    made = document("T", "http://127.0.0.1:1", routes)
    validate(made)
    assert {(path, method) for path, each in made["paths"].items() for method in each} == named(routes)
    names = [each["operationId"] for path in made["paths"].values() for each in path.values()]
    assert len(names) == len(set(names))
    assert all(each["summary"] for path in made["paths"].values() for each in path.values())


def test_both_addresses_serve_theirs(served: Served) -> None:
    for address, path in ((served.data, "/access/v1/evaluation"), (served.control, "/v1/holds")):
        answer = httpx.get(address + "/openapi.json")
        validate(answer.json())
        assert path in answer.json()["paths"]
        assert "/openapi.json" in answer.json()["paths"]
