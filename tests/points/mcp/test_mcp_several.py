"""Several servers behind one proxy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.points.mcp.mcp_support import MODERN, PROXY, RAW, Wire, text_of
from vigil_lang.points.mcp.names import client_name, is_server_name, policy_name, server_name, split_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def two(state: Path, started: Callable[..., Wire], tmp_path: Path) -> Wire:
    config = tmp_path / "servers.json"
    servers = {name: {"command": RAW[0], "args": [*RAW[1:], name]} for name in ("raw", "b")}
    config.write_text(json.dumps({"mcpServers": servers}))
    return started([*PROXY, "--state", str(state), "--server", str(config)])


@pytest.mark.processes
def test_two_servers_are_one(two: Wire) -> None:
    first = two.initialize()["result"]
    assert first["instructions"] == "raw: Use raw.\n\nb: Use b."
    names = [each["name"] for each in two.ask("tools/list")["result"]["tools"]]
    assert len(names) == len(set(names)) == 38
    assert {"raw__echo", "b__echo"} <= set(names)
    assert text_of(two.call("raw__echo")) == "raw:echo:{}"
    assert text_of(two.call("b__echo")) == "b:echo:{}"
    assert "never wanted" in text_of(two.call("raw__delete_all"))
    assert text_of(two.call("b__delete_all")) == "b:delete_all:{}", "the policy names the server"
    for name in ("echo", "c__echo", "__echo", "raw__", "raw", "b__b__echo", "raw__nothing"):
        assert two.call(name)["error"]["code"] == -32602
    prompts = two.ask("prompts/list")["result"]["prompts"]
    assert [each["name"] for each in prompts] == ["raw__greet", "b__greet"]
    greeted = two.ask("prompts/get", {"name": "b__greet"})["result"]["messages"][0]["content"]["text"]
    assert greeted == "b greets"
    assert len(two.ask("resources/list")["result"]["resources"]) == 2
    assert two.ask("resources/read", {"uri": "b://one"})["result"]["contents"][0]["uri"] == "b://one"
    assert two.ask("resources/read", {"uri": "c://one"})["error"]["code"] == -32601
    completed = two.ask("completion/complete", {"ref": {"type": "ref/prompt", "name": "b__greet"}})["result"]
    assert completed["completion"]["values"] == ["b", '{"type": "ref/prompt", "name": "greet"}']
    assert two.ask("logging/setLevel", {"level": "info"})["result"] == {}
    assert two.ask("ping")["result"] == {}


def test_two_servers_in_the_stateless_era(two: Wire) -> None:
    found = two.ask("server/discover", modern=True)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert len(two.ask("tools/list", modern=True)["result"]["tools"]) == 38
    assert text_of(two.call("b__echo", modern=True, n=2)) == 'b:echo:{"n": 2}'
    assert MODERN


@pytest.mark.processes
def test_requests_of_both_servers_find_their_way(two: Wire) -> None:
    two.initialize(sampling={})
    for number, name in enumerate(("raw__sample", "b__sample")):
        two.send({"id": f"c{number}", "method": "tools/call", "params": {"name": name, "arguments": {"n": number}}})
    asked = [two.next(), two.next()]
    assert len({each["id"] for each in asked}) == 2
    for each in asked:
        two.send({"id": each["id"], "result": {"for": each["params"]["n"]}})
    found: dict[str, Any] = {each["id"]: json.loads(text_of(each)) for each in (two.next(), two.next())}
    assert found == {"c0": {"for": 0}, "c1": {"for": 1}}


@pytest.mark.processes
def test_one_server_that_dies_leaves_the_other(two: Wire) -> None:
    two.initialize()
    two.ask("tools/list")
    assert two.call("raw__die")["error"]["code"] == -32000
    assert text_of(two.call("b__echo")) == "b:echo:{}"
    assert two.call("raw__echo")["error"]["code"] == -32000
    assert all(each["name"].startswith("b__") for each in two.ask("tools/list")["result"]["tools"])


@pytest.mark.parametrize("tool", ["x", "_x", "__x", "a__b", "x_", "a.b", "_"])
@pytest.mark.parametrize("server", ["a", "a-b", "a_b", "A1"])
def test_names_come_apart_as_they_were_joined(server: str, tool: str) -> None:
    assert is_server_name(server)
    assert split_name(client_name(server, tool)) == (server, tool)
    assert policy_name(server, tool).startswith(f"mcp__{server}__")


@pytest.mark.parametrize("name", ["", "a__b", "_a", "a_", "a b", "a.b", "ä", "a" * 65, "a\n"])
def test_names_that_no_server_has(name: str) -> None:
    assert not is_server_name(name)
    assert is_server_name(server_name(name))
