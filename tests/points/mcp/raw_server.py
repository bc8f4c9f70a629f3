"""A server for tests that speaks lines of JSON, of both eras, and knows no package.

What it does is told by the tool that is called; `python raw_server.py NAME [FILE]`, where FILE has the descriptions of
its tools, read anew for each list.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

NAME = sys.argv[1] if len(sys.argv) > 1 else "raw"
MODERN = "io.modelcontextprotocol/protocolVersion"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
TOOLS = [
    {"name": name, "description": f"Does {name}.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
    for name in [
        "echo",
        "structured",
        "broken",
        "refused",
        "progress",
        "log",
        "sample",
        "ask",
        "roots",
        "nested",
        "pay",
        "delete_all",
        "garbage",
        "die",
        "hang",
        "big",
        "slow",
        "relist",
    ]
] + [{"name": "odd.name/x", "title": "Odd", "inputSchema": {"type": "object"}, "x-unknown": {"kept": [1, None]}}]
waiting = {}
count = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(method, params):
    send({"method": method, "params": params})


def ask(method, params, then):
    global count
    count += 1
    waiting[f"srv-{count}"] = then
    send({"id": f"srv-{count}", "method": method, "params": params})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tools():
    if len(sys.argv) > 2:
        return json.loads(Path(sys.argv[2]).read_text())
    return TOOLS


def call(number, params, modern):
    name, arguments = params.get("name"), params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    kind = {"resultType": "complete"} if modern else {}

    def done(words, **more):
        send({"id": number, "result": {**text(words, **more), **kind}})

    if name == "structured":
        done("{}", structuredContent={"a": [1, 2.5, None, "ü\u2028"]}, _meta={"k": "v"})
    elif name == "broken":
        done("it failed", isError=True)
    elif name == "refused":
        send({"id": number, "error": {"code": -32042, "message": "not so", "data": {"why": ["x", 1]}}})
    elif name == "progress":
        for at in range(arguments.get("n", 2)):
            note("notifications/progress", {"progressToken": token, "progress": at, "total": 9, "message": f"at {at}"})
        done("progressed")
    elif name == "log":
        note("notifications/message", {"level": "info", "logger": "x", "data": {"n": arguments.get("n")}})
        done("logged")
    elif name == "relist":
        note("notifications/tools/list_changed", {})
        note("notifications/resources/updated", {"uri": "raw://one"})
        done("changed")
    elif name in ("sample", "ask", "roots"):
        method = {"sample": "sampling/createMessage", "ask": "elicitation/create", "roots": "roots/list"}[name]
        ask(method, {"n": arguments.get("n"), "_meta": {"k": 1}}, lambda answer: done(json.dumps(answer)))
    elif name == "nested":
        if "inputResponses" in params:
            done(json.dumps([params["inputResponses"], params.get("requestState")]))
        else:
            wanted = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "object"}}}
            found = {"resultType": "input_required", "inputRequests": {"vigil-hold": wanted}, "requestState": "mine"}
            send({"id": number, "result": found})
    elif name == "garbage":
        sys.stdout.write('this is no JSON\n[1]\n{"jsonrpc":\n\n')
        done("after garbage")
    elif name == "die":
        os._exit(3)
    elif name == "hang":
        pass
    elif name == "slow":
        time.sleep(0.3)
        done("slow")
    elif name == "big":
        done("x" * (arguments.get("n") or 1_000_000))
    elif any(each["name"] == name for each in tools()) or name == "unlisted":
        done(f"{NAME}:{name}:{json.dumps(arguments, sort_keys=True)}")
    else:
        send({"id": number, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})


def answer(method, params, number):
    modern = MODERN in (params.get("_meta") or {})
    kind = {"resultType": "complete"} if modern else {}
    if method == "tools/call":
        call(number, params, modern)
        return
    if method == "initialize":
        found = {
            "protocolVersion": params.get("protocolVersion", "2025-11-25"),
            "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}},
            "serverInfo": {"name": NAME, "version": "1"},
            "instructions": f"Use {NAME}.",
        }
    elif method == "server/discover":
        found = {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": NAME, "version": "1"},
            **kind,
        }
    elif method == "tools/list":
        at, every = int(params.get("cursor", 0)), tools()
        found = {"tools": every[at : at + 7], **kind}
        if at + 7 < len(every):
            found["nextCursor"] = str(at + 7)
    elif method == "resources/list":
        found = {"resources": [{"uri": f"{NAME}://one", "name": "one"}], **kind}
    elif method == "resources/templates/list":
        found = {"resourceTemplates": [], **kind}
    elif method == "resources/read" and params.get("uri", "").startswith(NAME):
        found = {"contents": [{"uri": params["uri"], "text": "one"}], **kind}
    elif method == "prompts/list":
        found = {"prompts": [{"name": "greet"}], **kind}
    elif method == "prompts/get" and params.get("name") == "greet":
        found = {"messages": [{"role": "user", "content": {"type": "text", "text": f"{NAME} greets"}}], **kind}
    elif method in ("ping", "logging/setLevel", "resources/subscribe"):
        found = dict(kind)
    elif method == "completion/complete":
        found = {"completion": {"values": [NAME, json.dumps(params.get("ref"))]}, **kind}
    elif method == "x/unknown":
        found = {"got": params, **kind}
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found", "data": method}})
        return
    send({"id": number, "result": found})


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        then = waiting.pop(message["id"], None)
        if then:
            then(message.get("result", message.get("error")))
    elif "id" in message:
        answer(message["method"], message.get("params") or {}, message["id"])
    elif message["method"] == "notifications/x":
        note("notifications/y", message.get("params") or {})
    elif message["method"] == "notifications/cancelled":
        note("notifications/message", {"level": "info", "data": "cancelled"})
