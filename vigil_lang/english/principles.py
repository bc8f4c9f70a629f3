"""How English demands something: the constructions by which a sentence obliges its reader, by what they say.

They are patterns over a sentence without its Markdown, code and quotations; `demanding` reads sentences with them.
"""

from __future__ import annotations

from vigil_lang.english.lazy_patterns import Pattern, any_of
from vigil_lang.english.words import NUMBERS, one_of, word_list

_IMPERATIVES = word_list("imperatives")


def _of_one(verb: str) -> str:
    """The verb as one does it: `writes`, `pushes`, `applies`."""
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


# --- words -----------------------------------------------------------------------------------------------------------

# What may be a noun, too (`Work items are …`), is a verb where the noun that it acts on follows.
VERB = (
    rf"(?:(?:re|pre|auto|un|de|backtick|double|single)-)?(?:{one_of(_IMPERATIVES)}\b(?![-/])|{one_of(word_list('imperatives_or_nouns'))}"
    r" (?=(?:an?|the|your|its?|them|their|this|these|all|any|each|every|no|only)\b|`)|"
    r"`…` (?=(?:an?|the|your|all|each|every)\b)|test (?=(?:that|whether)\b)|"
    rf"(?!{one_of(word_list('no_verbs'))}\b)[a-z]{{3,}}(?:i[sz]e|ify)\b(?![-/])|"
    r"have (?=(?:an?|the|your)\b|[a-z]+ ready\b)|"
    r"default (?=to\b)|lead (?=with\b)|speak (?=in\b)|work (?=(?:only|in|inside|through|within|from|on|with)\b))"
)
ACTS = one_of(map(_of_one, _IMPERATIVES))
"""The verbs with the ending of one who is spoken of: `writes`."""

_DOING = rf"{one_of(verb.removesuffix('e') for verb in _IMPERATIVES)}\w?ing\b"
_NOUNS_OF_ACTS = (
    r"(?:(?:force[- ])?push(?:es)?|merges?|deploy(?:s|ments?)?|releases?|deletions?|uploads?|rebases?|installs|"
    r"installations?|migrations?)"
)
COUNT = rf"(?:\d[\d,.]*|{'|'.join(NUMBERS)})\b"
MOST = r"(?:at most|no more than|not more than|at least|no fewer than|(?:a )?(?:max|min)(?:imum)?\.?(?: of)?|exactly)"
EACH = r"(?:each|every|any|all)"
_DONE = r"(?:\w+ed|run|made|done|kept|taken|sent|written|put|built|read|set|shown|drawn)"
_PASSED = r"(?:passing|successful|green|clean|fresh|prior|previous|second|signed|approved|written)"
_ADVERBS = r"(?:also|always|only|first|just|simply|then|please|immediately|explicitly)"
WHERE = (
    r"(?:(?:to|if|when|while|for|in|on|at|during|inside|within|with(?:out)?|after|before|once|"
    r"instead of|rather than)\b[^:;]{1,160}?"
    r"(?:,| ?(?:→|->|[—–]|--)) (?:then )?|otherwise,? )?"
)
"""When, where or what for something is done, with the comma behind it."""
_TEXT = r"(?:[^.]|\.(?=[\w,]))"
# Where a clause begins: nobody stands before its verb, so that the reader is meant.
BEGINS = rf"(?:^|[,:;—–(]\s*|\s--?\s|\b(?:and|but|then|or|please|instead|so)\s+)(?:{_ADVERBS}\s+)*"
_WHO = r"(?:you|agents?|the (?:agent|model|assistant|user|caller)|assistants?|models?)"
_PERSON = r"(?:user|users|customer|human|owner|operator|caller|requester|maintainer|reviewer|author)"
_ANSWER = r"(?:answers?|approvals?|confirmation|consent|permission|repl(?:y|ies)|responses?|sign-off)"
_NOBODY = r"(?:nothing|nobody|no one|none)"
_NOT = r"(?:not|isn['’]t|aren['’]t|never)"
HALT = r"(?:stop|abort|halt|refuse|reject|escalate)"
# What something is, rather than what is done to it.
_BEING = (
    r"(?:be )?(?:appear|available|better|change|contain|different|displayed|empty|exist|found|happen|have|missing|"
    r"necessary|needed|present|required|returned|seem|shown|support|supported|visible|work)\b"
)

# --- wherever they stand ---------------------------------------------------------------------------------------------

_CAPITALS = Pattern(
    r"\b(?:NEVER|ALWAYS|[Dd][Oo] NOT|DON['’]T|MUST|SHOULD NOT|[Ss]hould NOT|MANDATORY|REQUIRED|FORBIDDEN|"
    r"PROHIBITED|STOP)\b(?![-:])"
    r"|^(?:Use|Write|Put|Set|Call|Pass|Send|Store|Run)\b[^.;]{1,200}\((NOT)\b"
    r"|\bbut (?:use|put|set|write)\b[^.;]{1,200}\(NOT\b"
    r"|, NOT (?:an?|at|by|from|in|on|the|to|with)\b",
)

_MUST = (
    r"\bmust(?:n['’]t)?\b(?!-|\s+(?:have\s+)?been\b)",
    r"\bshall(?: not)?\b",
    rf"(?:{BEGINS}|\bto\s+|\bshould\s+|\b{_WHO}\s+|\bdo\s+)always\s+(?!returns?\b|true\b|false\b|the\b|an?\b)",
    rf"\b(?:{_WHO}|users?|customers?|callers?|operators?|it|they)(?: will|['’]ll)? needs? to\b|\bneeds? to be\b",
    rf"\b(?:{_WHO}|it|they|this|these|user|files?|changes?|tests?|checks?)\s+(?:have|has) to\b|\bha(?:s|ve) to be\b",
    rf"^you will (?:complete|execute|follow|go through|perform|run) (?:all|these|the following|{COUNT})\b",
    rf"\b{_WHO}(?: is| are|['’]re) (?:not )?to {VERB}|\b{_WHO} (?:is|are) (?:responsible for|obliged to|bound to)\b",
    r"\b(?:is|are) (?:only |not |never |always )?to be (?:\w+ed|done|kept|made|put|run|sent|set|written)\b",
    r"\bit(?: is|['’]s) (?:\w+ly )?(?:critical|crucial|essential|imperative|important|necessary|vital) "
    r"(?:that\b|to (?!(?:know|note|understand|remember that|reali[sz]e|see)\b))",
    r"\bit(?: is|['’]s) your (?:duty|job|responsibility)\b",
    r"\bat all times\b|\b(?:unconditionally|without fail|no matter what|without exception)\b|\bno exceptions\b",
    rf"{BEGINS}(?:remember to|do not forget|don['’]t forget)\b",
)
"""Words of duty."""

_MUST_NOT = (
    r"\bnever\b(?!-|\s+(?:mind|been|happens?|existed|got|seen))",
    rf"{BEGINS}(?:if [^,]{{1,120}}, )?(?:do not|don['’]t)[\s,]+"
    r"(?!have\b|exist\b|know\b(?!ingly)|see\b|need\b|worry\b|matter\b|"
    # `Do not apply changes`, but `the limits do not apply to guests`.
    r"apply(?! (?!(?:for|here|if|in|to|when)\b)[a-z]))",
    rf"\b{_WHO} (?:may|can|could|are|is) (?:not|only|never)\b",
    rf"(?:^|[,;] )you (?:do not|don['’]t) (?!(?:have|know|need|see|want)\b){VERB}",
    r"\b(?:you|agents?|assistants?|models?|it|they) should (?:not|never|at most|only) |\bshouldn['’]t\b",
    rf"\b(?:nothing|nobody|no one|no|only)\b(?:\s+(?!to\b|that\b)[^\s,.;:]+){{0,8}}?\s+may\b(?! {_BEING})",
    r"\bshould (?:not|never) be \w+(?:ed|en|ne|un|t)\b",
    r"^no (?:[\w-]+ ){1,4}should\b|\b(?:nothing|nobody|no one) should\b",
    r"^none of\b[^.;:]{1,80}\b(?:may|can) be\b|^neither\b[^.;:]{1,80}\b(?:may|can)\b",
    r"\b(?:may not|can ?not) be (?:used|shared|disclosed|changed|modified|deleted|removed|called|sent|stored|"
    r"exceeded|combined|skipped|merged|pushed|deployed|released|published|committed)\b",
    r"\bthere (?:can(?: ?not|['’]t)|must(?: not|n['’]t)) be any\b|\bmay not (?:begin|continue|proceed|start)\b",
    rf"\b(?:{_NOT}|only) (?:be )?(?:allowed|permitted|acceptable|authori[sz]ed|ok(?:ay)?|fine)\b",
    rf"\b{_NOT} (?:an? )?(?:approval|authori[sz]ation|consent|excuse|permission)\b",
    r"\b(?:forbidden|prohibited|disallowed)\b|\boff[- ]limits\b|\bhands off\b|\b(?:absolutely|strictly) no\b",
    r"\bunder no circumstances\b|\bat no (?:point|time)\b|\b(?:on no account|in no case)\b",
    r"^(?:reject|forbid|disallow|prohibit)\b",
    rf"{BEGINS}(?:refuse|abort|halt|stop and (?:ask|inform|notify|report|tell|wait)|refrain from|neither)\b",
    rf"{BEGINS}(?:stay (?:away from|out of|off)|keep (?:\w+ )?hands off)\b",
    rf"{BEGINS}avoid\b(?! `…`[.!]*$|[^.;]*:$)",
    rf"{BEGINS}leave (?:\S+ ){{1,6}}(?:alone|as (?:is|they are|it is)|untouched|unchanged|intact)\b",
)
"""Words that forbid, deny a permission, or have something left alone."""

_REQUIRED = (
    r"\b(?:obligatory|mandatory|compulsory|non-negotiable|not negotiable)\b|\b(?:not|never) optional\b",
    r"\b(?:is|are|be) (?:strictly |always |also |explicitly )?required\b|\(required\)",
    r"\b(?:requires?|needs?) (?:[\w'’-]+ ){0,3}?(?:approvals?|confirmation|consent|permission|sign-off|"
    r"reviews?|authori[sz]ation|validation|verification|a human)\b",
    r"(?<!\bit )\b(?:needs?|requires?) [^.;:]{1,80}?\b(?:first|beforehand|in advance)\b(?! \w)",
    r"\b(?:needs?|requires?) (?=`…`)",
    r"\b(?:needs?|requires?|(?:is|are|be) (?:\w+ )?(?:preceded|followed|backed) by) "
    rf"(?:an?|the|{COUNT}) {_PASSED}\b",
)
"""What something needs before it may be."""

_ASSURED = (
    rf"{BEGINS}(?:ensure|make (?:absolutely )?sure|be sure|make certain|take care|be careful (?:not )?to|guarantee)\b",
    rf"{BEGINS}(?:confirm|verify|check|validate) that\b",
    # `Tools read it and verify it` tells of tools.
    rf"(?:{BEGINS}(?<!and )|^{VERB}[^.;:]{{1,120}} and (?:then )?)(?:verify|confirm|double-check) "
    r"(?!(?:with|by)\b)[\w`“‘…]",
)
"""What the reader makes sure of."""

_CONSULTED = (
    rf"(?:{BEGINS}|→\s*)ask\b(?! =| (?:yourself|about|questions)\b| (?-i:[A-Z])[a-z]+[A-Z])",
    rf"\b(?:agent|assistant) (?:asks|prompts)\b|{BEGINS}escalate\b",
    rf"{BEGINS}{VERB} [^.;:]{{0,80}}?\b(?:for|to get|and get|to obtain) (?:an? |the |your |their )?"
    rf"(?:{_PERSON}['’]?s? )?(?:\w+ )?{_ANSWER}[.:!]*$",
    rf"\b(?:if|once|when|after|until) (?:the |your |an? )?{_PERSON} (?:has |explicitly )?"
    r"(?:confirm|approve|agree|accept|consent)\w*",
    rf"{BEGINS}hand (?:over|off|it over) to a (?:human|person)\b",
    rf"{BEGINS}(?:clarify|check|confirm|discuss|agree|validate|verify|review)\b[^.;:]{{0,80}}? "
    rf"with (?:the |your |an? )?{_PERSON}\b",
    rf"{BEGINS}(?:let|have|require|get) (?:the |your |an? )?{_PERSON} (?:to )?"
    r"(?:approve|choose|confirm|decide|pick|review|select|sign|verify)\b",
    rf"{BEGINS}wait (?:for|until)\b|\band wait[.!]*$",
)
"""Somebody else who has a say."""

_ORDERED = (
    r"\bonly (?:after|once)\b|\bonly ever\b|\bonly then\b|^not until\b",
    r"\bno \w[\w /-]{0,40} without\b",
    rf"\b{_NOBODY} [^.;:]{{0,40}}?(?:is|are|gets?|be) (?!displayed|shown|printed)\w+ed\b[^.;:]{{0,80}}? "
    r"(?:before|until|unless|without)\b",
    rf"^unless\b[^,]{{1,120}}, (?:{_NOBODY}|no)\b",
    r"\balways (?:(?:comes?|goes?|ends?|stands?) )?(?:first|last|before|after)\b",
    r"\b(?:is|are) always(?::| exactly\b)",
    r"\balways (?:preceded|followed|accompanied) by\b|\b(?:precede|follow)s? (?:each|every)\b",
    r"\b(?:accepted|complete|done|finished|ready|valid) only (?:when|if)\b|"
    r"\b(?:is|are) (?:acceptable|accepted|allowed|appropriate|fine|ok(?:ay)?|permitted|reserved) only\b",
    rf"\b{_NOT} (?:yet )?(?:complete|done|finished|ready) (?:until|unless|before)\b|"
    r"\bdoes(?: not|n['’]t) count as\b",
    rf"\b(?:is|are|gets?) (?:\w+ly |always |first |also |only )?{_DONE}\b[^.;:]{{0,80}}? (?:before|prior to) {EACH}\b",
    rf"\b(?:comes?|goes|happens?|runs?) (?:only |always )?before {EACH}\b",
    r"\bshould (?:only |always |first )?be \w+[^.;:]{1,100}? (?:before|after|only|prior to|unless|until)\b",
    rf"\b{_WHO} should\b[^.;]{{1,160}}? (?:before|only if|unless|until|without)\b|\bif and only if\b",
    r"\b(?:is|are) \w+ for (?-i:EACH|EVERY|ALL)\b",
)
"""What comes before, after, or only under a condition."""

_LIMITED = (
    r"\b(?:may|can) only\b|\b(?:allowed|permitted) only\b",
    rf"\bmay (?!{_BEING})(?:(?:be )?\w+ only\b|[^.;,]{{1,60}}? only (?:after|by|for|from|if|in|on|to|when|with)\b)",
    r"\b(?:at most|no more than|not more than|a maximum of) [^.;:]{1,60}\b(?:is|are) (?:allowed|permitted)\b",
    r"\b(?:may|can|must|should|do|does)(?: not|n['’]t) exceed\b",
    r"\b(?:stays?|remains?) (?:always |strictly )?(?:under|below|above|inside|within|at or (?:under|below)) [$€£]?"
    rf"(?:{COUNT}|the (?:limit|budget|cap|quota|threshold)\b)",
    r"\bwith(?:in)? (?:these|the following) (?:hard |strict )?(?:limits|restrictions|constraints)\b",
    r"[—–(]\s*only (?:if|when)\b|, (?:and |but )?(?:nowhere|nothing|nobody|no one|no other \w+) else[.!]*$",
    r"\b(?:belongs?|go(?:es)?) (?:in|into|to|under)\b[^.;:]{1,60}? only[.!]*$",
    r"\bbelongs? (?:in|into|to|under|on)\b[^.;:]{1,60}?,? (?:never|not) (?:in|into|to|under|on)\b",
    r"\b(?:belongs?|goes?|lives?|stays?) (?:exclusively|only|solely|strictly)\b|\bonly (?:belongs?|goes?)\b",
    r"(?:^|[,;:—–]\s*)use `…`,? (?:and |but )?not (?:bare |plain |raw )?`…`",
    r"\bbelongs? (?:in|to|under) (?:an?|the) \w",
    # Where something is, and where it is not: `Keys live in the vault, not the notebook`.
    r"\b(?:belongs?|defined|goes?|lives?|stored) (?:in|on|under) [^.;:]{1,80}, not (?:in |on |under |an? |the |`|\w)",
    rf"[(,] ?(?:max|min)(?:imum)?\.?:? (?:of )?{COUNT}(?![^)]*\b(?:[kmgt]i?b|ram|memory|cpus?|cores?|gpus?|disk)\b)"
    r"[^()]*\)",
    r"\baccepts? only\b|\bonly accepts?\b|\bmutually exclusive with\b|"
    r"\b(?:only compatible|compatible only) with\b",
)
"""How much, how often, or where."""

STRONG = (
    _CAPITALS,
    any_of(*_MUST, *_MUST_NOT, *_REQUIRED, *_ASSURED, *_CONSULTED, *_ORDERED, *_LIMITED),
)
"""What makes a sentence an obligation by itself, once `MERE` is taken out of it."""

SHOULD = any_of(
    r"^(?:[\w ]{1,30}: )?(?!(?:if|when|where|whether|what|which|how|why|use case|it|there|they|"
    r"(?:that|this|these|those)(?: (?:should|also|command|call|query|script|tool))?\b(?!(?: [\w-]+){1,3} should be\b)|"
    r"output|tests?|some|sometimes|correct)\b)(?!.*\b(?:when|that|which|who|if) (?:[^,;]{1,80} )?should\b)"
    r"[^:;?→\[(]{1,80}?(?<! - output) should(?::| (?!(?:also |still |now )?(?:now|already|quickly|automatically|see|"
    r"look|appear|work(?! (?:on|through|with)\b)|succeed|fail|pass|exist|resume|know|be (?:able|near|visible))\b)\w)"
)
"""What somebody or something should do or be, unless it tells what will be seen."""
READER_SHOULD = any_of(
    r"(?:before|after|if|when)\b[^,:;]{1,160}, "
    r"(?:you|agents?|authors?|developers?|engineers?|operators?|teams?|users?) should\b"
)
"""What whoever follows the document should do in a case."""

# --- at the beginning of a sentence ----------------------------------------------------------------------------------

OPENING = (
    any_of(
        rf"(?:each|every) \d+ [^,:]{{1,60}}, {VERB}",
        rf"you (?:cannot|can['’]t) (?!(?:find|get|know|read|see|tell|undo|use|view)\b){VERB}",
        rf"no (?:[\w-]+ ){{0,2}}{_NOUNS_OF_ACTS}"
        r"(?:[.!]*$|,? (?:to|on|before|during|while|without|until|unless|outside)\b)",
        rf"no (?!matching\b|missing\b|remaining\b|existing\b){_DOING} (?:to|of|into|on|without|from|outside)\b",
        r"`…`(?: —)? only (?:if|when)\b|only `…` (?:if|when)\b|"
        rf"only (?:after|before|if|in|on|once|upon|when|with) [^:,]{{1,100}}[:,—–] ?{VERB}",
        rf"(?:before|after) \w+ing\b[^,:.]{{1,60}}? {VERB} (?:the|an?|your|all|it|every|each)\b",
        # Of what the heading or the sentence before speaks of: `Should be short.`
        r"should (?!(?:he|i|it|she|that|the|there|these|they|this|we|you)\b)[a-z]+ \S",
        # What something cannot be without: `Requires serverless compute`, `Required if …`.
        r"requires? (?!an? (?:\w+ )?(?:understanding|knowledge)\b|understanding\b|careful\b|manual\b|"
        r"[^.]*\d\.\d)(?=\S)|required (?:if|when|where|for|only|on|in) |"
        r"(?:only|exactly) one of (?:these|the following)[^.]{0,40}:$",
        r"(?:check|confirm|validate|verify)s?: (?=[\w`]\S* \S)(?!(?:an?|the|your) [\w-]+[.!]*$)",
        # `Cannot open …` is what a program says.
        r"can(?:not| not|['’]t) (?:be )?(?:combined?|contain|defined?|exceed|include|mix(?:ed)?|nest(?:ed)?|overlap|"
        r"redefined?|refer(?:ence)?|reused?|used?)\b",
        # What a name or a value may be made of: `Letters, digits only.`
        r"(?=.(?-i:[^A-Z])+$)(?!.*\b(?:are|be|can|is|it|will)\b)(?:(?:[\w-]+(?: [\w-]+){0,3}, ){2,8}|"
        r"(?:[\w-]+,? ){1,12}(?:and|or) )[\w -]{1,40}(?<!\bread) only[.!]*$",
        r"(?:nobody|no one) (?!(?:knows|needs|wants|cares|uses|has|is|was|likes|sees)\b)\w+s\b",
        r"required\s*[:—–-]\s*\w|`…`(?: \([^()]*\))?(?: ?[:—–]| --?) required (?!by|if not|for\b)\w|"
        r"no\b[^.]{0,80}\b(?:allowed|permitted|unless|until|before)\b",
        # Amounts, unless they say what a thing has or takes: `At least 4 GB of memory`.
        rf"(?:(?:hard|strict) (?:limit|cap)s?: ?|{MOST} ){COUNT}(?![^.]*\b(?:[kmgt]i?b|ram|memory|cpus?|cores?|"
        r"gpus?|disk|supported|returned|available|listed|shown)\b)",
        # What every such thing has before it.
        rf"{EACH} [^.;:]{{1,120}}?\b(?:needs?|requires?|go(?:es)? through|waits? for) "
        rf"(?:an?|the|at (?:least|most)|exactly|review|approval|{COUNT})|"
        rf"{EACH} [^.;:]{{1,120}}? gets (?:at (?:least|most)|exactly|{COUNT})",
        rf"{COUNT} (?:[\w-]+ ){{1,4}}(?:minimum|maximum|min|max|at most|at least)[.!]*$",
        rf"(?:spend|use|take|make|allow|send) (?:at most|no more than|at least|not more than) [$€£]?{COUNT}",
        rf"{VERB} nothing\b|zero tolerance\b|"
        r"(?:one|a single) [\w-]+(?: [\w-]+)? (?:at a time|per \w+)(?![^.;]* (?:is|are|was|has)\b)|"
        rf"no (?!(?:matching|missing|remaining|existing)\b)(?:[\w.-]+ ){{0,3}}[\w.-]+(?::| [-—–]) {VERB}|"
        r"no (?:separate|extra|further|more|new|other|second|silent|additional) (?:[\w.-]+ ){1,3}[-—–] ",
        r"(?:each|every) (?!of\b)[^.,;:]{1,80}? \w+ed(?: \w+ly)?[.!]*$",
        rf"{EACH} [^.;:]{{1,120}}?\b(?:preceded|followed|accompanied|approved|reviewed|confirmed|backed|signed) by\b",
        # `After three failures in a row ask`, without a comma.
        r"(?:after|before|once)\b[^,:.]{2,120}?(?<!users)(?<!user)(?<!they)(?<!you)(?<!people)(?<!who)(?<!to) "
        r"(?:please )?(?:ask|stop|abort|halt|escalate|give up|roll back)\b",
        r"(?:if|when|on)\b[^,:.]{0,120}?\b(?:fail(?:s|ed|ures?)?|errors?|breaks|missing|unclear|unsure|doubt|"
        r"ambiguous) (?:please )?(?:ask|stop|abort|halt|escalate|give up|roll back)\b",
    ),
    Pattern(
        rf"NO `|(?i:{WHERE}(?:always |then )?{VERB})[^.;:]{{0,120}}?\b(?:ALL|ONLY|EXACTLY|EXACT|EVERY|BEFORE|"
        r"FIRST|FULL|ENTIRE|WHOLE)\b(?!-)"
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
    r"\bno (?:[\w-]+ ){1,3}(?:is|are) (?:needed|required|necessary)\b|^why\b.*",
    r"\b(?:not|never|longer|nor) (?:need|require)\b",
    r"\b(?:do not|don['’]t|does not|doesn['’]t|did not|won['’]t|will not|never|no longer|no|may|might|would|without|as|"
    r"when(?:ever)? you|if (?:you|the user|they|we))\s+(?:need|needs|have|has|having|needing)\s+to\b",
    r"\b(?:may|might) (?:need|require)\b|\b(?:that|which) (?:still |also )?(?:needs?|requires?)\b",
    r"^(?-i:[Nn]ever) [a-z]+(?<!s)s\b|\bthere is no need\b",
    rf"\b(?:{_NOT}|if|as|when|where|no longer) (?:be )?(?:strictly )?required\b",
    r"\b(?:not|isn['’]t|if) (?:\w+ )?(?:mandatory|obligatory|forbidden)\b|\bnot only once\b",
    r"\bto (?:ensure|make sure|verify that|guarantee)\b|\b(?:has|have|had|was|were|i|we|['’]ve) never\b",
    r"\b(?:what|why|how|when|where|whether|which|who|(?:things|everything)(?: \w+)) (?:\w+ ){0,4}?"
    r"(?:must|needs? to|has to|have to)\b",
    r"\b(?:as|that|who|which|users?|people|they|these|those|we|i|it)\s+(?:often |usually |sometimes )?"
    r"(?:do not|don['’]t)\b",
    r"\b(?:they|these|those|which|it)\b[^.;:—]{0,120}\b(?:but|and) (?:do not|don['’]t)\b",
    r"\b(?:apis?|commands?|functions?|helpers?|librar(?:y|ies)|modes?|options?|scripts?|servers?|skills?|tools?|"
    r"wrappers?) (?:[^\s.;]+ ){0,6}?never \w+s\b",
    r"\b(?:who|that|which) never\b|\b(?:it|this) never [a-z-]+s\b",
    r"\b\w+s (?:are|have|can)\b[^.;:]{0,80} (?:and|but) don['’]t\b",
    r"\b(?:assum|believ|expect|impl|infer|know|learn|notic|reali[sz]|think)\w* that\b[^.;]{0,60}? must\b",
    r"^(?:how|what|whether|which|who)\b[^,:;—?]*$|^(?:apply|choose|use) (?:when|if)\b[^,:;—]*",
    r"^[\w ]{1,60} (?:that|which|who) (?:must|needs? to|ha(?:s|ve) to) [^,.;:]{1,80} (?:is|are)\b"
    r"(?! not (?:to\b|allowed))",
    r"\byou never know\b|\b(?:this|that|there|it) must be (?:an?|some|the) "
    r"(?:\w+ )?(?:bug|error|mistake|problem|reason|typo|way)\b",
    r"(?<!\bis )(?<!\bare )(?<!\bbe )\b(?!^required for\b)required (?:reading|by|for|fields?|arguments?|parameters?|"
    r"tools?|inputs?|columns?|packages?)\b",
)
"""Phrases with such a word that demand nothing: `you do not need to`, `if required`, `what must be known`."""

_FIRST = (
    r"(?:before|prior to|after|once|at the (?:end|start|beginning)\b|upon|immediately after|"
    r"when (?:done|finished|complete)|whenever|(?:every|each|any) time|unless)"
)
_CHECKS = "check|verify|confirm|look|read|ask|find out|inspect|see whether|determine|validate"
HALT = r"(?:stop|abort|halt|refuse|reject|escalate)"
_NO_AUXILIARY = "".join(rf"(?<!\b{word} )" for word in ("is", "are", "do", "does", "can", "may", "was", "were"))
"""Words behind which `not` makes no contrast: `Use it where ropes do not hold.`"""
REACH = 220
"""Characters behind a verb in which something may tie it."""

INSTRUCTION = any_of(rf"{WHERE}(?:\w+ly |first,? |then,? |always )?(?!name\b)(?P<verb>{VERB})")
TIED = any_of(
    r"\b(?:before(?! and after)|prior to|after (?!all\b|that\b|which\b)|whenever|(?:each|every|any) time)\b",
    r"\bonly (?:if|when|where|while|with|within|from|via|through|for|in|on|to|at|by|as|what|those|your)\b",
    r"\b(?:solely|exclusively|with only|within only|entirely (?:from|in|on))\b",
    r"\b(?:unless|until|without (?:asking|confirmation|approval|permission))\b",
)
"""What ties an instruction to an order or a condition."""

BOUND = any_of(
    r"(?<!\bthe )(?<!\ba )(?<!\bat )(?<!\byour )(?<!\bits )(?<!\beach )(?-i:(?<!-)\bfirst)"
    r"(?=\s*(?:[,;:.!)–—]|- |$|(?:and|to|before|then|whether|when|for|if|unless|that|so)\b))",
    rf"(?<!\bif )(?<!\bwhen )(?<!\buntil )\b{MOST} {COUNT}",
    r"\bonly(?=\s*(?:[—–.!(]|$))|\bexactly\b(?! (?:how|the|what|when|where|which|who|why)\b)",
    rf" and (?:then )?{HALT} (?:on|at|as soon as|if|when|once)\b",
    rf"\bwithin {COUNT} (?:ms|s|sec|seconds?|min|minutes?|h|hours?|days?)\b",
    r"\b(?:by|in|through) (?:this|that|the (?:following|given|listed|stated|same|right)) order\b|\bin order[.:]*$",
    r"\bone (?:\w+ )?at a time\b",
    r"^\s+(?:exactly |only )?(?:one|a single) [^.;:]{1,60}? (?:per|at a time)\b",
)
"""What does so unless the instruction only proposes."""

PROPOSES = frozenset({"try", "prefer", "consider", "show"})
BEGINNING = any_of(
    rf"{_FIRST}[^,:]{{0,160}}[,:]\s+(?:\w+ly |also |always |then |first )?{VERB}(?!(?<=\buse):)",
    rf"whenever\b[^.:;]{{1,200}}, {VERB}",
    rf"first,? {VERB}{_TEXT}{{1,160}}?[,;] (?:and )?(?:only )?then\b",
    rf"(?:first(?:ly| of all)?,? |(?:in|for|with) [^,:;.]{{1,80}}, first )(?:{_CHECKS})\b",
    rf"(?:as soon as|(?:in|on) (?:the )?(?:event|case)s? of)\b[^,:]{{1,120}}, (?:then )?{VERB}",
    rf"(?:immediately|strictly) {VERB}",
    rf"{VERB}(?: [^.;:]{{1,120}})? (?:immediately|right away)(?=[.!;,]*$|[;,] | \()",
    r"without (?:an?|the)\b[^,:]{1,60}, (?:do not|don['’]t|there is no)\b",
    rf"(?:when|if) (?:in doubt|unsure|uncertain|unclear)\b[^,:]{{0,60}}, {VERB}",
    rf"even (?:if|when|on|after|for|with)\b[^,:]{{1,120}}, {VERB}",
    rf"(?:{HALT}|exit|bail out)\b[^.]{{0,80}}\b"
    r"(?:as soon as|if|once|when|until|on (?:the |any )?(?:first )?(?:error|failure))\b",
    rf"{WHERE}(?!prefer\b|consider\b|try\b){VERB}{_TEXT}{{1,160}}"
    r", not (?!just\b|merely\b|only\b|necessarily\b|supported\b|required\b|needed\b|yet\b)\S",
    rf"{WHERE}(?!prefer\b|consider\b|save time\b|try\b){VERB}{_TEXT}{{1,160}}? "
    rf"(?:instead of|rather than|in place of) \S"
    r"(?!.{1,80} (?:as|because|since) )",
    r"when (?:done|finished|complete|completed)[,:] [a-z]+\b",
    rf"{VERB} (?:`…`|“…”),? (?:and )?not (?:`…`|“…”)",
    r"(?:if|when)\b[^:;.]{1,160}, (?!(?:an?|it|its|that|the|their|there|they|these|this|those|we|you|your)\b)[a-z-]+ "
    rf"{_TEXT}{{1,160}}? (?:instead of|rather than) \S",
    rf"{WHERE}use{_TEXT}{{1,60}}? {_NO_AUXILIARY}not (?!just\b|merely\b|necessarily\b|only\b)\S",
    rf"(?:if|when)\b(?:[^.;:]|\.(?=[\w,])){{1,200}}(?:,|\band|\bthen) (?:{HALT}|exit)\b",
    rf"{WHERE}(?:get|gather|obtain|collect|request)\b{_TEXT}{{1,120}}? from (?:the )?user\b[.:]*$",
    rf"{WHERE}(?:retry|re-?try|try)\b{_TEXT}{{0,80}}?\bup to {COUNT}",
    rf"{WHERE}(?:limit|cap|restrict|keep)\b{_TEXT}{{1,80}}?\b(?:to|under|below|within) [$€£]?{COUNT}",
    rf"{WHERE}(?:confine|restrict|limit)\b{_TEXT}{{1,80}}? to\b|{WHERE}(?:stay|remain) (?:inside|within)\b",
    rf"{WHERE}(?:keep|continue) \w+ing\b{_TEXT}{{1,200}}?\b(?:while|as long as|until|for {EACH})\b",
    rf"{WHERE}(?:follow|apply|obey|observe|respect|adhere to|comply with|do|perform)(?: all| each)?(?: of)? "
    r"(?:these|this|the following) (?:[\w-]+ ){0,3}(?:rules?|constraints?|checks?|limits?|conventions?|guidelines?|"
    r"approach|checklist|format|pattern|steps|structure|order|process|procedure|protocol|sequence|workflow)\b",
    rf"{WHERE}(?:strictly )?(?:follow|obey|adhere to|comply with|respect) (?:these|this|the following) \w",
    rf"you (?:always )?{VERB}{_TEXT}{{1,120}}?\bbefore\b",
)
WITHIN = any_of(
    rf"(?:^|[—–;:]\s+)only {VERB}|{BEGINS}{VERB}(?: (?:up|it|them))? only\b|{BEGINS}keep (?:\S+ ){{1,6}}out of\b",
    rf"\b(?:if|on|upon) [^.;:]{{1,200}}[,”]\s+(?:{HALT}|roll (?:\S+ ){{0,4}}back)\b",
    rf"(?:^|[—–:;]\s+){VERB}[^.;—–(]{{1,120}}?(?:, |\s?[—–]\s?)"
    r"(?:no (?!need|matter|longer|problem)[^.,;—–]{2,40}(?<!ed)(?:, (?:and |or )?|[.!)]*$)){1,6}$",
    r"\bfirst (?:an?|the) [^.;]{1,120}, then (?:an?|the)\b",
)

IN_A_CASE = any_of(
    r"(?!(?:where|in|on|for)\b.*:[ *_]*$)"
    r"(?:if|when(?! (?:not )?to\b)|whenever|where|otherwise|in|on|"
    r"for(?! (?:\w+ )?(?:better|best|details?|maximum|more)\b))\b"
    rf"[^:;]{{0,160}}?(?:[,:]| ?(?:→|->|[—–]|--)) (?:then )?(?:{_ADVERBS} )?"
    rf"(?!(?:see|consider|prefer|try|refer|list|state|note|block)\b){VERB}(?! (?:commands?|scripts?|options?)\b)(?!:)"
    r"(?![^.;]* (?:see|`?references/|\(\S+\.md\)))",
    # `A torn rope → use the chain`
    rf"[^→.;:]{{2,100}}?(?:→|->) (?:also |then )?(?-i:(?=[a-z]))"
    rf"(?!(?:consider|list|note|prefer|see|state|try)\b){VERB}(?= ?[\w`])",
)
"""What is to be done in a case, unless it only points somewhere or proposes; in which case, if it introduces a list."""

_OF = (
    r"(?!(?:although|as|because|error|few|how|if|it|many|most|not|since|some|that|there|though|what|when|where|whether|"
    r"which|while|who|why)\b)"
    r"(?:(?!\b(?:that|which|who)\b)[^.;:?]){1,100}?\b"
)
"""Who or what something is said of, unless it is a case or a reason."""

USABLE = any_of(
    rf"{_OF}(?:does|do)(?: not|n['’]t) (?:accept|support)\b",
    rf"{_OF}can(?: ?not|['’]t) be (?!(?:avoided|certain|confirmed|determined|done|found|guaranteed|helped|imported|"
    r"loaded|located|opened|parsed|reached|read|recovered|resolved|reversed|seen|sure|undone|verified)\b)"
    r"(?:an?\b|\w+(?:ed|en|wn|t|ad|id)\b)",
    rf"{_OF}(?:is|are) untrusted\b",
    rf"{_OF}(?:is|are) (?:(?:not|never) (?:accepted|compatible|supported|usable)|incompatible|rejected|"
    r"unsupported)\b",
    rf"{_OF}(?:only supports?|supports? only|(?:is|are) (?:accepted|available|supported|usable|valid) only|"
    r"(?:is|are) only (?:accepted|available|supported|usable|valid)|"
    r"(?:is|are) the only (?:accepted|allowed|permitted|supported|usable|valid))\b",
    r"only (?!(?:after|an?|because|before|few|for|if|in|on|once|one of|some|that|the|then|this|when|where|with)\b)"
    r"(?:`…`|[\w-]+)(?: [\w`…-]+){0,4}? (?:are|can|is|may|reads?|"
    r"works?|writes?) (?!(?:displayed|exported|listed|returned|shown|visible)\b)",
    rf"{_OF}(?:takes? precedence|(?<!\()appl(?:y|ies) to (?:all|each|every))\b|"
    rf"(?:(?:if|when)\b[^;:]{{1,160}}, )?[^.;:,]{{1,80}} wins(?:[.!]*$| \()",
    r"(?!(?:he|it|many|most|she|some|that|these|they|this|which|you)\b)(?:[\w`…./-]+ ){1,8}requires? "
    r"(?!(?:about|additional|approximately|around|careful|deep|effort|elevated|extra|fewer|further|knowledge|less|manual|more|much|no|root|roughly|"
    r"significant|some|that|time|understanding|you|a lot|at least \d|[~≈]?\d)\b)(?![^.]*\d\.\d)\S",
)
"""What something is not to be used for or with, or only: `Cranes do not support nets.`"""

ALONE_USABLE = any_of(r"(?!for\b)(?:[\w-]+ ){1,3}only[.!]*$")
"""All that a clause says, where it names nothing but what something is for: `Dry crates only.`"""

CALLOUT = any_of(
    r"^(?:critical|important|mandatory|warning|caution|danger|security|first|"
    r"(?:[\w-]+ ){0,2}(?:rules?|constraints?|guardrails?|polic(?:y|ies)|requirements?|standards?))\b"
    r"(?: rule| note)?\s*[:!—–-]"
)
RULE = any_of(
    r"^(?:(?:the|one|first|key|core|main|hard|iron|golden|strict|general|critical|important|basic|cardinal) ){0,2}"
    r"(?:rule|invariant|constraint): "
    r"(?=[\w`])(?!an?\b|the (?:name|set|list|file|path|id|text)\b|[^.;:]{1,60}\b(?:may|can|could|might)\b)"
)
"""A label of a single rule, which is what stands behind it, however it is said: `Key rule: tests come first.`"""

LIMITS = any_of(r"(?:no|only|every|each|zero|at (?:least|most)|max(?:imum)?|min(?:imum)?|exactly) [\w`]")
"""What limits something, and so asks for it behind a label that says so: `Rules: Zero references …`."""

SPECIFIES = any_of(
    r"(?:create|emit|generate|output|produce|scaffold|write) the following\b[^:]{1,60}:$",
    # What is made has it, or has it not.
    r"(?:always )?(?:include|preserve|retain|omit|exclude|cite|force)\b(?! *:| `…` (?:is|are)\b)"
    r"(?![^.;:]*\b(?:see|optional(?:ly)?)\b)",
    r"keep (?:[\w`…-]+ ){1,4}(?:above|at|below|in|inside|intact|off|on|out of|separate|to|unchanged|under|within)\b"
    r"(?! (?:mind|track)\b)",
    r"(?:call|invoke|use|place|put|declare|define)(?: (?:it|this|them|these))? at (?:the )?(?:top|module|file|class)\b",
    # What it is made like: `Write the list in this format:`
    r"(?:build|create|draft|emit|format|generate|make|output|present|print|produce|provide|reply|report|respond|return|"
    r"show|structure|write)\b[^.;:]{0,120}? (?:(?:as|following|in|like|per|to|using|with) (?:exactly )?"
    r"(?:the (?:\w+ )?(?:following|below|exact|same)|these|this)\b[^:]{0,40}|"
    r"(?:following|matching|per|according to) the [^:;]{1,60}? (?:format|layout|schema|structure|template|convention|"
    r"spec(?:ification)?)(?: format)?)[.:]*$",
    r"(?:create|emit|generate|output|print|produce|report|return|write) (?:exactly |only )?"
    rf"(?:an?|{COUNT}) [\w -]{{1,40}}:$",
    rf"{VERB} [^.;:]{{1,160}}?\b(?:with (?:no|zero) (?!need|problem|issue)\w|"
    r"same (?:format|layout|structure|style) as\b)",
    r"use (?!(?:any|the|this|that)\b)(?:(?:[\w-]+|`…`) ){1,2}(?:casing|dialect|formatting|indentation|names|naming|"
    r"notation|quotes|spelling|syntax|tense|units|voice)\b",
    r"use (?:`…`|“…”) as the (?!base\b|example\b|reference\b|template\b)\w",
    r"(?:conclude|end|finish) with (?!`…`)\S",
    rf"{VERB}(?: [^.;:]{{1,100}}?)? with (?:[\w-]+ ){{0,3}}(?:citations|evidence|line numbers|sources)\b",
    # What it takes in as a whole: `Weigh the lids of all crates`.
    rf"{VERB} (?!(?:that|when|where|which)\b)[^.;:]{{1,60}}? "
    r"(?:(?:across|for|from|in|of|on|to) (?:all|each|every) (?!.*:$)|throughout \w)",
    r"(?:categori[sz]e|classify|flag|label|mark|tag|treat)\b[^.;:]{0,60}? as\b",
    r"(?:include|omit|skip) (?:these|this)\b[^.;:]* (?:for|if|unless|when|where)\b(?!:)|use `…` when \w+ing\b",
    r"default to (?!the\b)\S+ (?:for|if|unless|when)\b|use this (?:content|template):$",
    r"(?:alert|inform|notify|remind|tell|warn) (?:the |your )?(?:customer|human|operator|owner|user)s?\b",
    rf"for (?:all|each|every) [^,:]{{1,80}}? {VERB}:$",
    rf"for (?:all|each|every) [^,:]{{1,80}}, {VERB}(?::$|(?: \S+){{3,}})",
    # What all of some things have, said of those that are made: `Each crate carries a label`.
    r"(?:each|every|all) [^.:;]{1,60}? (?:uses?|includes?|shows?|cites?|starts?|ends?|carry|carries) \w",
    # An alternative to what is not to be: `Use the winch instead.`
    rf"{VERB} [^.;:]{{1,100}} instead[.!]*$",
)
"""What an instruction asks of what is made, rather than of who makes it."""

INSTRUCTS = any_of(
    rf"{WHERE}(?:(?:first|next|now|then|finally),? |only |also |always |please |\w+ly )?{VERB}(?!:$)",
    rf"(?:for|in|on|when|if|with) [^,.:;]{{1,80}}? {VERB} (?:`|(?:an?|the|your|all|each|every|only|no|it|them)\b)",
)

REMEDY = any_of(r"^(?:solutions?|fix|workaround|cause|symptom|example|result|remedy)\b\s*[:—–]")
"""A label of what helps once something went wrong."""

TELLS_OF = any_of(rf"^(?:{ACTS}) (?!(?:and|are|can|for|have|in|is|of|or|may|must|need|should|that)\b)")
"""A verb without its subject: `Writes the file, then reads it.`"""

SUBJECT = any_of(
    r"(?:use cases?|strengths?|weakness(?:es)?|drawbacks?|benefits?|pros|cons)\s*:",
    r"(?:symptoms?|causes?|problems?|examples?|scenarios?|rationale|reasons?|background)\s*:",
    r"(?:in)?correct\b[^.:]*:$",
)
"""A label of what is spoken of, whatever words are in it."""
