"""A message of the model, as the Messages API sends it: as a whole, or as the events of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Says:
    """A message. `output_tokens` defaults to a token for four characters; `pieces` is how many deltas it comes in."""

    text: str
    stop: str = "end_turn"
    input_tokens: int = 100
    output_tokens: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    thinking: str = ""
    pieces: int = 3
    model: str | None = None
    delay: float = 0.0
    refused: str = ""


def _tokens(said: Says) -> int:
    return max(1, len(said.text) // 4) if said.output_tokens is None else said.output_tokens


def _usage(said: Says) -> dict[str, Any]:
    return {
        "input_tokens": said.input_tokens,
        "cache_creation_input_tokens": said.cache_write,
        "cache_read_input_tokens": said.cache_read,
        "output_tokens": _tokens(said),
    }


def _details(said: Says) -> dict[str, Any] | None:
    return {"type": "refusal", "category": None, "explanation": said.refused} if said.refused else None


def message(said: Says, asked: str) -> dict[str, Any]:
    thinking = [{"type": "thinking", "thinking": said.thinking, "signature": "c2ln"}] if said.thinking else []
    return {
        "id": "msg_013Scripted",
        "type": "message",
        "role": "assistant",
        "model": said.model or asked,
        "content": [*thinking, *([{"type": "text", "text": said.text}] if said.text else [])],
        "stop_reason": said.stop,
        "stop_sequence": None,
        "stop_details": _details(said),
        "usage": _usage(said),
    }


def events(said: Says, asked: str) -> list[dict[str, Any]]:
    whole = message(said, asked)
    start = {
        **whole,
        "content": [],
        "stop_reason": None,
        "stop_details": None,
        "usage": {**_usage(said), "output_tokens": 1},
    }
    found: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(whole["content"]):
        kind = block["type"]
        empty = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        found.append({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in _pieces(block[kind], said.pieces):
            delta = {"type": f"{kind}_delta", kind: piece}
            found.append({"type": "content_block_delta", "index": index, "delta": delta})
        found.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": said.stop, "stop_sequence": None, "stop_details": _details(said)}
    found.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": _tokens(said)}})
    return [*found, {"type": "message_stop"}]


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]
