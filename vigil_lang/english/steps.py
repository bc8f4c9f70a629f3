"""A step that somebody takes, and what only looks like one: a noun that is a verb elsewhere, or what a thing is for.

`passed_over` reads sentences with these patterns, in which nothing demands anything.
"""

from __future__ import annotations

from vigil_lang.english.lazy_patterns import any_of
from vigil_lang.english.principles import VERB
from vigil_lang.english.words import one_of, word_list

_NOUNS = (
    r"(?:attempt|batch|cache|export|format|import|index|limit|list|log|map|number|order|output|pass|query|request|"
    r"result|resume|return|set|state|target|test|update|value)"
)
"""Verbs that are as often nouns."""

_OBJECT = r"(?:(?:an?|the|it|this|these|your|them|each|every|all|only|with (?:an?|the))\b|[`\d“])"

GOES_ON_TO_ACT = any_of(
    rf"(?:[;:—–]|,? so) (?:(?:then|just|always|please) )?(?!see\b){VERB} (?={_OBJECT})",
    r"; use (?:in|inside|only|with) |\((?:deprecated|legacy)\W+use \w|^[^,;:]{3,120} (?:are|is) [^,;:]{2,80}, use \w",
)
"""Where a sentence that tells something goes on to what is to be done about it: `The file is at the root, so use …`."""

MAY_ACT = any_of(rf"{one_of(word_list('imperatives_or_nouns'))} (?=[\w`])")
"""A word that is as often a noun before another one: an instruction only right below one (`Design labels`)."""

VERB_ALONE = any_of(
    r"(?:[^:.;]{1,120}, )?(?:then |also |now )?"
    rf"(?!(?:re-?)?(?:check|execute|install|process|remember|run|start|test|verify)\b){VERB}:$"
)
"""An instruction that is nothing but its verb and the list below it: `From these, identify:`."""

FIRM = any_of(r"(?:prefer|suggest)\b|see [^.;]{1,80} (?:before|when|while) (?:\w+ing|you)\b")
"""An instruction by a verb of advice, or to read something at a time."""

COMMANDS = any_of(
    r"(?:[^:.;]{1,120}, )?(?:then )?(?:re-?)?(?:execute|run)(?: (?:these|the following)(?: [\w-]+){0,2})?:"
)
"""A lead whose items are commands, each of which is run."""

LEAVES = any_of(
    r"(?:if|when|for|in|to)\b[^,]{1,120}, (?:also )?consider\b|"
    r"\b(?:optionally|feel free|you (?:can|could|may|might)(?!['’]t)|if (?:you )?(?:like|prefer|want(?: to)?))\b"
)
"""What leaves it to somebody whether an instruction is followed."""

# --- what tells of something ------------------------------------------------------------------------------------------

NAMES = any_of(
    # `List of crates`, `Guide to the harbour`, but `Dispose of the crate`.
    r"(?!(?:dispose|instead|think|take|beware|make|get) )[\w-]+ of\b|(?:guide|support|request) (?:to|for)\b",
    # `State persists in the log`, `Auto-retry is on`, `These flags are the defaults — fail fast`.
    r"(?:[\w-]+ ){1,2}(?:is|are|was|were|has|have|can|will|does|do|did) |\w+ (?:persists|survives) ",
    rf"{_NOUNS}s?\b (?!(?:an?|the|your|each|every|all|it|that|them|this|these|whether)\b)[^.;:]{{0,60}}?(?<!\bto )\b"
    r"(?:are|can|do(?:es)?(?:n['’]t)?|fails?|gets?|goes|has|have|holds?|is|means?|resets?|returns?|runs?|stays?|will)\b"
    r"|value `…` =",
    r"[^:—–]{1,60}\b(?:is|are|was|were|has|have|gives?|lets?|provides?|means?) [^:—–]{1,60} (?:[—–]|--?) ",
    # `Focus: order of crates`, but `Heavy crates: lift them`
    rf"(?!(?:check|look|scan|search|watch) for: )[\w-]+(?: [\w-]+)?: (?![`“\"…])(?!(?:\w+ly )?{VERB})",
    # `State parameter validation failed.`
    r"[^.:;,]{1,80} (?:failed|missing|found|expired)[.!]*$",
    # `Without it, change requests fail.`, `Batch processing with a full refresh`
    r"without (?:it|them|this)\b|batch processing\b",
    # `Pass threshold: half of all crates`, `Update process:`
    r"(?:[\w-]+ )?(?:examples?|goals?|notes?|prompts?|purpose|references?|use cases?)\s*:|"
    rf"{_NOUNS}\b[^:.;]{{0,30}}: (?!`|{VERB})",
    r"(?!(?:choose|decide|detect|determine|identify|infer|select|specify)\b)[^:]{1,40}"
    r"\b(?:agents|conditions|fields|modes|options|process|sequence|types?)(?: \([^()]*\))?:$",
    # `name`: number of crates
    r"(?:`…`(?: \([^()]*\))?(?:(?:,| or|/) ?`…`)*|(?-i:(?:[a-z][\w-]*|[A-Z]+_[A-Z_]+)(?: \([^()]*\))?(?=:))) ?"
    rf"(?:[:—–]|--?) (?!{VERB} (?:{_OBJECT}|to\b))",
)
"""The beginning of a sentence that tells of a thing, whatever verb its first word may be."""

FLOWS = any_of(
    r"\b(?:how (?!(?:you|we|agents?)\b)[\w-]+ works?|"
    r"what (?:(?:is|are)(?! (?:allowed|expected|forbidden|never|not|off|permitted|prohibited|required)\b)|it does|"
    r"happens)|(?:core|control|data|process|request) flow|behind the scenes|under the hood|"
    r"(?:key|main) (?:features|fields|concepts|parameters)|use cases?|contents|resources|references|documentation|"
    r"see also|related(?: \w+)?|further reading|navigation|findings(?=\W*$)|lessons learned|"
    r"(?:examples|tutorials)(?=\W*$| and\b))\b|"
    r"\b(?:arguments|columns|fields|flags|options|parameters|properties|settings|variables)\W*$"
)
"""A heading or lead below which it is told how something works, or where more is told."""

DESCRIBING_LEAD = any_of(
    r"(?:contains|includes|provides|returns|supports)\b[^:]*:$|see\b[^:]*:$|"
    r"(?!(?:you|agents?|the (?:agent|assistant|model)|when|if|once|before|after|each|every|all|these|this|it|to)\b)"
    r"(?:[\w-]+ ){1,8}?(?:is|are|was|has|have|checks?|consists?|contains?|covers?|enables?|helps?|includes?|provides?|"
    r"serves?|supports?|tracks?|uses?|works?)\b[^:]*:$"
)
"""A lead that tells what something does or has: `A crane consists of these parts:`."""

FAULTS = any_of(
    r"\b(?:anti-?patterns?|bad|don['’]?ts?|incorrect|mistakes?|not to|pitfalls?|red flags?|smells?|wrong)\b"
)
"""A heading or lead below which it is said what is done wrong: an instruction there is none to follow."""

ENDS = any_of(r"(?:abort|exit|halt|stop)[.!]*$")
"""An instruction of one word."""

CASES = any_of(
    r"\W*(?:description|purpose)\W*$|\W*(?:background|case stud(?:y|ies)|history|overview)\b|\W*(?:[\w-]+ ){0,3}"
    r"(?:capabilities|examples?|features|functionality|workflows? examples?|example workflows)\W*$"
)
"""A heading of a section in whose parts it is told what was or may be done."""

TITLE = any_of(r"(?:option|step|phase|pass|stage|part) \d+\s*[:.—–-] [^.:;]{1,80}(?<![.:;])$")
"""A line that is only the title of a step, wherever that is told."""

POINTED = any_of(r"\b(?:this|these)\b|:$|^use\b")
"""What is said of the document itself or of what stands below, and sums up nothing."""

# --- where steps are taken, and where they are only shown -------------------------------------------------------------

NUMBERED = any_of(r"\W*(?:(?:step|phase|pass|stage|part) (?:\d+\b|\w+$)|\d{1,2}[.)] )")
"""A heading or label of one of the steps that an agent takes one after another."""

MAKES = any_of(r"[:.)—–] ?(?:build|compose|create|define|draft|generate|prepare|produce|scaffold|write)\b")
"""The heading of a step that has something made, of which parts are named below it."""

PROCEDURE = any_of(
    r"\b(?:steps|process|procedure|protocol|workflow|instructions|behaviou?r|how to (?!use\b|get\b|run\b)\w+|"
    r"when activated\b.*)\W*$"
)
"""A heading below which an agent is told what it does."""

STEP_COLUMN = any_of(
    r"\W*(?:actions?|instructions?|steps?|(?:.*\b)?(?:fix(?:es)?|remed(?:y|ies)|resolutions?|solutions?|tips?|"
    r"workarounds?|what to (?:check|do)))\W*"
)
"""The head of a column whose cells are steps, those that are taken once something went wrong as well."""

LOOKED_UP = any_of(
    r"(?:(?:simply|just) )?(?:use|run|pass|search|see|set|call|add) [^.;:]{1,80} to "
    r"(?:access|disable|enable|get|inspect|list|look|opt|override|query|see|show|skip|turn|view)\b",
    r"(?:for|to)\b[^.;:]{1,160}, see\b|(?:[^:]{1,40}: )?(?:read more|refer to|see)\b",
)
"""What may be done by somebody who wants to know or to have something."""

CASES_FOLLOW = any_of(r"(?:when|if|(?<!workflow )(?<!process )(?<!steps )(?<!procedure )for \w+ing)\W*$")
"""The end of a lead whose items are the cases for which something is chosen: `Choose chains when:`."""

CHOOSES = any_of(
    r"(?:first|next|now|then), |copy this\b|(?:for [^,:]{1,80}, )?(?:handle|keep|prefer|use)\b|"
    r"(?:then )?(?:create|save|write) (?:it |this )?(?:as |to )?`"
)
"""An instruction that says what is chosen, of which the code below it is the example: `Use three shelves:`."""
