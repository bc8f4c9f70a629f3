"""What headings, leads and columns make of the sentences below them."""

from __future__ import annotations

import re

from vigil_lang.english.lazy_patterns import Pattern, any_of
from vigil_lang.english.principles import ACTS
from vigil_lang.english.words import one_of, word_list

_ACT = one_of(word_list("imperatives") | word_list("imperatives_or_nouns"))
_NO_VERB = "".join(rf"(?<!\b{word} )" for word in ("to", "the", "and", "of", "a", "or", "for", "with"))
"""Words behind which there is none."""

BINDING = any_of(
    r"^\W*(?:never|do not|don['’]?ts?|always|must(?: not)?)(?: [\w'’-]+){0,2}\W*$",
    r"\b(?:never|do not|don['’]ts?|always|must(?: not| never)?|not allowed)\W*$|\bdoes(?: not|n['’]t) belong\b.*:$",
    r"^\W*(?:what|things)\b.*\b(?:(?:must|should|shall) (?:never|not|always)|not to \w+)\b",
    r"\b(?:required|mandatory|forbidden|prohibited) (?:security )?(?:protections?|checks?|steps?|actions?|approvals?|"
    r"measures?|behaviou?rs?|practices?|reviews?|safeguards?|controls?|order|sequence)\W*$",
    r"^\W*(?:[\w-]+ ){0,2}(?:bans?|prohibitions?|red lines|taboos?|do[- ]nots?|anything banned)\W*$|\bbanned\b|"
    r"\((?:all|each) (?:are |is )?(?:required|mandatory)\)\W*$",
    r"^\W*(?:exclude|ignore|omit|skip)\W*$|^(?:[\w-]+ )?(?:documents|files|pages|sections|tests) to "
    r"(?:add|cover|create|include|produce|write)\W*$|^(?:[\w-]+ ){1,4}to "
    r"(?:delete|drop|exclude|omit|remove|skip|strip)(?: \w+ing)?\W*$",
    r"^\W*(?:avoid|off[- ]limits|no-?gos?)\W*$|\bto (?:be )?avoid(?:ed)?\W*$",
    r"\bmust be (?:followed|observed|met|satisfied|respected)\b|\b(?:prohibited|forbidden|non-negotiables?)\b",
)
"""A heading or lead that makes an obligation of every item under it."""

SECTION = Pattern(
    r"\bMUST\b|(?i:\bnon-negotiables?\b|\bmandatory (?:[\w-]+ )?(?:requirements|rules|steps|process|procedure|workflow|"
    r"checks?|sequence)\b|\((?:always )?mandatory\)|\bmust[- ]fix\b)"
)
"""A heading that does the same for the items of the sections below it."""

CARRIES = any_of(
    r"^(?:(?:please )?do(?: not|n['’]t)|do \w+$|must(?: not|n['’]t)?|never|always|only|shall|should|mandatory|required|"
    r"ensure|make (?:absolutely )?sure|at all times|needs?|requires?|ha(?:s|ve) to|non-negotiable|"
    r"with(?:in)? (?:these|the following))\b"
)
"""The word of a lead that demands what the items of its list say."""

MILD = any_of(
    r"^(?:prefer|consider|optionally|feel free|save time|(?:good |bad )?examples?|see|e\.g\.|"
    r"note(?= that\b|\W*[,:—–])|you (?:can|may)|suggest)\b",
    r"^\W*optional\b|\(optional\b",
)
"""An item that only advises, allows or explains, wherever it stands."""

PREFERS = any_of(r"^(?:consider|prefer)\b")
"""What stands behind a label where the label is only preferred."""

PERMITS = any_of(
    r"^(?:[^,:]{1,80}, )?(?:(?:you|agents?|it|they|users?) )?(?:may|can)(?! (?:not|never|only))\b",
    r"^(?:allowed|permitted)\b",
)
"""A lead that allows what its items say."""

WHEN = any_of(r"^(?:when|after|before|once)\b")
"""A lead that says when its items hold, whatever the heading rules out."""

LOOKS = any_of(
    r"^(?:(?:when|if|before|after|once|for|in|on|to)\b[^,:]{1,160}, )?(?:[\w-]+ )?"
    r"(?:ask|analy[sz]e|choose|classify|check|collect|consider|consult|decide|detect|determine|discover|estimate|"
    r"examine|explore|find|gather|identify|inspect|list|locate|look|read|review|see|understand)\b"
)
"""A lead that has something found out: its items are what there may be."""

_WHOLES = "(?:areas|columns|components|elements|fields|headings|items|parts|sections|topics)"
MADE_OF = any_of(
    r"^(?!.*\b(?:not|never|don['’]t|avoid)\b).*"
    r"\b(?:with|contain(?:s|ing)?|cover(?:s|ing)?|ha(?:s|ve)|includ(?:es?|ing)|consist(?:s|ing) of)"
    rf"(?: (?:at least|all))?(?: (?:of )?(?:the|these)(?: following)?(?: (?:[\w-]+ ){{0,2}}{_WHOLES})?)?:$",
    r"^(?:always |also )?(?:include|contain|cover|mention|produce)\b[^:]{0,80}:$",
)
"""The end of a lead whose items are parts of what it has made: `generate a page with:`."""

DISCIPLINE = any_of(r"^\W*(?:[\w-]+ ){0,2}discipline\W*$")
"""A heading of a section in which how things are is how they are to be: `Labels are on lids`."""

ANTI_PATTERNS = any_of(r"^\W*(?:[\w-]+ ){0,2}anti-?patterns\W*$|^\W*what not to \w+\W*$|\bto avoid\W*$")
"""A heading right below which an item only names what is not to be done: `Loading at night`."""

PARTS = any_of(
    r"required (?:[\w-]+ ){0,2}(?:components|elements|headings|items|parts|sections|structure|topics)"
    r"(?: \([^()]*\))?\W*$|(?:avoid|skip)\b[^.:]{1,80}\b(?:if|when):?$"
)
"""A heading or lead below which the parts of something are named that it has to have, or the cases in which something
is not to be done: `Required sections`, `Skip this when:`.
"""

TITLED = Pattern(r"(?:\d+[.)] )?[A-Z][\w/-]*(?: (?:[A-Z&(][\w/&()-]*|of|and|the|to|at|a|in))+(?: ?[—–:]| - |\W*$)")
"""A part that begins with its title, whatever verb is in that: `Request Lifecycle — …`."""

CASE_COLUMN = any_of(r"^\W*(?:if|when|whenever|in case)\b")
"""The head of a column whose cells are the cases that the rules of the table are for."""

IF = any_of(r"^(?:if|in case)\b.*:$")
CONDITION = any_of(r"^(?:if|when|where|for|in case|otherwise)\b[^,—–→:]*:$")
"""A lead that says when, and leaves what to the items of its list."""

IN_A_CASE = any_of(r"^(?:if|when|whenever|otherwise|in case)\b(?!.*\buse\b)[^,—–→]*:$")
"""A lead that says in which case its items are done."""

PROHIBITS = any_of(
    r"^no \S[^.;:]{0,80}\b(?:beyond|for|outside|that (?:not|isn['’]t|aren['’]t|never|wasn['’]t|weren['’]t|"
    r"nobody|no one|has not))\b",
    r"^no (?![^.;:]*\b(?:is|are|was|were|has|have|can|does|do)\b)\S[^.;:]{0,80}(?<![\w-])(?:in|inside|within)\b",
)
"""An item that rules something out, unless it stands where limits or merits are described."""

LACKS = any_of(
    r"^no (?![^.;:]*\b(?:is|are|was|were|has|have|can|does|do|when|if|more|longer|one)\b"
    r"|[^.;:]*\b(?:found|\w{3,}(?:ed|able))[.!]*$)[^.;:]{2,80}[.!]*$",
)
"""An item that does so where it is told what to make."""

COVERS = any_of(r"(?:all|any|each|every)\b")
"""The word of a sentence that says what every thing has, as limits and merits do."""

PRACTICES = any_of(r"\bpractices?\b")
WITHOUT = Pattern(r" [—–-] no (?!need|matter|longer|problem|\S+ (?:needed|required))[^.;:—–]{2,80}[.!]*$")
"""The end of a practice that rules something out: `Short names — no prefixes`."""

INSTEAD = Pattern(r"[^.,:;—–()]{2,50}, not [^.,:;—–()]{2,50}[.!]*")
"""An item that only names what is to be, and what is not: `Tables, not lists`."""
WITH_NO = Pattern(
    r"[^.,:;—–()]{2,50}(?:, no [^.,;:—–]{2,50}|: no [^.,;:—–]{2,50}, no [^.,;:—–]{2,50}(?:, [^.;:]{2,60})?)[.!]*",
    re.IGNORECASE,
)
"""An item that names what is to be, and then what is not: `Pure, no side effects`."""
NO_MORE = Pattern(r"no [^.,;:—–]{2,60}(?:, (?:and )?no [^.,;:—–]{2,60})+[.!]*", re.IGNORECASE)
"""A sentence that only rules out several things."""

DESCRIPTIVE = any_of(
    r"\b(?:limitations?|limits|benefits?|advantages?|features?|pros|cons|overview|known issues|why|challenges?|"
    r"characteristics|when to use|capabilities|highlights|ideal|strengths|weaknesses|conditions|symptoms|signs|"
    r"anti-?patterns?|(?:errors?|failures?)(?! (?:handling|are|is)\b)|gotchas|issues?|missing|mistakes?|pitfalls?|"
    r"problems?|smells?|targets?|findings|causes|drawbacks|scenarios?|results?|trade-?offs)\b|^requirements\W*$"
)

_NO_NEED = "".join(
    rf"(?<!\b{word})"
    for word in ("system", "software", "hardware", "installation", "cluster", "environment", "version")
)
"""Words for whose requirements somebody has something, and does nothing."""

RULES = any_of(
    r"\b(?:rules?|constraints|guardrails|mandatory|hard (?:limits|requirements)|obligations|invariants|restrictions|"
    r"conventions|guidelines|standards|checklist|principles|best practices|philosophy)\b(?!-)",
    rf"^[\w/`.& -]+{_NO_NEED} requirements(?: \(.*\))?\W*$",
    r"^(?:answer|citation|commit|message|naming|output|page|reply|report|response) (?:conventions?|format|structure|"
    r"style)\W*$|^\W*do['’]?s?\W*$|(?:[-–—:(]\s*(?:critical|important)\W*$)",
)
"""One that makes an obligation of every item that tells somebody to do something, unless it only tells to read them."""

TOLD_OF = any_of(
    r"\b(?:rules?|constraints|guardrails|obligations|invariants|restrictions|conventions|guidelines|standards|"
    r"checklist) (?:is|are|was|were|has|have|can|contains?|lists?|covers?|includes?) "
    r"(?!mandatory|absolute|strict|binding|hard|as\b)",
)
"""A lead that says something of rules, rather than gives some: `Rules are managed through view 4:`."""

FOLLOWED = any_of(r"(?:apply|adhere|comply|do|follow|keep|honou?r|obey|observe|respect|stick|use)\b")

TIMED = any_of(
    r"^(?:[\w-]+ ){0,2}(?:sequence|order of (?:operations|steps|work))\W*$",
    r"\b(?:always|must|do(?:ne)?|read|run|check|complete)(?: [\w-]+){0,2} first\b",
    r"^(?:(?:before|prior to|after|once|whenever|(?:each|every) time|on (?:each|every|any)) \S.*|when done\b.*|"
    r"at the (?:end|start)\b.*):$",
    r"\bbefore (?:\w+ing|you|any|each|every)\b[^.]*:$",
)
"""One that says when every item is done that tells somebody to do something."""

NOT_BINDING = any_of(
    r"\bwhen (?:to|not to)\b|\brules? of thumb",
    r"\b(?:debug|troubleshoot|diagnos)\w*",
    r"\brule(?:set)? (?:syntax|format|files?|name|id|options?|examples?)\b",
)
REASONS = any_of(
    r"why|benefit|purpose|effect|impact|cause|problem|symptom|rationale|solution|fix|remedy|workaround|description"
)
BENEFIT = any_of(r"ask|avoid|wait|ensure|make|be sure|needs?|guarantee|check|verify|confirm")
RESTRICTS = Pattern(
    r"(?i:^(?:no|can ?not|can['’]t|only|every|each|all|any|zero|at (?:least|most)|max(?:imum)?|min(?:imum)?|exactly)\b)"
    r"|(?i:(?<!-)\b(?:should|only|may not)\b(?!-))|(?<!does )(?<!do )(?<!is )(?<!are )(?<!can )\bNOT\b"
)
"""An item that limits or covers something, and so asks for it where rules are listed."""

FOLLOWS_ALL = any_of(
    r"you (?:will|must|are to) (?:complete|execute|follow|go through|make|perform|run) (?:all |these |the following )?"
    r"(?:\d+|[a-z]+) (?:[\w-]+ ){0,3}(?:iterations|passes|phases|rounds|stages|steps)\b|"
    r"(?:\w+ly )?(?:execute|follow|complete|perform|apply|carry out|go through|work through) "
    r"(?:(?:all|each|every)(?: of)?(?: (?:\d+|[a-z]+)){0,2} (?:steps?|phases?|principles?|rules?|checks?|stages?)|"
    r"(?:these|the following) (?:\w+ )?(?:steps|phases|principles|rules|checks|stages)|them to (?:all|each|every)\b)"
)
"""What has all that the parts of a section tell to do done."""

SECURING = any_of(r"\b(?:hardening|securing)\b")
"""A heading of a document or a section that says how something is made safe, in each instruction."""

TELLS_HOW = any_of(
    r"\b(?:how|what|when|where|why|workflow|process|procedure|steps?|usage|setup|installation|examples?|"
    r"resources|related|references|features|overview|management)\b"
)
"""A heading below which it is told how something is done, be it in a section of rules."""

ITS_RULES = any_of(
    r"^\W*(?:(?:key|core|hard|strict|the|our) )?(?:rules|constraints|invariants):\W*$|"
    rf"^\W*[\w-]+{_NO_NEED} requirements:\W*$"
)
"""A lead below which a description is a rule as well."""

NOTES = any_of(
    r"^\W*(?:(?:important|key|implementation|usage|additional) )?notes?\W*$|^\W*(?:[\w-]+ )?(?:gotchas|pitfalls)\W*$"
)
"""A heading below which instructions are what somebody has to mind."""

ARGUMENT = any_of(
    r"\b(?:arg|argument|attribute|field|flag|input|key|name|option|param|parameter|property|setting|variable)s?\b"
)
"""A column of what something takes, so that `Required` is said of a call and not of who reads."""

REQUIRED = any_of(r"\W*(?:(?:is )?(?:required|mandatory|obligatory))\W*")
YES = any_of(r"\W*(?:yes|y|true|required|mandatory|always)\b[^|]{0,60}")
"""What says in the cell of a column of that name that something is required."""

VALUE = any_of(
    r"^(?:(?:[\w-]+ ){0,3}naming convention|output)\s*: ?(?=`…`|\w)|"
    r"^(?:pattern|length|location|(?:output )?file(?: ?name)?|output|destination|branch|"
    r"max(?:imum)? (?:length|size)|min(?:imum)? (?:length|size)|"
    r"size|naming|encoding|range|line (?:length|limit)|indentation|(?:hard |soft )?limit)\s*: ?"
    r"(?=`…`|[\d<>≤≥~]|max|min)|"
    r"^(?:[\w-]+ )?order\s*: ?[^→]{1,60}→|^(?:[\w-]+ )?(?:precedence|preference|priority)\s*: ?[^>]{1,60} > |"
    r"^~?\d[\d,]*(?: ?[–-] ?\d[\d,]*)?\+? (?:[\w-]+ ){0,2}(?:characters|diagrams|lines|pages|paragraphs|sections|"
    r"sentences|tables|words)(?:(?: per [\w-]+)? \(not \d.*|(?: (?:each|max|maximum|per [\w-]+))?\W*$)|"
    r"^[^>]{1,120}\bprefer: [^>]{1,60} > [^>]{1,60} > |"
    r"^`…`(?: \([^()]*\))?\s*[:—–] ?(?:one of `…`|[^.;:()]{1,60}, (?:at most|max(?:imum)?\.?|up to) \d)"
)
"""A label of how something has to be, and what it is: `Length: 1-64 characters`."""

FIRST = any_of(
    r"\b(?:must|always)(?: be)?(?: (?:do|done|run|read|come|check|go))? first\b|^read before\b",
    r"\((?:only|never|always|must|do not|don['’]t) [^()]{2,60}\)",
    r"^(?:(?:critical|important|warning|rule)\W+)?(?:(?:step|phase|rule) \d+\W+)?(?:never|always|do not|don['’]t|only) "
    r"(?!these\b|this\b|do\b)\S+ \S+.*(?<!:)(?<!\bthese)(?<!\bthis)$",
    r"^(?:one|a single) [\w-]+(?: [\w-]+){0,2} (?:per|at a time)\b",
)
"""A heading that demands something itself, and not only what stands below it: `Weigh-in (must be done first)`."""

RULE_LIST = any_of(
    r"^\W*(?:[\w/&'’.-]+ ){0,4}(?:rules?|constraints|guardrails|hard limits|polic(?:y|ies)|"
    r"checklist)(?: \([^)]*\))?\W*$",
)
"""A heading that is nothing but a word for rules: each item below it is one, unless it describes."""

PRACTICE_LIST = any_of(r"\b(?:best practices|principles|conventions|standards|guidelines)(?: \([^)]*\))?\W*$")
"""The end of a heading right below which an item that only names something names a rule: `Short, plain labels`."""

CROSSED = Pattern(r"\W*[❌🚫⛔✗✘]")
"""An item with a sign that rules it out."""
DOING = Pattern(r"\w+ing\b")
TICKED = Pattern(r"\W*[✅✔☑✓]")
"""An item with a sign that approves of it."""

EARLIER = any_of(r"(?!(?:day|days|hours?|minutes?|shortly|long|as|just) )[^.,;:—–]{2,60} before [^.,;:—–]{2,60}[.!]*")
"""An item that only names what comes before what: `Ropes before crates`."""

CADENCE = any_of(r"[^.,;:]{2,60} (?:before|after|on|at) (?:each|every|any) [\w-]+(?: [\w-]+)?[.!]*")
"""An item that only names what there is whenever something is done: `A note after each call`."""

PLACEHOLDER = Pattern(r"(?:\W*\[[^\[\]]*\])+\W*|\W*\{\{.*\}\}\W*")
"""An item of a template that somebody fills in."""

WORDS = Pattern(r"\b(?!(?:etc|vs)\b)[a-z]{2,}", re.IGNORECASE)
"""A word; names in code or quotation marks alone make no rule."""

CHECKED = any_of(
    # Whatever is so when all items hold: `A crate is ready when:`
    r"^(?:an?|the|each|every|your) [^:]{1,60} (?:is|are|counts as) (?!classified\b)[^:]{1,40} (?:only )?(?:when|if):$",
    r"^(?:i|we|(?:the )?(?:checks?|checkers?|evaluators?|graders?|reviewers?|tests?|validators?)) (?:will )?"
    r"(?:check|confirm|test|validate|verify)s? (?:that|whether|if):$",
    r"^(?:verify|validate|confirm|double-check)(?: \([^()]*\))?:$",
    r"^(?:before|prior to|after|once|when (?:done|finished)|at the end)\b.*\b(?:verify|check|confirm|ensure|make sure|"
    r"validate)\b.*:$",
)
"""A lead that has each of its items checked at some time."""

BEFORE = any_of(r"^(?:before|prior to) \S.*:$")
"""A lead before which its items hold or are done, unless they describe."""

AT_THE_END = any_of(r"^(?:before|prior to|after|once|when (?:done|finished))\b.*:$")
CHECKLIST = any_of(r"\b(?:checklist|validation|verification|definition of done|quality gates?|exit criteria)\b")
"""A heading below which a lead such as `Before finishing:` stands for that."""

TO_TICK = any_of(
    r"^(?!(?:step )?(?:\d+)?[\W_]*(?:add|create|define|draft|make|prepare|write)\b).*"
    r"\b(?:checklist(?: (?:after|before|for|prior to|to|when)\b.*)?|quality (?:gates?|standards|criteria)|"
    r"definition of done|"
    r"(?:acceptance|completion|done|exit|gate|quality|release|success) criteria|"
    r"(?:entry|launch|start|trigger) conditions|preconditions)\W*$|"
    r"^(?:[\w-]+ ){0,2}gate(?: \d+)?\s*[:—–-]|^what (?:you|agents?) (?:check|confirm|verify)\b"
)
"""A heading or lead below which each item says how things are to be, whatever headings stand between.

One that has such a list made (`Step 1: Write acceptance criteria`) is none.
"""

LABEL = any_of(r"(?:before|prior to|after|on|whenever|at) (?:each|every|any|all|you)\b[^.!?:;,]{1,60}")
"""Words that introduce a list without a colon: `Before any release`."""

AT_A_TIME = any_of(
    r"^(?:\W|(?:step )?\d+[.:)]?\s)*(?:before|prior to|after|for (?:(?!(?-i:Each))each|every|any)|each time|"
    r"every time|whenever|once|"
    r"when (?:done|finished|complete)|at the (?:end|start)|on (?:each|every|any))\b(?!:?\W*$| and\b| vs\b|/).*[^?]$"
)
"""A heading that says when, or for each of what, the steps below it are taken."""

EXAMPLES = any_of(r"^\W*(?:[\w-]+ ){0,3}examples?\W*$")
"""A heading below which others name examples."""

DESCRIBES = any_of(
    r"^[^.;:—–]{1,120}?\b(?:is|are|was|were|has|have|can|will|does|do|means?|contains?|(?<!by )defaults?|owns?|"
    r"works?|behaves?|"
    # One renders, many render: in `section order`, the second word is no verb.
    rf"(?<=[a-rt-z\d`…)] ){_NO_VERB}(?:{ACTS})(?= [\w`“(])|(?<=s ){_NO_VERB}(?:{_ACT})|"
    r"(?<=[a-rt-z\d`…)] )[a-z]{3,}s(?= (?:an?|the|its|their)\b))\b(?!-)",
    r"^\w+ed (?:to|by|as|in|from|at|on|for)\b|^[^.;:—–]{1,120} fails?[.!]*$",
)
"""An item that says what something is or does: a verb behind its first word, or a participle that begins it."""

ORDERED = any_of(
    r"\b(?:before|prior to|until|unless|only)\b|(?<=\w )without\b|\bafter any\b|(?<!; )\b(?:each|every) \w|"
    r"\brequires?\b|\bneeds? (?:an?|at|the|to)\b|\b(?:not |un)supported\b|"
    r"^an? [^.;:]*\b(?:also|always|first)\b|\bone \w+ per\b",
    r"\b(?:follows?|match(?:es)?|compl(?:y|ies) with|conforms? to|adheres? to|respects?|satisf(?:y|ies)|"
    r"stays?|remains?) [a-z`]|\buses? `",
    r"^[a-z][a-z ]{1,60} (?:is|are) (?:\w+ly )?(?!based|called|named|supported|used|deprecated|limited)"
    r"\w+ed(?:[.!]*$| (?:by|with|in)\b)",
)
"""What makes a rule of a description, in a list of rules: `Tests are run before each commit`, `Commits are signed`."""

FAILING = any_of(r"\b(?:common (?:errors|issues|problems)|fails|failed|troubleshooting)\b|\berrors?\W*$|^[\"“]")
"""A heading below which things are verified because they went wrong."""

COPIED = any_of(r"\bcopy (?:this|the)\b.*\bchecklist\b|\b(?:show|track)\b[^.:]{0,20} progress\b")
"""A lead whose items only name the steps that the document goes on to tell."""

TROUBLE = any_of(
    r"\b(?:why|overview|benefits?|advantages?|features?|pros|cons|when to use|symptoms|signs|smells?|findings|causes|"
    r"errors?|failures?|messages?|troubleshooting|examples?|comparison|background|problems?)\b"
)
"""A heading or lead below which it is told what happens, and no limit is set."""

SITUATIONS = any_of(r"\bwhen (?:to|not to)\b")
NEEDED = any_of(r"(?:\w+ )?(?:needs?|requires?|has|have)\b")
"""Where situations are listed, what somebody needs is one of them."""

FIXES = any_of(r"^\W*(?:common )?(?:fix(?:es)?|solutions?|remed(?:y|ies)|workarounds?)\b")
"""A heading or lead below which things are checked because they went wrong."""

FEATURES = any_of(
    r"\b(?:features|capabilities|benefits?|advantages?|guarantees|highlights)\b|^(?:what it does|how it works)\W*$"
)
"""A heading below which an instruction says what something can do."""

BINDS = any_of(r"(?:\S+ )?(?:must|do not|don['’]t|shall|mandatory|required|forbidden)\b")
"""The word of a sentence that demands wherever it stands, also where it is told what something can do."""
_OPTION = r"`(?:--?\w[^`]*|[^`\s]*[=/][^`\s]*)`"
DEFINES = Pattern(rf"[^\w`]*{_OPTION}(?:(?:,| or|/) ?{_OPTION})* ?(?::|—|–|--?) ?\w")
"""An item that says what the option, setting or topic before it stands for or does."""

POINTS = any_of(r"\bsee\b")
"""What only points somewhere else."""

SAMPLES = any_of(
    r"\b(?:examples?|triggers?|phrases?|prompts?|quer(?:y|ies)|questions?|usage|when to|say(?:s|ing)?|asks?|inputs?|"
    r"conversations?|dialogs?|samples?|errors?|messages?|outputs?|rationali[sz]ations?|excuses?|thoughts?|"
    r"red flags|bad|wrong)\b"
)
"""A heading or lead below which a quotation is an example of what somebody might say."""

RULE_COLUMN = any_of(r"\W*(?:rules?|guardrails?)\W*")
"""The head of a column whose cells are rules."""

DO_COLUMN = any_of(
    r"\W*(?:do['’]?s?|don['’]?ts?|do not|never|always|must(?: not)?|anti-?patterns?|avoid|"
    r"(?:required|mandatory) (?!by|for|if|when|field|type)[\w ]+|"
    r"(?:correct|right) (?:approach|behaviou?r|practice|way)|(?:do|use) (?:this )?instead|read before .*)\W*"
)
"""The head of a column whose cells are each to be done, or not to be done."""

NO_DEMAND = any_of(
    r"\b(?:not|no) (?:[\w-]+ )?(?:necessary|needed|required)\b|\bhas no effect\b|\byou (?:will|would) (?:get|see)\b"
)
"""What an item says that tells that nothing is to be done, or what comes of it."""

REPLACED_COLUMN = any_of(r"\W*(?:to|becomes|(?:converted |replaced )?(?:to|with|by)|replacement)\W*")
"""The head of a column, in a section of rules, that says what the first cell of its row is to become."""

MIGRATED_COLUMN = any_of(
    r"(?:.*\W)?(?:(?:change|convert|link|map|migrate|move|rewrite|switch|transform) to(?: these\b.*)?|"
    r"(?:replace|rewrite) with|if (?:so|yes), \w+|pick)\W*"
)
"""The head of a column that says so wherever it stands: `Migrate to`."""

ACTION_COLUMN = any_of(r"\W*(?:(?:recovery |required )?action|recovery|what to do|response)\W*")
"""The head of a column that says what to do in the case that its row is about."""

NAMES_COMMANDS = any_of(r"\b(?:commands?|shortcuts?|keys)\b")
"""A heading above a table of commands, which says what each of them does."""

REPORTED = any_of(r"^(?:[\w-]+ )?(?:findings|errors?|warnings?|messages?|observations|output)\b[^.]*:$")
"""A lead whose items are what something reported."""

CONTINUED = any_of(
    r"\b(?:explained|may|might|can|could|because|able to|lets? you|"
    r"(?:allow|enable|help|permit)s?(?: you)?(?: to)?)\W*:$",
    r"^(?!.*\b(?:you|agents?|assistants?|models?)\b).+\b(?:will|would)(?: \w+ly)?:$",
    r"^by \w+ing\b.*:$|\b(?:when|if)(?: you)?:$|\b(?:wants?|wish(?:es)?|would like|try(?:ing)?|aims?) to:$|"
    r"\byou can\b[^:]{1,80} to:$",
)
"""The end of a lead whose items say what somebody may do, or why something is so."""

WHY = any_of(r"why|benefit|purpose|effect|impact|cause|problem|symptom|rationale|description|meaning|what (?:it|this)")
"""A column that explains what another one says: an instruction there is one of its words."""

CONTRASTS = any_of(r"\b(?:not|no|never)\b")
EXPLAINED = any_of(
    r"\b(?:when(?:ever)?|if) (?:you|users?|they) (?:are|have|must|need|want|wish)\b[^.:]{0,40}:$",
    r"\bdepends? on:$|\b(?:to (?:understand|see|learn|know|find out)|because)\b[^.:]{0,20}:$|"
    r"\b(?:that|which|who) (?:must|needs? to|ha(?:s|ve) to)\b[^.:]*:$",
)
"""The end of a lead whose items are not what it demands."""


ADVISES = any_of(
    r"\b(?:should|may|might|could|recommend\w*|consider\w*|advis\w*|ideally|preferabl[ey]|prefer\w*|"
    r"optional\w*|you can|feel free)\b"
)
"""Words of advice and of permissions."""
