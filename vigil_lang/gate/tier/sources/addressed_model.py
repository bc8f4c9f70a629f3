"""Text in what a tool returned that speaks to the model which reads it."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics.visible import HIDDEN

if TYPE_CHECKING:
    from vigil_lang.gate.tier.source import Seen

_TOLD = r"(?:instructions?|prompts?|rules|directions|directives|guidelines|guardrails|constraints|tasks?)"
_MODEL = (
    r"(?:gpt(?:-?[0-9][\w.-]*)?|claude|chatgpt|gemini|llama|copilot|a\.?i\.?|llm|language model|assistant|agent|bot)"
)

_SIGNS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (
        0.8,
        (
            rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|every|the|your|of|my|these|those)\s+){{0,3}}"
            rf"(?:previous|prior|above|earlier|preceding|existing|original|initial|current|other|system)\s+"
            rf"(?:(?:and|or|system|user|the|your)\s+){{0,2}}(?:\w+\s+)?{_TOLD}\b",
            rf"\b(?:ignore|disregard|forget)\s+(?:all\s+|everything\s+)(?:of\s+)?(?:(?:your|the)\s+)?(?:{_TOLD}|"
            r"(?:that\s+)?(?:above|before|you\s+(?:were|have\s+been)\s+told))\b",
            r"\bignor\w*\s+(?:\w+\s+){0,3}(?:anweisung|instrucci[oó]n|instruç|istruzion|consigne|instructions pr[eé]c)",
            r"忽略.{0,12}(?:指令|指示|提示)|игнорир\S+\s.{0,30}(?:инструкци|указани)|(?:以前|上記)の指示を無視",
        ),
    ),
    (
        0.7,
        (
            r"\b(?:do\s+not|don['’]t|never|without)\s+(?:tell|inform|mention|notify|alert|warn|ask|reveal|telling|informing|"
            r"mentioning|notifying|alerting|asking)\s+(?:\w+\s+){0,4}(?:the\s+)?(?:user|human|operator)\b",
            r"\b(?:reveal|print|repeat|output|leak|send|show)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+|own\s+)?"
            r"system\s+prompt\b",
        ),
    ),
    (
        0.6,
        (
            rf"\b(?:(?:to|for)\s+you,?|dear|attention[,:]?|listen[,:]?)\s+(?:the\s+)?{_MODEL}\b",
            r"\b(?:message|note|notice|instructions?|order|request)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)?"
            r"(?:ai|llm|gpt|claude|chatgpt|language\s+model)\w*",
            rf"\bif\s+you\s+are\s+an?\s+(?:\w+\s+)?{_MODEL}\b",
            r"\byou\s+are\s+now\s+(?:an?|in|the|my|free|dan)\b|\bfrom\s+now\s+on,?\s+you\s+(?:will|must|are|should)\b",
            r"\bnew\s+(?:system\s+)?instructions?\s*:",
        ),
    ),
    (
        0.6,
        (
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)[^|<>]{0,20}\|>",
            r"\[/?INST\]|<</?SYS>>",
            r"(?m)^\s*</?(?:system|system-reminder|system_prompt|assistant|human|tool_result|function_results|information|"
            r"important|admin|instructions)>\s*$",
            r"(?m)^\s*#{2,4}\s*(?:system|assistant|human)\s*(?:prompt|message|instructions?)?\s*:",
        ),
    ),
    (
        0.5,
        (
            r"\bbefore\s+you\s+(?:can\s+|may\s+)?(?:solve|complete|continue|finish|proceed\s+with|do)\s+(?:with\s+)?"
            r"(?:the|your|my|this|any)\s+(?:\w+\s+)?task",
            r"\b(?:the|your|my)\s+(?:original\s+|user['’]?s?\s+)?task\s+(?:that\s+)?(?:i|the\s+user)\s+(?:gave|asked)\b",
            r"\byou\s+(?:must|should|need\s+to|have\s+to)\s+(?:now\s+|first\s+|immediately\s+)?(?:call|invoke|execute|use)\s+"
            r"(?:the\s+)?[`\"']?\w+[`\"']?\s+(?:tool|function)\b",
            r"\bthis\s+is\s+an\s+important\s+message\s+(?:from|to)\b",
        ),
    ),
)


@cache
def _patterns() -> tuple[tuple[float, tuple[Any, ...]], ...]:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return tuple((score, tuple(re2.compile(sign, options) for sign in signs)) for score, signs in _SIGNS)


class AddressedModel:
    """Each group of signs that is found raises what is left to 1 by its share: orders to ignore instructions, to keep
    something from the user, addressing a model, marks of a conversation, orders about the task."""

    name = "addressed_model"

    def score(self, seen: Seen) -> float | None:
        """The score of the output, 0 without a sign; None where there is no output."""
        if seen.output is None:
            return None
        text = seen.output
        if not text.isascii():
            text = unicodedata.normalize("NFKC", HIDDEN.sub("", text))
        left = 1.0
        for score, patterns in _patterns():
            if any(pattern.search(text) for pattern in patterns):
                left *= 1 - score
        return round(1 - left, 4)
