"""The same session of a client, directly and through the proxy, gives the same messages, in both eras."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.points.mcp.mcp_support import MODERN, RAW, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    Start = Callable[..., Wire]

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"sampling": {}, "roots": {}},
    "clientInfo": {"name": "c", "version": "1"},
}
CALLS = [
    "echo",
    "structured",
    "broken",
    "refused",
    "progress",
    "log",
    "garbage",
    "big",
    "odd.name/x",
    "sample",
    "ask",
    "roots",
    "relist",
    "nested",
]
OTHERS = [
    ("ping", {}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "7"}),
    ("resources/list", {}),
    ("resources/read", {"uri": "raw://one"}),
    ("resources/read", {"uri": "other://one"}),
    ("resources/subscribe", {"uri": "raw://one"}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "greet"}),
    ("prompts/get", {"name": "nobody"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "a", "value": "b"}}),
    ("logging/setLevel", {"level": "debug"}),
    ("x/unknown", {"deep": [{"a": None}], "n": 1.5, "text": "ü\u2028\ud83d\ude00"}),
    ("y/unknown", {}),
    ("tasks/get", {"taskId": "1"}),
    ("server/discover", {}),
]


def script(seed: int, *, modern: bool) -> list[dict[str, Any]]:
    """A session of a client: its messages, each of which is sent when the one before is answered."""
    dice = random.Random(seed)
    found: list[dict[str, Any]] = []
    if not modern:
        found.append({"id": 0, "method": "initialize", "params": INITIALIZE})
        found.append({"method": "notifications/initialized"})
    for number in range(1, 25):
        meta: dict[str, Any] = dict(MODERN) if modern else {}
        if dice.random() < 0.5:
            name = dice.choice([each for each in CALLS if not modern or each not in ("sample", "ask", "roots")])
            if name == "nested" and not modern:
                continue
            params: dict[str, Any] = {"name": name}
            if dice.random() < 0.8:
                params["arguments"] = {"n": dice.randrange(5), "path": dice.choice(["a", "ü", "\u202e", "x" * 9000])}
            if name == "progress" or dice.random() < 0.2:
                meta["progressToken"] = dice.choice([f"t{number}", number, "1"])
            method = "tools/call"
        elif dice.random() < 0.1:
            found.append({"method": "notifications/x", "params": {"n": number}})
            continue
        else:
            method, params = dice.choice(OTHERS)
            params = dict(params)
        if meta:
            params["_meta"] = meta
        found.append({"id": dice.choice([number, f"c{number}"]), "method": method, "params": params})
    return found


def played(wire: Wire, messages: list[dict[str, Any]]) -> list[Any]:
    """What the client of a session gets; it answers what it is asked."""
    got: list[Any] = []
    for at in messages:
        wire.send(at)
        wanted = at.get("id")
        if wanted is None:
            if at["method"] == "notifications/x":
                got.append(wire.next())
            continue
        while True:
            found = wire.next()
            assert found is not None, "".join(wire.errors)
            if "method" in found and "id" in found:
                wire.send({"id": found["id"], "result": {"answered": found["method"], "n": found["params"].get("n")}})
                got.append({**found, "id": "…"})
                continue
            got.append(_hidden(found))
            if "method" not in found and found["id"] == wanted:
                break
            assert "method" in found, found
    return got


def _hidden(found: dict[str, Any]) -> dict[str, Any]:
    """An answer without its `requestState`, which the proxy seals."""
    if isinstance(found.get("result"), dict) and "requestState" in found["result"]:
        return {**found, "result": {**found["result"], "requestState": "…"}}
    return found


@pytest.mark.processes
@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "stateless"])
def test_the_client_gets_the_same(proxied: Start, started: Start, modern: bool) -> None:
    direct, through = started([*RAW, "raw"]), proxied()
    methods: Counter[str] = Counter()
    for seed in itertools.count():
        session = script(seed, modern=modern)
        if seed and not modern:
            session = session[2:]
        expected = played(direct, session)
        assert played(through, session) == expected, seed
        methods.update(each["method"] if each["method"] != "tools/call" else each["params"]["name"] for each in session)
        if seed >= 20:
            break
    assert len(methods) > 25
    assert through.close() == direct.close() == 0


def test_the_order_of_what_passes_through_stays(proxied: Start, started: Start) -> None:
    direct, through = started([*RAW, "raw"]), proxied()
    for wire in (direct, through):
        wire.initialize()
        for number in range(50):
            wire.send({"id": number + 100, "method": "x/unknown", "params": {"n": number}})
    assert [through.next() for _ in range(50)] == [direct.next() for _ in range(50)]
