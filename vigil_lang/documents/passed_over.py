"""Why a sentence is no obligation: what it is instead, such as a step, advice or a description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from vigil_lang.english import contexts, principles, steps
from vigil_lang.english.demanding import bare, in_a_case, instructs, is_question, orders, unlabelled, unquoted
from vigil_lang.english.languages import is_english

if TYPE_CHECKING:
    from vigil_lang.documents.document import Sentence

Why: TypeAlias = Literal[
    "heading", "question", "word", "sample", "situation", "reason", "condition", "advice", "step", "shown", "part",
    "language", "description",
]  # fmt: skip


class Around(NamedTuple):
    """What stands around a sentence: those before and behind it, and the document's headings as `title` makes them.

    `code_follows` says that a block of code begins before the sentence behind it.
    """

    previous: Sentence | None
    following: Sentence | None
    code_follows: bool
    titles: frozenset[str]


def why(sentence: Sentence, around: Around) -> Why:
    """Why a sentence in which nothing demands anything is no obligation."""
    plain = bare(sentence.text)
    if not is_english(sentence.text):
        return "language"
    if is_question(sentence.text):
        return "step" if _is_to_answer(sentence, plain) else "question"
    above = (sentence.lead, *sentence.headings[-2:])
    if unquoted(sentence.text) != sentence.text and any(map(contexts.SAMPLES.search, above)):
        return "sample"
    if principles.ALONE.fullmatch(plain):
        return "word"
    if steps.COMMANDS.fullmatch(sentence.lead) and plain == "`…`":
        return "step"
    acts = instructs(sentence.text) or steps.VERB_ALONE.match(plain) is not None or _is_listed(sentence, plain, around)
    if _leaves_a_choice(plain, acts=acts):
        return "advice"
    defines = contexts.DEFINES.match(sentence.text) is not None
    goes_on = not defines and steps.GOES_ON_TO_ACT.search(plain) is not None
    if defines or not (goes_on or (acts and not _tells_of(sentence, plain))):
        return "description"
    if principles.REMEDY.match(plain):
        return "reason"
    if _is_title(sentence, plain, around) or _summarizes(sentence, plain, around):
        return "description"
    return "shown" if _is_shown(sentence, plain, around) else "step"


def _is_to_answer(sentence: Sentence, plain: str) -> bool:
    """Whether a question is one that whoever takes a step answers: `Reason: Why did it fail?` below `Step 2`."""
    if sentence.kind != "item" or unquoted(sentence.text) != sentence.text:
        return False
    named = unlabelled(plain) != plain or sentence.text.endswith("?)")
    return named and (_is_numbered_step(sentence) or instructs(sentence.lead))


def _is_listed(sentence: Sentence, plain: str, around: Around) -> bool:
    """Whether an item that may begin with a verb stands right below one that instructs."""
    last = around.previous
    if last is None or sentence.kind != "item" or steps.MAY_ACT.match(plain) is None:
        return False
    same = (last.kind, last.headings, last.lead) == ("item", sentence.headings, sentence.lead)
    return same and instructs(last.text)


def _leaves_a_choice(plain: str, *, acts: bool) -> bool:
    """Whether a bare sentence leaves a choice. An instruction does so by fewer words: `Check what may be wrong`."""
    mild = contexts.MILD.match(plain) is not None
    if acts:
        return steps.LEAVES.search(plain) is not None or (mild and steps.FIRM.match(plain) is None)
    return mild or contexts.ADVISES.search(plain) is not None


def _tells_of(sentence: Sentence, plain: str) -> bool:
    """Whether a sentence that could be an instruction tells of something: what it is, or how it works."""
    if len(sentence.text.split()) < 2 and not (sentence.text.endswith(":") or steps.ENDS.match(plain)):
        return True
    said = unlabelled(plain)
    word = said != plain and len(said.split()) < 2 and not (said.endswith(":") or steps.ENDS.match(said))
    if word and principles.INSTRUCTS.match(plain) is None:
        return True  # `Overall verdict: PASS`
    if steps.NAMES.match(plain) or principles.TELLS_OF.match(said):
        return True
    if contexts.CONTINUED.search(sentence.lead) or contexts.EXPLAINED.search(sentence.lead):
        return True
    # `Push without a tag` is a mistake there, and `No tag: add one` what is done about it.
    if said == plain and any(map(steps.FAULTS.search, (sentence.lead, *sentence.headings[-1:]))):
        return True
    # The first heading is the document's title, unless a tag is the only one.
    above = sentence.headings[1:] or sentence.headings
    if sentence.kind == "cell":
        above = above[:-1]  # not the column
    if any(map(steps.CASES.match, above)) or any(map(contexts.EXAMPLES.match, sentence.headings)):
        return True
    if _is_numbered_step(sentence):
        return False
    tells = sentence.kind == "item" and steps.DESCRIBING_LEAD.match(bare(sentence.lead)) is not None
    last = sentence.headings[-1:]
    told = (*last, *(() if instructs(sentence.lead) else (sentence.lead,)))
    return tells or any(map(steps.CASES_FOLLOW.search, last)) or any(map(steps.FLOWS.search, told))


def is_step(heading: Sentence) -> bool:
    """Whether a heading names a step that somebody takes: `Step 2: Open the gate`."""
    return bool(heading.headings) and steps.NUMBERED.match(heading.text) is not None and instructs(heading.text)


def _is_numbered_step(sentence: Sentence) -> bool:
    """Whether a sentence stands where it is told what is done, one step after another."""
    return any(map(steps.NUMBERED.match, (sentence.text, *sentence.headings[1:])))


def _is_title(sentence: Sentence, plain: str, around: Around) -> bool:
    """Whether a sentence is only the title of a step or of a section that is told elsewhere."""
    if sentence.kind == "item":
        return title(plain) in around.titles and not (steps.NUMBERED.match(sentence.text) and instructs(sentence.text))
    return steps.TITLE.match(sentence.text) is not None


def title(text: str) -> str:
    """A heading, or what may be one, as they are compared."""
    return bare(text).strip(" \t:.!*").lower()


def _summarizes(sentence: Sentence, plain: str, around: Around) -> bool:
    """Whether a sentence says what its section is about: it is the only one there, before code or parts that show it.

    `Send messages.` below `Messages` does, `Use this template.` does not.
    """
    above, following = around.previous, around.following
    if sentence.kind != "prose" or above is None or above.kind != "heading":
        return False
    if following is not None and following.kind != "heading":
        return False
    has_parts = following is not None and len(following.headings) >= len(sentence.headings) > 1
    if not (around.code_follows or has_parts):
        return False
    in_order = any(steps.NUMBERED.match(text) or steps.PROCEDURE.search(text) for text in sentence.headings[-1:])
    return not in_order and "`" not in plain and steps.POINTED.search(plain) is None


def _is_shown(sentence: Sentence, plain: str, around: Around) -> bool:
    """Whether an instruction only shows how something is done: in a table, before code, or for who wants to know."""
    if sentence.kind == "cell":
        mends = any(map(steps.STEP_COLUMN.fullmatch, sentence.headings[-1:]))
        return not mends and steps.GOES_ON_TO_ACT.search(plain) is None
    if steps.LOOKED_UP.match(plain) and steps.FIRM.match(plain) is None:
        return True
    if not sentence.text.endswith(":"):
        return False
    if steps.CASES_FOLLOW.search(plain):
        return True
    above = (sentence.lead,) if sentence.lead else sentence.headings[-1:]
    in_procedure = sentence.kind == "item" and (
        any(map(steps.PROCEDURE.search, above)) or instructs(sentence.lead) or steps.COMMANDS.fullmatch(sentence.lead)
    )
    mends = any(map(contexts.FAILING.search, sentence.headings[1:]))
    taken = mends or in_procedure or _is_numbered_step(sentence) or steps.CHOOSES.match(plain)
    return around.code_follows and not taken


def excused(sentence: Sentence, word: str) -> Why | None:
    """Why a sentence with a word that demands asks for nothing, where it stands."""
    above = (sentence.lead, *sentence.headings[-1:])
    if unquoted(sentence.text) != sentence.text and any(map(contexts.SAMPLES.search, above)):
        return "sample"
    plain = bare(sentence.text)
    in_case = in_a_case(plain)
    if contexts.REPORTED.match(sentence.lead) and in_case is None:
        return "sample"
    if contexts.COPIED.search(sentence.lead) and not contexts.BINDS.match(word):
        return "step"
    if (contexts.NEEDED.match(word) or contexts.BENEFIT.match(word)) and any(
        map(contexts.SITUATIONS.search, sentence.headings[-1:])
    ):
        return "situation"
    if contexts.COVERS.match(word) and any(map(contexts.DESCRIPTIVE.search, sentence.headings)):
        return "description"
    if contexts.CONTINUED.search(sentence.lead):
        return "description"
    column = sentence.headings[-1] if sentence.headings and sentence.kind == "cell" else ""
    if column and len(sentence.text.split()) == 1:
        return "word"
    ordered = orders(plain) or in_case
    if contexts.WHY.match(column) and principles.TELLS_OF.match(plain):
        return "description"
    if ordered == word and contexts.DEFINES.match(sentence.text):
        return "description"
    if not (contexts.BINDS.match(word) or _is_numbered_step(sentence)) and any(
        map(contexts.FEATURES.search, sentence.headings[-1:])
    ):
        return "description"
    if ordered == word and contexts.WHY.match(column) and not contexts.CONTRASTS.search(sentence.text):
        return "reason"
    if contexts.BENEFIT.match(word) is None or ordered is not None:
        return None
    reasons = contexts.REASONS.match(column) if column else any(map(contexts.FIXES.match, above))
    reasons = reasons or any(map(contexts.FAILING.search, sentence.headings[1:]))
    if not reasons:
        return None
    mends = not column or steps.STEP_COLUMN.fullmatch(column)
    return "step" if mends and instructs(sentence.text) else "reason"
