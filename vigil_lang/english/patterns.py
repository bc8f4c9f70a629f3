"""Words that limit, count and order, as patterns. Each list is short on purpose: what is not here is never reported."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from vigil_lang.english.words import NUMBERS, SECONDS, word_list

LimitKind: TypeAlias = Literal[
    "many", "size", "amount", "party", "place", "state", "except", "only", "without", "same", "every"
]
Order: TypeAlias = Literal["past", "future", "bounded", "counted", "end"]

_COUNT = rf"(?:\d[\d,.]*|{'|'.join(NUMBERS)})"
TIME = "|".join(sorted((unit for unit in SECONDS if len(unit) > 1), reverse=True)) + "|(?-i:[smhd])"
_OFTEN = r"times|retries|attempts|tries"
ACTED = (
    r"confirm\w*|approv\w*|consent\w*|permission|authori[sz]\w*|asking|review\w*|notif\w*|sign-off|backup|backing up|"
    r"test\w*|validat\w*|verif\w*|check\w*|reading|recalculat\w*"
)


def _any(*patterns: str) -> re.Pattern[str]:
    """One of the phrases, as whole words."""
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)


LIMITS: tuple[tuple[LimitKind, re.Pattern[str]], ...] = (
    (
        "amount",
        re.compile(
            rf"\b(?:(?:more|fewer|no more) than|at (?:least|most)|over|exceed(?:s|ing)?|up to) {_COUNT}(?![\w.])"
            rf"(?! (?:{_OFTEN})\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "many",
        _any(
            r"in bulk|bulk|in batch(?:es)?|en masse|mass(?= \w)|multiple|several|wholesale",
            r"batch (?=(?:delet|updat|edit|modif|send|mail|operation|chang|remov|import|upload)\w*)\w+",
        ),
    ),
    ("size", _any(r"large(?! language)|huge|oversized|very big|big(?= (?:files?|tables?|data ?sets?)\b)")),
    (
        "party",
        _any(
            r"external(?:ly)?(?! (?:inputs?|librar\w+|tools?|data|files?|scripts?|tables?|locations?|dependenc\w+))",
            r"third[- ]party|untrusted|unknown \w+",
            r"outside (?:the )?(?:company|organi[sz]ation|network|team|approved)",
            r"unauthori[sz]ed (?:hosts?|recipients?|domains?|users?|endpoints?|destinations?)",
        ),
    ),
    (
        "place",
        _any(
            r"(?:in|on|to|against|into) (?:the )?(?:production|prod|staging)",
            r"production (?:databases?|systems?|servers?|data|tables?|environments?|clusters?|branch)",
            r"(?:on|to|into) (?:the )?(?:main|master|default|protected|release) branch",
            r"(?:on|to|into) (?:main|master)",
            r"outside (?:of )?(?:the |your |its |this )?"
            r"(?:work(?:space|ing directory|tree)|repo(?:sitory)?|project|sandbox)",
        ),
    ),
    (
        "state",
        _any(
            r"existing|failed|failing|successful|pending|deprecated|expired",
            r"un(?:saved|committed|encrypted|verified|validated|reviewed|approved|tested)",
        ),
    ),
    ("except", _any(r"unless|except|other than|apart from|with the exception of|excluding")),
    (
        "only",
        _any(
            r"only (?:after|if|when|once|for|in|from|with|to|on|via|through|by|within|the)",
            r"(?:may|can|must|should|shall) only(?! (?:be )?\w+ once)",
            r"only(?= \w+ [^,;.:]{1,60} (?:if|when|once|after) )",
        ),
    ),
    (
        "without",
        _any(
            r"without (?:(?:the|an?|first|prior|previous|explicit|express|written|user['’]?s?|human|their|any|having|"
            rf"being) ){{0,4}}(?:{ACTED})"
        ),
    ),
    (
        "same",
        re.compile(r"\bthe same (?!(?:time|way|as|thing|goes|kind|order|shape|manner|reason)\b)\w+", re.IGNORECASE),
    ),
    ("every", re.compile(r"\b(?:every|each|all|any)(?: of the| the)? (?P<noun>(?:[\w-]+ )?[\w-]+)", re.IGNORECASE)),
)
"""Words that limit, by what their counterpart is."""

_MORE = (
    r"more than|less than|fewer than|at least|at most|no more than|no fewer than|up to|over|exceed(?:s|ing)?|above|"
    r"below|exactly|within|maximum of|minimum of"
)
_UNIT = (
    rf"{TIME}|calls?|steps?|actions?|events?|{_OFTEN}|%|percent|[kmgt]i?b|bytes?|lines?|rows?|files?|items?|records?|"
    r"messages?|emails?|users?|recipients?|tokens?|characters?|commits?|pages?|requests?|dollars|usd|eur"
)
# A number after such a word is a name (`step 2`), or not meant exactly (`about 20`).
_NAMED = "".join(rf"(?<!\b{word} )" for word in sorted(word_list("no_amount_after")))
NUMBER = re.compile(
    r"(?<![\w.,:/@#§~≈$-])(?:"
    rf"(?:(?P<more>{_MORE}) )?{_NAMED}(?P<digits>\d{{1,12}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,9}})?)"
    rf"|(?:{_MORE}) (?P<word>{'|'.join(NUMBERS)}))"
    rf"(?: ?-?(?P<unit>{_UNIT})(?![\w-])|(?![\w/:%-]|[.,]\d))",
    re.IGNORECASE,
)
NUMBERED = re.compile(
    rf"^\s*\(?\d{{1,3}}[.)](?=\s)|\b(?:{'|'.join(sorted(word_list('numbered')))})\s"
    r"#?\d{1,4}(?:\.\d{1,3})*(?:(?:,? (?:and|or|to) |, ?| ?[-–] ?)\d{1,4}(?![\w%]|\.\d| ?(?:[kmgt]i?b|%)\b))*",
    re.IGNORECASE,
)
"""The number of a list before its item, and numbers that are names: `steps 1 and 2`. They limit nothing."""
_VERSIONED = (
    r"(?:cpython|python|node(?:\.?js)?|deno|bun|npm|ruby|rails|php|perl|java|jdk|openjdk|kotlin|scala|go|golang|rust|"
    r"typescript|\.net|dotnet|django|spring boot|postgres(?:ql)?|mysql|mariadb|redis|ubuntu|debian|alpine|fedora|macos|"
    r"ios|cuda|pytorch|tensorflow|terraform|kubernetes|docker|cmake|gcc|clang|llvm|swift|xcode|gradle|maven)"
)
SHORT_VERSION = re.compile(
    rf"(?:\bversions? (?:of )?|\b(?:older|newer|earlier|later) than (?:version )?|(?<![\w.-]){_VERSIONED} )"
    r"(?P<version>\d{1,6}\.\d{1,6})(?![\w.]*\w)"
    r"|(?<![\w.$€£])(?P<bare>\d{1,6}\.\d{1,6})(?= (?:(?:or|and) )?(?:later|newer|older)\b)",
    re.IGNORECASE,
)
"""A version of two numbers, where the sentence says that it is one: `1.25` alone may be a number."""
VERSION = re.compile(r"(?<![\w.])v?\d{1,6}(?:\.\d{1,6}){2,3}(?![\w.]*\w)|(?<![\w.])v\d{1,6}(?:\.\d{1,6})?(?![\w.]*\w)")
_ENDINGS = (
    "md|py|sh|js|tsx?|jsonl?|toml|ya?ml|csv|xlsx?|pdf|txt|nml|env|lock|cfg|ini|sql|html?|ipynb|vgl|xml|db|pem|key|zip|"
    "tar|gz"
)
FILE = re.compile(rf"(?<![\w/.*-])[\w./*-]{{0,200}}[\w*]\.(?:{_ENDINGS})\b(?!\.\w)")
VALUE = re.compile(r"[\w@:/.+*#=-]+(?: [\w@:/.+*#=-]+){0,2}")
"""A short text in quotation marks that may be a value."""

_NEVER = r"never|not|don['’]t|mustn['’]t|cannot|can['’]t|no"
# What is done to such a thing ends nothing: `before submitting a job`.
_THING = (
    r" (?:(?:an?|the|each|every|any|all|your|this) )?(?:\w+ )?"
    r"(?:jobs?|requests?|scripts?|orders?|prs?|issues?|forms?|patch(?:es)?|packages?|payments?|e?-?mails?|messages?)\b"
)
_LAST = (
    r"(?:the end\b|(?:you )?(?:finish|end|complet|submi|deliver|hand|stop|exit|clos|conclud|return|respond|reply|"
    rf"answer|report|declar|mark|task|done|leav|quit|wrap)\w*\b(?!{_THING}))"
)
_DONE = r"(?:complete|completed|done|finished|resolved|fixed|ready)\b"
_FINISH = (
    r"(?:\w+ly )?(?:(?:finish|stop|quit|exit|conclud)\w*(?: (?:working|early|"
    r"(?:the|your|this|a) (?:run|session|task|turn|work)))?(?= (?:after|before|once|only|unless|until|without)\b)|"
    r"end (?:the|your) (?:run|session|task|turn|work)|"
    r"wrap(?:ping)? up|(?:hand|turn)(?:ing)? (?:[\w']+ ){0,3}(?:over|in|back)|declar\w*|"
    r"(?:claim|report)(?:ing)? (?:success|completion|that)|"
    rf"(?:mark|consider|call|say|set)(?:ing)? [^.;:,]{{0,60}}{_DONE})"
)
"""What ends the work. `Do not stop before …` asks for something at the end, and of no event that it comes earlier."""

_NO_END = rf"(?!(?:.*\b(?:{_NEVER}) )?{_FINISH})"


def _told(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


ORDERS: tuple[tuple[Order, re.Pattern[str]], ...] = (
    ("past", _told(rf"^(?P<word>before|prior to) (?!{_LAST})(?P<then>[^,:]+)[,:] (?P<first>.+)$")),
    ("past", _told(rf"^{_NO_END}(?P<first>.+?)[, ]\s?(?P<word>before|prior to) (?!that\b|{_LAST})(?P<then>.+)$")),
    ("past", _told(rf"^{_NO_END}(?P<then>.+?) (?P<word>only (?:after|once)) (?P<first>.+)$")),
    (
        "past",
        _told(
            rf"^{_NO_END}(?P<then>.*?\b(?:{_NEVER})\b.{{1,200}}?) "
            rf"(?P<word>until|unless|before(?! {_LAST})|without first|without having) (?P<first>.+)$"
        ),
    ),
    (
        "future",
        _told(
            r"^(?:(?:immediately|right|directly|always) )?(?P<word>after|once|upon|whenever|following) "
            r"(?P<first>[^,:]+)[,:] (?!.*\b(?:can|may|could|might)\b)(?P<then>.+)$"
        ),
    ),
    (
        "future",
        _told(
            r"^(?P<then>.+?) (?P<word>(?:(?:immediately|right|directly) )?after (?:each|every|any)|"
            r"(?:immediately|right|directly) after|immediately afterwards) (?P<first>.+)$"
        ),
    ),
    (
        "end",
        _told(
            r"\b(?P<word>at the end|when (?:you are |you['’]re )?(?:done|finished)|"
            rf"before {_LAST}|as (?:the|a) (?:last|final) step)\b"
            rf"|(?:\b(?:{_NEVER}) {_FINISH}|^{_FINISH}[^.;]{{0,100}}? only)[^.;]{{0,160}}?"
            r"\b(?:after|before|once|unless|until|without)\b"
        ),
    ),
    ("bounded", _told(rf"\bwithin (?:the next )?(?:{_COUNT}|an?) ?(?:{TIME}|calls?|steps?|actions?)\b")),
    (
        "counted",
        _told(
            rf"\b(?:at most|no more than|up to|not more than|a maximum of|maximum|more than) {_COUNT} (?:{_OFTEN})\b"
            r"|\b(?:at most|no more than|not more than|more than) (?:once|twice)\b"
            r"|\bonly (?:be )?(?:\w+ )?once\b(?=\s*(?:[.,;:!)]|$)| (?:per|in|for|and)\b)"
        ),
    ),
)
"""Words of order. `past`: something comes earlier; `future`: something follows; `end`: it stands at the end."""

ORDER_WORD = _told(
    r"\b(?:before|prior|after|once|upon|whenever|following|until|unless|without|end|when|step|afterwards|within|most|"
    r"more|only|up to|maximum)\b"
)
"""What every pattern of `ORDERS` needs: most sentences have none."""

NEGATION = _told(rf"\b(?:{_NEVER}|nothing|nobody|none|avoid|forbid\w*|prohibit\w*|disallow\w*|refuse)(?!\w)|n['’]t\b")
