"""Clauses that seem to speak to the model that drafts, and not to the agent whose runs are judged.

A hint and no defence: such clauses are asked for apart from all others and marked in the report. What keeps a hostile
text from doing harm is that each clause is answered for by itself, and that code decides what is kept.
"""

from __future__ import annotations

import re
import unicodedata

from vigil_lang.diagnostics.visible import HIDDEN

_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|all|any|other|system|your|these|those)"
_TOLD = r"(?:instructions?|prompts?|rules?|messages?|clauses?|guidelines?|directions?|directives?|polic(?:y|ies))"
_VERDICT = (
    r"(?:safe|unsupported|not[ _-]normative|non-normative|allowed|permitted|compliant|benign|harmless|satisfied|"
    r"irrelevant|optional|informative)"
)
_READER = r"(?:ai|a\.i\.|llms?|(?:large |language )+models?|chatbots?|claude|chatgpt|gpt|drafters?|policy compiler)"

_SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "it asks to ignore instructions",
        (
            rf"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|skip)\b(?:\W+\w+){{0,4}}?\W+{_EARLIER}\b"
            rf"(?:\W+\w+){{0,3}}?\W+{_TOLD}\b",
            rf"\b(?:ignore|disregard|forget|override|overrule)\b(?:\W+\w+){{0,4}}?\W+{_TOLD}\W+"
            r"(?:above|before|below)\b",
            r"\b(?:ignore|disregard|forget|drop|skip|omit)\b(?:\W+\w+){0,3}?\W+"
            r"(?:everything|anything|all of the text)\W+"
            r"(?:above|before|below|after|else|you (?:were|have been) told)",
            r"\bignor\w*\W+(?:\w+\W+){0,4}?(?:anweisung|instrucci[oó]n|instrução|istruzion|instruções|consigne)",
            r"忽略.{0,12}(?:指令|指示|说明|規則|规则)|игнорир\w+.{0,40}(?:инструкци|правил)",
        ),
    ),
    (
        "it says that other rules do not hold",
        (
            rf"\b{_TOLD}\W+(?:above|below|before|after|(?:in|of) (?:this|the) (?:document|file|list))\b[^.;]{{0,20}}"
            rf"\b(?:(?:do|does|did) not|don['’]t|no longer) (?:apply|hold|count)",
            rf"\b(?:{_TOLD}|sections?|sentences?|everything)\W+(?:above|below|before|after this)\b[^.;]{{0,20}}"
            rf"\b(?:is|are) (?:void|cancell?ed|obsolete|superseded|invalid|{_VERDICT})",
            r"\bclauses?\W+[cC]?\d+\b|\b(?:other|remaining|previous|preceding|following|next) (?:\w+ )?clauses\b",
        ),
    ),
    (
        "it asks for a verdict",
        (
            rf"\b(?:mark|treat|report|classify|label|flag|consider|rate|judge|answer|declare)\b(?:\W+[\w'’]+){{0,8}}?\W+"
            rf"(?:as|is|are|to be|with)\W+(?:always |all )?[\"'`“‘]?{_VERDICT}\b",
            r"[\"'`“‘]?\b(?:not[_ -]normative|unsupported)\b[\"'`”’]?\s+(?:as|for)\s+(?:the |an? )?(?:\w+ )?"
            r"(?:answer|outcome|clause|sentence|rule)",
            r"\bpolic(?:y|ies)\b[^.;]{0,60}\b(?:allow|permit|accept)s?\b[^.;]{0,20}\b(?:everything|anything|all)\b",
            r"\b(?:do not|don['’]t|never)\b(?:\W+\w+){0,2}?\W+(?:draft|compile|formali[sz]e|enforce|translate)\b"
            r"(?:\W+\w+){0,4}?\W+(?:clauses?|rules?|statements?|polic(?:y|ies)|sentences?|section|restrictions?)\b",
            r"\b(?:draft|emit|write|add|generate|output|produce|insert|append)\b(?:\W+\w+){0,6}?\W+"
            r"(?:vigil|polic(?:y|ies)) (?:statements?|rules?)\b|\bPolicyDocument\b",
        ),
    ),
    (
        "it speaks to a language model",
        (
            r"\bsystem (?:prompt|message)s?\b|\bdeveloper (?:prompt|message)\b|\byou are now\b|\bfrom now on,? you\b",
            r"\bnew (?:system )?instructions?\s*:|\bjailbreak|\bprompt injection\b|\bdo anything now\b",
            rf"\b(?:if|since|as|because) you(?:['’]re| are) an? (?:\w+ )?{_READER}\b|\bas an? {_READER}\b",
            rf"\b(?:note|message|attention|hint|instructions?|memo)\s*(?:to|for|,)?\s*(?:the |any |all |every )?"
            rf"(?:{_READER}|models?|assistants?)\b",
            rf"\b{_READER}\b[^.;]{{0,30}}"
            r"\b(?:reading|processing|drafting|compiling|translating|that (?:reads|drafts)|who)\b",
            r"\b(?:when|while|before|after|in) (?:you )?(?:draft|compil|translat|formali[sz])(?:e|ing)\b[^.;]{0,30}"
            r"\b(?:this|the|these|a) (?:document|polic(?:y|ies)|clauses?|rules?|skill)\b",
        ),
    ),
    (
        "it has marks of a conversation or a prompt",
        (
            r"</?(?:system|assistant|human|instructions?|clauses?|prompt|vocabulary|function_calls?|tool_result)\b[^<>]*>",
            r"</(?:user|document|documents|data|context|policy|question|answer)\s*>",
            r"<\|[\w ]{1,40}\|>|\[/?INST\]|<</?SYS>>|(?:^|\s)#{2,}\s*(?:system|assistant|user|instruction)s?\s*:",
            r"^(?:system|assistant|human)\s*:",
            r"[\"']?outcome[\"']?\s*:\s*[\"']|[\"']statements[\"']\s*:\s*\[|[\"']trigger[\"']\s*:\s*\{",
        ),
    ),
)
_PATTERNS = tuple((why, re.compile("|".join(f"(?:{p})" for p in signs), re.IGNORECASE)) for why, signs in _SIGNS)

_JOINED = re.compile("(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])")
_JOINT = re.compile(r"(?<=[a-z])[_-](?=[a-z])", re.IGNORECASE)
_MIXED = re.compile("[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")
_SPACED = re.compile(r"(?<![A-Za-z])(?:[a-z][ ._-]){5,}[a-z](?![A-Za-z])")
_CODED = re.compile(r"(?:\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]+;){12,}")
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{80,}={0,2}")


def addresses_model(text: str) -> str | None:
    """Why a text looks as if it talks to the model that drafts from it; None where it does not. In linear time."""
    found = _addresses(text)
    # A name may say it, too: `answer_not_normative_for_all`.
    return found or (_addresses(_JOINT.sub(" ", text)) if _JOINT.search(text) else None)


def _addresses(text: str) -> str | None:
    text = text[:4000].removeprefix("\ufeff")
    if not text.isascii():
        if HIDDEN.search(_JOINED.sub("", text)):
            return "it holds characters that hide or reorder text"
        if _MIXED.search(text):
            return "it mixes letters that look alike"
        text = unicodedata.normalize("NFKC", text)
    if _CODED.search(text) or any(map(_is_blob, _BLOB.findall(text))):
        return "it holds text in a code"
    if any(found[::2] != "".join(sorted(found[::2])) for found in _SPACED.findall(text)):
        return "it spells words letter by letter"
    return next((why for why, pattern in _PATTERNS if pattern.search(text)), None)


def _is_blob(text: str) -> bool:
    """Whether a run of letters and digits is coded data: no path, no identifier and no hexadecimal digest."""
    mixed = any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))
    return mixed and (text.count("/") + text.count("_") + text.count("-")) * 16 <= len(text)
