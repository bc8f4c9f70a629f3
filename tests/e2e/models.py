"""Scripted model servers on the loopback interface, one a protocol: what the model says is a `Script`.

A server answers a bounded number of requests and refuses all others, so that a host that asks for ever ends. It keeps
what it was sent: what the agent was told is what a test looks at.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.e2e.scenario import DELEGATED, Action, Delegate, Finish, Read, Run, Script, Turn, Write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

REQUESTS = 60
"""How many requests a server answers."""
DONE = Turn(text="Done.")
SUMMARY = "The work so far is summed up here."

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Heard:
    """What one request told the model: results of tools, and texts in the user's name."""

    delegated: bool
    results: tuple[str, ...]
    texts: tuple[str, ...]


class Model(ABC):
    """A model behind one protocol; a context manager that serves while it is entered."""

    def __init__(self, script: Script) -> None:
        self._turns = {False: list(script.turns), True: list(script.delegated)}
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self.heard: list[Heard] = []
        """Requests of the conversation, in order; those for summaries and titles are not among them."""
        self.summaries = 0
        """How many summaries of the conversation were asked for."""
        self.asked = 0
        """All requests."""
        self.bodies: list[Json] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                status, kind, answer = model._respond(self.path, body)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                with suppress(OSError):  # the host was killed
                    self.wfile.write(answer)

            do_GET = do_POST  # noqa: N815 - the base class names it

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> Model:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def say(self, script: Script) -> None:
        """More to say, for a further prompt of the same conversation."""
        with self._lock:
            self._turns[False] += script.turns
            self._turns[True] += script.delegated

    def told(self) -> str:
        """All that the agents were told: results and texts, each once, in order."""
        return "\n".join(dict.fromkeys(text for heard in self.heard for text in (*heard.results, *heard.texts)))

    def results(self) -> list[str]:
        """What tools gave, as the agents saw it, in order."""
        return list(dict.fromkeys(text for heard in self.heard for text in heard.results))

    def _respond(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        with self._lock:
            self.asked += 1
            if self.asked > REQUESTS:
                return 400, "application/json", b'{"error": {"type": "invalid_request_error", "message": "enough"}}'
            try:
                asked = json.loads(body or b"{}")
            except ValueError:
                return 400, "application/json", b"{}"
            self.bodies.append({"path": path, **asked})
            said = self._side(path, asked)
            if said is None:
                heard = self._read(asked)
                self.heard.append(heard)
                waiting = self._turns[heard.delegated]
                said = waiting.pop(0) if waiting else self.finished(heard.delegated)
            kind, text = self._write(path, asked, said)
            return 200, kind, text.encode()

    def _number(self) -> int:
        return next(self._ids)

    def finished(self, delegated: bool) -> Turn:  # noqa: ARG002 - others need it
        """What is said when nothing is left to say."""
        return DONE

    @abstractmethod
    def _side(self, path: str, asked: Json) -> Turn | None:
        """The answer to what is no request of the conversation: a title, a summary. None where it is one."""

    @abstractmethod
    def _read(self, asked: Json) -> Heard:
        """What the request tells the model."""

    @abstractmethod
    def _write(self, path: str, asked: Json, said: Turn) -> tuple[str, str]:
        """A turn in the protocol's words: the content type and the body."""


def _stream(events: Iterator[Json], named: bool = True) -> tuple[str, str]:
    lines = ((f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events)
    return "text/event-stream", "".join(lines)


def _texts(content: object) -> str:
    """The text of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""


class Anthropic(Model):
    """The Messages protocol, with Claude Code's tools."""

    summary = "detailed summary of the conversation"

    def _side(self, path: str, asked: Json) -> Turn | None:  # noqa: ARG002 - others need it
        last = _texts(asked["messages"][-1]["content"]) if asked.get("messages") else ""
        if self.summary in last:
            self.summaries += 1
            return Turn(text=f"<summary>{SUMMARY}</summary>")
        return None if asked.get("tools") else DONE

    def _read(self, asked: Json) -> Heard:
        results, texts = [], []
        for message in asked["messages"]:
            if message["role"] == "assistant":
                continue
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "tool_result":
                    results.append(_texts(block.get("content")))
                elif block["type"] == "text":
                    texts.append(block["text"])
        return Heard(any(DELEGATED in text for text in texts), tuple(results), tuple(texts))

    def call(self, action: Action) -> tuple[str, Json]:
        """An action by one of the host's tools."""
        match action:
            case Run(command):
                return "Bash", {"command": command, "description": "Run a command"}
            case Write(path, content):
                return "Write", {"file_path": path, "content": content}
            case Read(path):
                return "Read", {"file_path": path}
            case Delegate(task):
                prompt = f"{DELEGATED} {task}"
                given = {"description": "A task", "prompt": prompt, "subagent_type": "general-purpose"}
                return "Agent", {**given, "run_in_background": False}

    def _blocks(self, said: Turn) -> list[Json]:
        blocks: list[Json] = [{"type": "text", "text": said.text}] if said.text or not said.actions else []
        for action in said.actions:
            name, given = self.call(action)
            blocks.append({"type": "tool_use", "id": f"toolu_{self._number():08}", "name": name, "input": given})
        return blocks

    def _write(self, path: str, asked: Json, said: Turn) -> tuple[str, str]:
        if path.partition("?")[0].endswith("count_tokens"):
            return "application/json", json.dumps({"input_tokens": said.tokens})
        blocks = self._blocks(said)
        message: Json = {
            "id": f"msg_{self._number():08}",
            "type": "message",
            "role": "assistant",
            "model": asked.get("model", "mock"),
            "stop_sequence": None,
            "usage": {"input_tokens": said.tokens, "output_tokens": 10},
        }
        reason = "tool_use" if said.actions else "end_turn"
        if not asked.get("stream"):
            return "application/json", json.dumps({**message, "content": blocks, "stop_reason": reason})

        def events() -> Iterator[Json]:
            yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
            for index, block in enumerate(blocks):
                if block["type"] == "text":
                    empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
                else:
                    empty = {**block, "input": {}}
                    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                yield {"type": "content_block_start", "index": index, "content_block": empty}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
                yield {"type": "content_block_stop", "index": index}
            delta = {"stop_reason": reason, "stop_sequence": None}
            usage = {"input_tokens": said.tokens, "output_tokens": 10}
            yield {"type": "message_delta", "delta": delta, "usage": usage}
            yield {"type": "message_stop"}

        return _stream(events())


class Copilot(Anthropic):
    """The Messages protocol, with Copilot's tools."""

    def call(self, action: Action) -> tuple[str, Json]:
        match action:
            case Run(command):
                return "bash", {"command": command, "description": "Run a command"}
            case Write(path, content):
                return "create", {"path": path, "file_text": content}
            case Read(path):
                return "view", {"path": path}
            case Delegate(task):
                prompt = f"{DELEGATED} {task}"
                given = {"name": "task", "description": "A task", "prompt": prompt, "agent_type": "general-purpose"}
                return "task", given


@dataclass(frozen=True, slots=True)
class _Await:
    """Waits for a sub-agent that was begun."""

    agent: str


_AGENT = re.compile(r'"(?:agent_id|task_name)":"([^"]+)"')


class OpenAI(Model):
    """The Responses protocol, with Codex's tools."""

    def _side(self, path: str, asked: Json) -> Turn | None:
        if not path.endswith("/responses"):
            return DONE
        last = asked["input"][-1] if isinstance(asked.get("input"), list) else {}
        if "CONTEXT CHECKPOINT COMPACTION" in _texts(last.get("content")):
            self.summaries += 1
            return Turn(text=SUMMARY)
        if str(last.get("type")) == "function_call_output" and (began := _AGENT.search(str(last["output"]))):
            return Turn((_Await(began[1]),))
        return None if self._offers_tools(asked) else DONE

    def _offers_tools(self, asked: Json) -> bool:
        return bool(asked.get("tools"))

    def _read(self, asked: Json) -> Heard:
        results, texts = [], []
        for item in asked["input"]:
            if str(item.get("type", "")).endswith("_output"):
                results.append(item["output"] if isinstance(item["output"], str) else _texts(item["output"]))
            elif item.get("role") in {"user", "developer"}:
                texts.append(_texts(item.get("content")))
        return Heard(any(DELEGATED in text for text in texts), tuple(results), tuple(texts))

    def _item(self, action: Action | _Await) -> Json:
        number = self._number()
        item = {"id": f"fc_{number:08}", "call_id": f"call_{number:08}", "status": "completed"}
        match action:
            case Run(command):
                name, given = "exec_command", {"cmd": command}
            case Read(path):
                name, given = "exec_command", {"cmd": f"cat '{path}'"}
            case Delegate(task):
                item["namespace"] = "multi_agent_v1"
                name, given = "spawn_agent", {"message": f"{DELEGATED} {task}"}
            case _Await(agent):
                item["namespace"] = "multi_agent_v1"
                name, given = "wait_agent", {"targets": [agent], "timeout_ms": 30_000}
            case Write(path, content):
                lines = "".join(f"+{line}\n" for line in content.splitlines())
                patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
                return {**item, "type": "custom_tool_call", "name": "apply_patch", "input": patch}
        return {**item, "type": "function_call", "name": name, "arguments": json.dumps(given)}

    def _items(self, said: Turn) -> list[Json]:
        return [self._item(action) for action in said.actions]

    def _write(self, path: str, asked: Json, said: Turn) -> tuple[str, str]:  # noqa: ARG002 - others need it
        if not path.endswith("/responses"):
            return "application/json", json.dumps({"models": [], "data": [], "object": "list"})
        response: Json = {"id": f"resp_{self._number():08}", "object": "response", "status": "in_progress"}
        items = self._items(said)
        if said.text or not items:
            content = [{"type": "output_text", "text": said.text or "Done.", "annotations": []}]
            message = {"id": f"msg_{self._number():08}", "type": "message", "role": "assistant", "status": "completed"}
            items.insert(0, {**message, "content": content})

        def events() -> Iterator[Json]:
            yield {"type": "response.created", "response": response}
            for index, item in enumerate(items):
                yield {"type": "response.output_item.added", "output_index": index, "item": item}
                yield {"type": "response.output_item.done", "output_index": index, "item": item}
            usage = {
                "input_tokens": said.tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": said.tokens + 10,
            }
            done = {**response, "status": "completed", "output": items, "usage": usage}
            yield {"type": "response.completed", "response": done}

        return _stream(events())


class CodeMode(OpenAI):
    """The Responses protocol, with the one tool of Codex's code mode: a script that calls the others."""

    def _offers_tools(self, asked: Json) -> bool:
        return any(item.get("type") == "additional_tools" for item in asked["input"])

    def _read(self, asked: Json) -> Heard:
        heard = super()._read(asked)
        return dataclasses.replace(
            heard, delegated=any(item.get("recipient", "/root") != "/root" for item in asked["input"])
        )

    def _items(self, said: Turn) -> list[Json]:
        if any(isinstance(action, Delegate | _Await) for action in said.actions):
            return [self._item(action) for action in said.actions]
        if not said.actions:
            return []
        calls = ", ".join(self._called(action) for action in said.actions)
        script = f"for (const each of await Promise.allSettled([{calls}]))\n"
        script += '  text(each.status === "fulfilled" ? each.value : String(each.reason));\n'
        number = self._number()
        item = {"id": f"ctc_{number:08}", "call_id": f"call_{number:08}", "status": "completed"}
        return [{**item, "type": "custom_tool_call", "namespace": "functions", "name": "exec", "input": script}]

    def _called(self, action: Action) -> str:
        item = self._item(action)
        given = item["arguments"] if item["type"] == "function_call" else json.dumps(item["input"])
        return f"tools.{item['name']}({given})"

    def _item(self, action: Action | _Await) -> Json:
        item = super()._item(action)
        match action:
            case Delegate(task):
                given = {"task_name": "task", "message": f"{DELEGATED} {task}", "fork_turns": "none"}
            case _Await():
                given = {"timeout_ms": 30_000}
            case _:
                return item
        return {**item, "namespace": "collaboration", "arguments": json.dumps(given)}


class Gemini(Model):
    """The protocol of streamGenerateContent, with Gemini CLI's tools."""

    def _side(self, path: str, asked: Json) -> Turn | None:
        if "countTokens" in path:
            return DONE
        instruction = json.dumps(asked.get("systemInstruction", ""))
        if "state_snapshot" in instruction or "state_snapshot" in json.dumps(asked.get("contents", [])[-1:]):
            self.summaries += 1
            return Turn(text=f"<state_snapshot>{SUMMARY}</state_snapshot>")
        return None if asked.get("tools") else DONE

    def _read(self, asked: Json) -> Heard:
        results, texts = [], []
        for content in asked["contents"]:
            if content.get("role") != "user":
                continue
            for part in content["parts"]:
                if "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    results.append("\n".join(str(value) for value in response.values()))
                elif "text" in part:
                    texts.append(part["text"])
        return Heard(any(DELEGATED in text for text in texts), tuple(results), tuple(texts))

    def finished(self, delegated: bool) -> Turn:
        return Turn((Finish(),)) if delegated else DONE

    @staticmethod
    def _call(action: Action) -> Json:
        match action:
            case Finish():
                return {"name": "complete_task", "args": {"result": {"response": "Done."}}}
            case Run(command):
                return {"name": "run_shell_command", "args": {"command": command, "description": "Run a command"}}
            case Write(path, content):
                return {"name": "write_file", "args": {"file_path": path, "content": content}}
            case Read(path):
                return {"name": "read_file", "args": {"file_path": path}}
            case Delegate(task):
                return {"name": "invoke_agent", "args": {"agent_name": "generalist", "prompt": f"{DELEGATED} {task}"}}

    def _write(self, path: str, asked: Json, said: Turn) -> tuple[str, str]:  # noqa: ARG002 - others need it
        if "countTokens" in path:
            return "application/json", json.dumps({"totalTokens": said.tokens})
        parts: list[Json] = [{"functionCall": self._call(action)} for action in said.actions]
        if said.text or not parts:
            parts.insert(0, {"text": said.text or "Done."})
        usage = {"promptTokenCount": said.tokens, "candidatesTokenCount": 10, "totalTokenCount": said.tokens + 10}
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}
        if "streamGenerateContent" in path:
            return _stream(iter([answer]), named=False)
        return "application/json", json.dumps(answer)
