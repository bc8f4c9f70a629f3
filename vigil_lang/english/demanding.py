"""What a sentence demands by itself: the patterns by which it does, and those by which it only seems to.

What headings and leads make of a sentence is told by the patterns in `contexts`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vigil_lang.english.sentences import CODE, SPOKEN
from vigil_lang.english.words import NUMBERS, one_of, word_list

_IMPERATIVES = word_list("imperatives")


def any_of(*patterns: str) -> re.Pattern[str]:
    """One of the patterns, in capitals or not."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)



def _of_one(verb: str) -> str:
    """The verb as one does it: `writes`, `pushes`, `applies`."""
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


# `work` begins as many descriptions (`Work items are …`) as instructions; and what may be a noun, too, is a verb where
# the noun that it acts on follows.
_VERB = (
    rf"(?:re-)?(?:{one_of(_IMPERATIVES)}\b|{one_of(word_list('imperatives_or_nouns'))}"
    r" (?=(?:an?|the|your|its?|them|this|these|all|any|each|every|no|only)\b|`)|"
    r"default (?=to\b)|work (?=(?:only|in|inside|within|from|on|with)\b))"
)
_DOING = rf"{one_of(verb.removesuffix('e') for verb in _IMPERATIVES)}\w?ing\b"
_ACTS = (
    r"(?:(?:force[- ])?push(?:es)?|merges?|deploy(?:s|ments?)?|releases?|deletions?|uploads?|rebases?|installs|"
    r"installations?|migrations?)"
)
ACTS = one_of(map(_of_one, _IMPERATIVES))
"""The verbs with the ending of one who is spoken of: `writes`."""

_COUNT = rf"(?:\d[\d,.]*|{'|'.join(NUMBERS)})\b"
_MOST = r"(?:at most|no more than|not more than|at least|no fewer than|(?:a )?(?:max|min)(?:imum)?\.?(?: of)?|exactly)"
_EACH = r"(?:each|every|any|all)"
_DONE = r"(?:\w+ed|run|made|done|kept|taken|sent|written|put|built|read|set|shown|drawn)"
_PASSED = r"(?:passing|successful|green|clean|fresh|prior|previous|second|signed|approved|written)"
_ADVERBS = r"(?:also|always|only|first|then|please|immediately|explicitly)"
_WHERE = r"(?:(?:to|if|when|while|for|in|on|with|after|before|once)\b[^,:;]{1,160}(?:,| ?(?:→|->)) (?:then )?)?"
_TEXT = r"(?:[^.]|\.(?=\w))"
# Where a clause begins: nobody stands before its verb, so that the reader is meant.
_BEGINS = rf"(?:^|[,:;—–(]\s*|\s--?\s|\b(?:and|but|then|or|please|instead|so)\s+)(?:{_ADVERBS}\s+)*"
_WHO = r"(?:you|agents?|the (?:agent|model|assistant|user|caller)|assistants?|models?)"
_NOT = r"(?:not|isn['’]t|aren['’]t|never)"
_PERSON = r"(?:user|users|customer|human|owner|operator|caller|requester|maintainer|reviewer|author)"
# What something is, rather than what is done to it.
_BEING = (
    r"(?:be )?(?:appear|available|better|change|contain|different|displayed|empty|exist|found|happen|have|missing|"
    r"necessary|needed|present|required|returned|seem|shown|support|supported|visible|work)\b"
)

STRONG = (
    re.compile(
        r"\b(?:NEVER|ALWAYS|[Dd][Oo] NOT|DON['’]T|MUST|SHOULD NOT|[Ss]hould NOT|MANDATORY|REQUIRED|FORBIDDEN|"
        r"PROHIBITED|STOP)\b(?!-)"
        rf"|^(?:Use|Write|Put|Set|{'|'.join(v.capitalize() for v in ('call', 'pass', 'send', 'store', 'run'))})\b"
        r"[^.;]{1,200}\((NOT)\b|\bbut (?:use|put|set|write)\b[^.;]{1,200}\(NOT\b",
    ),
    any_of(
        r"\bmust(?:n['’]t)?\b(?!-|\s+(?:have\s+)?been\b)",
        r"\bshall(?: not)?\b",
        r"\bnever\b(?!-|\s+(?:mind|been|happens?|existed|got|seen))",
        rf"(?:{_BEGINS}|\bto\s+|\bshould\s+|\b{_WHO}\s+|\bdo\s+)always\s+(?!returns?\b|true\b|false\b|the\b|an?\b)",
        rf"{_BEGINS}(?:if [^,]{{1,120}}, )?(?:do not|don['’]t)[\s,]+"
        r"(?!have\b|exist\b|know\b(?!ingly)|see\b|need\b|worry\b|apply\b|matter\b)",
        rf"\b{_WHO} (?:may|can|could|are|is) (?:not|only|never)\b",
        rf"\b(?:may|can) only\b|\bmay [^.;,]{{1,60}}? only (?:after|by|for|from|if|in|on|to|when|with)\b|\bmay (?!{_BEING})(?:be )?\w+ only\b",
        rf"\b(?:nothing|nobody|no one|no|only)\b(?:\s+(?!to\b|that\b)[^\s,.;:]+){{0,8}}?\s+may\b(?! {_BEING})",
        r"\b(?:at most|no more than|not more than|a maximum of) [^.;:]{1,60}\b(?:is|are) (?:allowed|permitted)\b",
        r"\b(?:may not|can ?not) be (?:used|shared|disclosed|changed|modified|deleted|removed|called|sent|stored|"
        r"exceeded|combined|skipped|merged|pushed|deployed|released|published|committed)\b",
        rf"\b(?:{_NOT}|only) (?:be )?(?:allowed|permitted|acceptable|authori[sz]ed|ok(?:ay)?|fine)\b|"
        r"\b(?:allowed|permitted) only\b|\b(?:not|never) optional\b",
        r"\b(?:may|can|must|should|do|does)(?: not|n['’]t) exceed\b|\bmay not (?:begin|continue|proceed|start)\b",
        r"\b(?:forbidden|prohibited|disallowed|obligatory|mandatory|compulsory|non-negotiable|not negotiable)\b",
        r"\boff[- ]limits\b|\bhands off\b|\bat no (?:point|time)\b|\b(?:absolutely|strictly) no\b",
        r"\bit(?: is|['’]s) (?:\w+ly )?(?:critical|crucial|essential|imperative|important|necessary|vital) (?:that\b|to (?!"
        r"(?:know|note|understand|remember that|realise|realize|see)\b))|\bit(?: is|['’]s) your (?:duty|job|responsibility)\b",
        rf"\b{_WHO} (?:is|are) (?:responsible for|obliged to|bound to)\b",
        r"\b(?:is|are|be) (?:strictly |always |also |explicitly )?required\b",
        r"\(required\)",
        r"\b(?:requires?|needs?) (?:[\w'’-]+ ){0,3}?(?:approval|confirmation|consent|permission|sign-off|"
        r"reviews?|authori[sz]ation|validation|verification|a human|approvals)\b",
        rf"\b(?:{_WHO}|users?|customers?|callers?|operators?|it|they)(?: will|['’]ll)? needs? to\b|\bneeds? to be\b",
        rf"\b(?:{_WHO}|it|they|this|these|user|files?|changes?|tests?|checks?)\s+(?:have|has) to\b",
        rf"\bha(?:s|ve) to be\b|\b{_WHO}(?: is| are|['’]re) (?:not )?to {_VERB}|"
        r"\b(?:is|are) (?:only |not |never |always )?to be (?:\w+ed|done|kept|made|put|run|sent|set|written)\b",
        rf"{_BEGINS}(?:ensure|make (?:absolutely )?sure|be sure|make certain|take care|be careful (?:not )?to|guarantee|confirm that|"
        r"verify that|check that|validate that)\b",
        r"\bonly (?:after|once)\b|\bonly ever\b|\bunder no circumstances\b|\bat all times\b|\bwithout exception\b",
        r"\bno exceptions\b|\b(?:unconditionally|without fail|on no account|in no case|no matter what)\b",
        rf"{_BEGINS}(?:refuse|abort|halt|stop and (?:ask|inform|notify|report|tell|wait)|escalate|"
        r"hand (?:over|off|it over) to a (?:human|person)|refrain from|stay (?:away from|out of|off)|keep (?:\w+ )?hands off|neither)\b",
        rf"{_BEGINS}(?:avoid (?!`…`[.!]*$|[^.;]*:$)|leave (?:\S+ ){{1,6}}(?:alone|as (?:is|they are|it is)|untouched|unchanged|intact)\b)",
        rf"{_BEGINS}(?:verify|confirm|double-check)\s+(?:\S+\s+){{1,14}}?"
        r"(?:\b(?:is|are|was|were|exists?|works?|has|have|supports?|passe[sd]|succeeded)\b|[=<>≥≤]+(?= ))",
        rf"(?:{_BEGINS}|→\s*)ask\b(?! (?:yourself|about|questions)\b| (?-i:[A-Z])[a-z]+[A-Z])|\b(?:agent|assistant) (?:asks|prompts)\b",
        rf"{_BEGINS}(?:clarify|check|confirm|discuss|agree|validate|verify|review)\b[^.;:]{{0,80}}? with (?:the |your |an? )?{_PERSON}\b",
        rf"{_BEGINS}(?:let|have|require|get) (?:the |your |an? )?{_PERSON} (?:to )?(?:approve|choose|confirm|decide|pick|review|select|sign|verify)\b",
        rf"{_BEGINS}wait (?:until\b|for (?:[\w'’]+ ){{0,3}}?(?:{_PERSON}|answers?|approvals?|confirmation|consent|permission|repl(?:y|ies)|responses?|sign-off)\b)|"
        r"\band wait[.!]*$",
        rf"{_BEGINS}(?:remember to|do not forget|don['’]t forget)\b|\bonly then\b",
        r"\bno \w[\w /-]{0,40} without\b",
        rf"\b(?:stays?|remains?) (?:always |strictly )?(?:under|below|above|inside|within|at or (?:under|below)) [$€£]?"
        rf"(?:{_COUNT}|the (?:limit|budget|cap|quota|threshold)\b)",
        r"\bwith(?:in)? (?:these|the following) (?:hard |strict )?(?:limits|restrictions|constraints)\b",
        # What every such thing has before it.
        r"\b(?:needs?|requires?) [^.;:]{1,80}?\b(?:first|beforehand|in advance)\b(?! \w)",
        r"\b(?:needs?|requires?|(?:is|are|be) (?:\w+ )?(?:preceded|followed|backed) by) "
        rf"(?:an?|the|{_COUNT}) {_PASSED}\b",
        r"\b(?:is|are) \w+ for (?-i:EACH|EVERY|ALL)\b",
        r"\balways (?:(?:comes?|goes?|ends?|stands?) )?(?:first|last|before|after)\b",
        r"\balways (?:preceded|followed|accompanied) by\b|\b(?:precede|follow)s? (?:each|every)\b",
        r"\b(?:accepted|complete|done|finished|ready|valid) only (?:when|if)\b|"
        rf"\b{_NOT} (?:yet )?(?:complete|done|finished|ready) (?:until|unless|before)\b|\bdoes(?: not|n['’]t) count as\b",
        r"^not until\b|\b(?:nothing|nobody|no one|none) [^.;:]{0,40}?(?:is|are|gets?|be) (?!displayed|shown|printed)\w+ed\b[^.;:]{0,80}? (?:before|until|unless|without)\b",
        rf"^unless\b[^,]{{1,120}}, (?:nothing|nobody|no one|no)\b|^none of\b[^.;:]{{1,80}}\b(?:may|can) be\b|^neither\b[^.;:]{{1,80}}\b(?:may|can)\b",
        r"\b(?:you|agents?|assistants?|models?|it|they) should (?:not|never|at most|only) |\bshouldn['’]t\b",
        rf"\b{_WHO} should\b[^.;]{{1,160}}? (?:before|only if|unless|until|without)\b|\bif and only if\b",
        r"\bthere (?:can(?: ?not|['’]t)|must(?: not|n['’]t)) be any\b|"
        r", (?:and |but )?(?:nowhere|nothing|nobody|no one|no other \w+) else[.!]*$",
        rf"\b(?:is|are|gets?) (?:\w+ly |always |first |also |only )?{_DONE}\b[^.;:]{{0,80}}? "
        rf"(?:before|prior to) {_EACH}\b",
        rf"\b(?:comes?|goes|happens?|runs?) (?:only |always )?before {_EACH}\b|\bprecedes? {_EACH}\b",
        r"\bshould (?:only |always |first )?be \w+[^.;:]{1,100}? (?:before|after|only|prior to|unless|until)\b",
        r"[—–(]\s*only (?:if|when)\b|\b(?:belongs?|go(?:es)?) (?:in|into|to|under)\b[^.;:]{1,60}? only[.!]*$",
        r"\bbelongs? (?:in|into|to|under|on)\b[^.;:]{1,60}?,? (?:never|not) (?:in|into|to|under|on)\b|\b(?:belongs?|goes?) only\b|\bonly (?:belongs?|goes?)\b|"
        r"(?:^|[,;:—–]\s*)use `…` (?:and |but )?not (?:bare |plain |raw )?`…`",
    ),
)
"""What makes a sentence an obligation by itself, once `MERE` is taken out of it."""

OPENING = (
    any_of(
        rf"you (?:cannot|can['’]t) (?!(?:find|get|know|read|see|tell|undo|use|view)\b){_VERB}",
        rf"no (?:[\w-]+ ){{0,2}}{_ACTS}(?:[.!]*$|,? (?:to|on|before|during|while|without|until|unless|outside)\b)",
        rf"no (?!matching\b|missing\b|remaining\b|existing\b){_DOING} (?:to|of|into|on|without|from|outside)\b",
        r"`…`(?: —)? only (?:if|when)\b|only `…` (?:if|when)\b",
        rf"(?:before|after) \w+ing\b[^,:.]{{1,60}}? {_VERB} (?:the|an?|your|all|it|every|each)\b",
        r"(?:nobody|no one) (?!(?:knows|needs|wants|cares|uses|has|is|was|likes|sees)\b)\w+s\b",
        r"required\s*[:—–-]\s*\w|no\b[^.]{0,80}\b(?:allowed|permitted|unless|until|before)\b",
        # Amounts, unless they say what a thing has or takes: `At least 4 GB of memory`.
        rf"(?:(?:hard|strict) (?:limit|cap)s?: ?|{_MOST} ){_COUNT}(?![^.]*\b(?:[kmgt]i?b|ram|memory|cpus?|cores?|"
        r"gpus?|disk|supported|returned|available|listed|shown)\b)",
        # What every such thing has before it.
        rf"{_EACH} [^.;:]{{1,120}}?\b(?:needs?|requires?|go(?:es)? through|waits? for) "
        rf"(?:an?|the|at (?:least|most)|exactly|review|approval|{_COUNT})|"
        rf"{_EACH} [^.;:]{{1,120}}? gets (?:at (?:least|most)|exactly|{_COUNT})",
        rf"{_COUNT} (?:[\w-]+ ){{1,4}}(?:minimum|maximum|min|max|at most|at least)[.!]*$",
        rf"(?:spend|use|take|make|allow|send) (?:at most|no more than|at least|not more than) [$€£]?{_COUNT}",
        rf"{_VERB} nothing\b|zero tolerance\b",
        rf"{_EACH} [^.;:]{{1,120}}?\b(?:preceded|followed|accompanied|approved|reviewed|confirmed|backed|signed) by\b",
        # `After three failures in a row ask`, without a comma.
        r"(?:after|before|once)\b[^,:.]{2,120}?(?<!users)(?<!user)(?<!they)(?<!you)(?<!people)(?<!who)(?<!to) "
        r"(?:please )?(?:ask|stop|abort|halt|escalate|give up|roll back)\b",
        r"(?:if|when|on)\b[^,:.]{0,120}?\b(?:fail(?:s|ed|ures?)?|errors?|breaks|missing|unclear|unsure|doubt|"
        r"ambiguous) (?:please )?(?:ask|stop|abort|halt|escalate|give up|roll back)\b",
    ),
    re.compile(
        rf"NO `|(?i:{_WHERE}(?:always |then )?{_VERB})[^.;:]{{0,120}}?\b(?:ALL|ONLY|EXACTLY|EVERY|BEFORE|FIRST)\b(?!-)"
        r"|(?:NO|ZERO) [a-z]|DO [a-z]+\b"
        r"|(?i:critical|mandatory|warning|caution|danger|important|rule)\s*[:!—–-][^.]{1,160}\bNOT\b",
    ),
)
"""What does so at the beginning of a sentence."""

ALONE = any_of(
    r"(?:always|do not|don['’]t|forbidden|mandatory|must(?: not)?|never|no exceptions|prohibited|required)[^\w:]*"
)
"""Such a word with nothing that it asks for, unless it introduces a list."""

MERE = any_of(
    r"\bmust-\w+|\b(?:if|or) (?:you|we|they|it) (?:absolutely )?(?:must|need to|have to)\b",
    r"\bno (?:[\w-]+ ){1,3}(?:is|are) (?:needed|required|necessary)\b|\b(?:not|never|longer|nor) (?:need|require)\b|^why\b.*",
    r"\b(?:do not|don['’]t|does not|doesn['’]t|did not|won['’]t|will not|never|no longer|no|may|might|would|without|as|"
    r"when(?:ever)? you|if (?:you|the user|they|we))\s+(?:need|needs|have|has|having|needing)\s+to\b",
    r"\b(?:may|might) (?:need|require)\b|^never [a-z]+(?<!s)s\b|\bthere is no need\b",
    rf"\b(?:{_NOT}|if|as|when|where|no longer) (?:be )?(?:strictly )?required\b",
    r"\b(?:not|isn['’]t|if) (?:\w+ )?(?:mandatory|obligatory|forbidden)\b|\bnot only once\b",
    r"\bto (?:ensure|make sure|verify that|guarantee)\b|\b(?:has|have|had|was|were|i|we|['’]ve) never\b",
    r"\b(?:what|why|how|when|where|whether|which|who|(?:things|everything)(?: \w+)) (?:\w+ ){0,4}?"
    r"(?:must|needs? to|has to|have to)\b",
    r"\b(?:as|that|who|which|users?|people|they|these|those|we|i|it)\s+(?:often |usually |sometimes )?"
    r"(?:do not|don['’]t)\b",
    r"\b(?:they|these|those|which|it)\b[^.;:—]{0,120}\b(?:but|and) (?:do not|don['’]t)\b",
    r"\b(?:who|that|which) never\b|^(?:it|this) never [a-z]+s\b",
    r"\b\w+s (?:are|have|can)\b[^.;:]{0,80} (?:and|but) don['’]t\b",
    r"\b(?:assum|believ|expect|impl|infer|know|learn|notic|reali[sz]|think)\w* that\b[^.;]{0,60}? must\b",
    r"^(?:how|what|whether|which|who)\b[^,:;—?]*$|^(?:apply|choose|use) (?:when|if)\b[^,:;—]*",
    r"\byou never know\b|\b(?:this|that|there|it) must be (?:an?|some|the) "
    r"(?:\w+ )?(?:bug|error|mistake|problem|reason|typo|way)\b",
    r"(?<!\bis )(?<!\bare )(?<!\bbe )\brequired (?:reading|by|for|fields?|arguments?|parameters?|"
    r"tools?|inputs?|columns?|packages?)\b",
)
"""Phrases with such a word that demand nothing: `you do not need to`, `if required`, `what must be known`."""

_FIRST = (
    r"(?:before|prior to|after|once|at the (?:end|start|beginning)\b|upon|immediately after|"
    r"when (?:done|finished|complete)|whenever|(?:every|each|any) time|unless)"
)
_CHECKS = "check|verify|confirm|look|read|ask|find out|inspect|see whether|determine|validate"
_HALT = r"(?:stop|abort|halt|refuse|reject|escalate)"
_REACH = 220
"""Characters behind a verb in which something may tie it."""

_INSTRUCTION = any_of(rf"{_WHERE}(?:\w+ly |first,? |then,? |always )?(?!name\b)(?P<verb>{_VERB})")
_TIED = any_of(
    r"\b(?:before(?! and after)|prior to|after (?!all\b|that\b|which\b)|whenever|(?:each|every|any) time)\b",
    r"\bonly (?:if|when|where|while|with|within|from|via|through|for|in|on|to|at|by|as|what|those|your)\b|\b(?:solely|exclusively)\b",
    r"\b(?:unless|until the user|without (?:asking|confirmation|approval|permission))\b",
)
"""What ties an instruction to an order or a condition."""

_BOUND = any_of(
    r"(?<!\bthe )(?<!\ba )(?<!\bat )(?<!\byour )(?<!\bits )(?<!\beach )(?-i:(?<!-)\bfirst)"
    r"(?=\s*(?:[,;:.!)–—]|- |$|(?:and|to|before|then|whether|when|for|if|unless|that|so)\b))",
    rf"(?<!\bif )(?<!\bwhen )(?<!\buntil )\b{_MOST} {_COUNT}",
    r"\bonly(?=\s*(?:[—–.!(]|$))|\bexactly\b(?! (?:how|the|what|when|where|which|who|why)\b)",
    rf" and (?:then )?{_HALT} (?:on|at|as soon as|if|when|once)\b",
    r"\bin (?:this|that|the (?:following|given|listed|stated|same|right)) order\b|\bin order[.:]*$",
    r"^\s+(?:exactly |only )?(?:one|a single) [^.;:]{1,60}? (?:per|at a time)\b",
)
"""What does so unless the instruction only proposes."""

_PROPOSES = frozenset({"try", "prefer", "consider", "show"})
_BEGINNING = any_of(
    rf"{_FIRST}[^,:]{{0,160}}[,:]\s+(?:\w+ly |also |always |then |first )?{_VERB}|whenever\b[^.:;]{{1,200}}, {_VERB}",
    rf"first,? {_VERB}{_TEXT}{{1,160}}?[,;] (?:and )?(?:only )?then\b",
    rf"(?:first(?:ly| of all)?,? |(?:in|for|with) [^,:;.]{{1,80}}, first )(?:{_CHECKS})\b",
    rf"(?:as soon as|(?:in|on) (?:the )?(?:event|case)s? of)\b[^,:]{{1,120}}, (?:then )?{_VERB}|immediately {_VERB}|strictly {_VERB}",
    rf"{_VERB}[^.;:]{{1,120}} immediately[.!]*$|without (?:an?|the)\b[^,:]{{1,60}}, (?:do not|don['’]t|there is no)\b",
    rf"(?:when|if) (?:in doubt|unsure|uncertain|unclear)\b[^,:]{{0,60}}, {_VERB}",
    rf"even (?:if|when|on|after|for|with)\b[^,:]{{1,120}}, {_VERB}",
    rf"(?:{_HALT}|exit|bail out)\b[^.]{{0,80}}\b(?:as soon as|if|once|when|until|on (?:the |any )?(?:first )?(?:error|failure))\b",
    rf"{_WHERE}(?!prefer\b|consider\b|try\b){_VERB}{_TEXT}{{1,160}}"
    r", not (?!just\b|only\b|merely\b|necessarily\b|supported\b|required\b|needed\b|yet\b)\S",
    r"use `…` (?:instead of|rather than) `…`(?! (?:as|because|since|so)\b)",
    rf"{_WHERE}(?:get|gather|obtain|collect|request)\b{_TEXT}{{1,120}}? from (?:the )?user\b[.:]*$",
    rf"{_WHERE}(?:retry|re-?try|try)\b{_TEXT}{{0,80}}?\bup to {_COUNT}",
    rf"{_WHERE}(?:limit|cap|restrict|keep)\b{_TEXT}{{1,80}}?\b(?:to|under|below|within) [$€£]?{_COUNT}",
    rf"{_WHERE}(?:confine|restrict|limit)\b{_TEXT}{{1,80}}? to\b|{_WHERE}(?:stay|remain) (?:inside|within)\b",
    rf"{_WHERE}(?:keep|continue) \w+ing\b{_TEXT}{{1,200}}?\b(?:while|as long as|until|for {_EACH})\b",
    rf"{_WHERE}(?:follow|obey|observe|respect|adhere to|comply with|do|perform)(?: all| each)?(?: of)? "
    r"(?:these|the following) (?:[\w-]+ ){0,3}(?:rules?|constraints?|checks?|limits?|conventions?|guidelines?)\b",
    rf"you (?:always )?{_VERB}{_TEXT}{{1,120}}?\bbefore\b",
)
_WITHIN = any_of(
    rf"(?:^|[—–;:]\s+)only {_VERB}|{_BEGINS}{_VERB}(?: (?:up|it|them))? only\b|{_BEGINS}keep (?:\S+ ){{1,6}}out of\b",
    rf"\b(?:if|on|upon) [^,]{{1,160}},\s+(?:{_HALT}|roll (?:\S+ ){{0,4}}back)\b",
    rf"(?:^|[—–:;]\s+){_VERB}[^.;—–(]{{1,120}}?(?:,|\s[—–]) "
    r"(?:no (?!need|matter|longer|problem)[^.,;—–]{2,40}(?<!ed)(?:, (?:and |or )?|[.!)]*$)){1,6}$",
    r"\bfirst (?:an?|the) [^.;]{1,120}, then (?:an?|the)\b",
)

CALLOUT = any_of(
    r"^(?:critical|important|mandatory|warning|caution|danger|security|(?:[\w-]+ ){0,2}rule|first)\b"
    r"(?: rule| note)?\s*[:!—–-]"
)
INSTRUCTS = any_of(
    rf"{_WHERE}(?:only |always |first |please |then |\w+ly )?{_VERB}",
    rf"(?:for|in|on|when|if|with) [^,.:;]{{1,80}}? {_VERB} (?:`|(?:an?|the|your|all|each|every|only|no|it|them)\b)",
)

REMEDY = any_of(r"^(?:solutions?|fix|workaround|cause|symptom|example|result|remedy)\b\s*[:—–]")
"""A label of what helps once something went wrong."""

TELLS_OF = any_of(rf"^(?:{ACTS}) (?!(?:and|are|can|for|have|in|is|of|or|may|must|need|should|that)\b)")
"""A verb without its subject: `Writes the file, then reads it.`"""

SUBJECT = any_of(r"(?:use cases?|symptoms?|causes?|problems?|examples?|scenarios?|rationale|reasons?|background)\s*:|(?:in)?correct\b[^.:]*:$")
"""A label of what is spoken of, whatever words are in it."""

_FURTHER = re.compile(r"; |, (?:but|so) ")
"""Where a further clause begins."""
_NUMBER = re.compile(r"^\(?\d{1,2}[.)] ")
_ORNAMENT = re.compile(r"^(?:[^\w`\"'“(\[<]|\d+[.)]\s)+")
_LABEL = re.compile(r"^(?:step \d+|[\w/&' `….-]{1,60}?(?:\([^)]{0,60}\))?)(?:\s*[:—–]\s+| - )", re.IGNORECASE)
_QUOTES = frozenset("\"“”„«»‘’'")
_QUOTED = re.compile(
    r"[\s*_>-]*(?P<label>[^\"“”„«»:]{0,60}:\s*)?(?:[\"“„«](?P<said>[^\"“”„«»]{3,1000})[\"“”»][.!]?)[\s*_]*"
)
_RULE = re.compile(
    r"\b(?:rules?|polic(?:y|ies)|principles?|requirements?|constraints?|guidelines?|instructions?|remember|says?|said|"
    r"asks|asked|states?|reads?|wrote|demands|wants?)\b",
    re.IGNORECASE,
)
"""A label of what somebody demands; what stands behind `Error:` is no demand."""

_CLAUSE = re.compile(r"(?:before|after|once|if|when)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def demands(text: str) -> str | None:
    """The word by which a sentence demands something; None where it only describes, asks or recommends."""
    said = bare(text)
    if not said or (is_question(said) and not INSTRUCTS.match(said)) or ALONE.fullmatch(said):
        return None
    if SUBJECT.match(said):
        return None
    told = MERE.sub(lambda m: "~" * len(m.group()), said)
    for pattern in STRONG:
        if found := pattern.search(told):
            return found.group().strip(" ,:;—–-(").lower() or None
    for pattern in OPENING:
        if found := pattern.match(told) or pattern.match(unlabelled(told)):
            return found.group().strip(" ,:;—–-(").lower()
    if REMEDY.match(told) or TELLS_OF.match(told):
        return None
    if (ordered := orders(told)) is not None:
        return ordered
    if (callout := CALLOUT.match(told)) and INSTRUCTS.match(unlabelled(told[callout.end() :].lstrip())):
        return callout.group().rstrip(":!—–- ").lower()
    return None


def orders(said: str) -> str | None:
    """The words by which a bare sentence ties an instruction to an order, a condition or an amount."""
    # `Remotes are a risk; validate them before use.`
    for part in dict.fromkeys((unlabelled(said), said, *_FURTHER.split(said)[1:])):
        part = _NUMBER.sub("", part)
        found = _tied(part) or _BEGINNING.match(part) or _WITHIN.search(part)
        if found:
            return " ".join(part[found.start() :].split()[:3]).lower()
    return None


def _tied(text: str) -> re.Match[str] | None:
    """The instruction that a text begins with, if something ties it."""
    found = _INSTRUCTION.match(text)
    if found is None:
        return None
    rest = text[found.end() : found.end() + _REACH]
    tied = _TIED.search(rest) or (found["verb"].lower() not in _PROPOSES and _BOUND.search(rest))
    return found if tied else None


def instructs(text: str) -> bool:
    """Whether a sentence tells somebody to do something (`Use …`, `Run …`), be it demanded or only advised."""
    said = bare(text)
    return INSTRUCTS.match(unlabelled(said)) is not None or INSTRUCTS.match(said) is not None


def is_question(text: str) -> bool:
    """Whether a sentence asks a question."""
    return text.rstrip("*_)\"'”’ ").endswith("?")


def bare(text: str) -> str:
    """The sentence without code, quotations and ornaments; one that is a quotation as a whole is what it says."""
    text = unquoted(text)
    text = CODE.sub("`…`", text) if "`" in text else text
    if '"' in text or "“" in text:
        text = SPOKEN.sub("“…”", text)
    return _ORNAMENT.sub("", text[:2000])


def unquoted(text: str) -> str:
    """What a sentence says that stands in quotation marks, alone or behind a label (`Rule: "Never push."`)."""
    if _QUOTES.isdisjoint(text[:80]) and _QUOTES.isdisjoint(text[-4:]):
        return text
    found = _QUOTED.fullmatch(text)
    if found is not None and (not found["label"] or _RULE.search(found["label"])):
        return found["said"]
    inner = text.strip(" *_>")
    if inner[:1] in "'‘" and inner.rstrip(".!")[-1:] in ("'", "’"):
        return inner.rstrip(".!")[1:-1]
    if inner[:1] in _QUOTES and _QUOTES.isdisjoint(inner[1:]):  # a quotation of several sentences begins here
        return inner[1:]
    if inner[-1:] in _QUOTES and _QUOTES.isdisjoint(inner[:-1]):
        return inner[:-1]
    return text


def unlabelled(text: str) -> str:
    """The sentence from where it speaks: without a label (`Step 2:`, `No randomness —`) before it."""
    label = _LABEL.match(text)
    if label and (label.end() < len(text)) and not _CLAUSE.match(text):
        return text[label.end() :]
    return text
