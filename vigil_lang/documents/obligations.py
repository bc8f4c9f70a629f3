"""Which sentences ask for something: a must, a never, an order in which things are done."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.documents.passed_over import Around, excused, is_step, title, why
from vigil_lang.english import contexts, principles, steps
from vigil_lang.english.demanding import (
    asks,
    bare,
    instructs,
    is_question,
    limits,
    specifies,
    unlabelled,
    without_asides,
)
from vigil_lang.english.languages import is_english

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.documents.document import Document, Kind, Sentence
    from vigil_lang.documents.passed_over import Why

_ASKED = ("step", "part", "language")
"""Why a sentence is passed over that may be taken for a clause."""

_NAMED = {("item", "description"), ("cell", "description"), ("cell", "shown")}
"""What only names something, by its kind and by why it is passed over."""

_COLUMNS = 20
"""How far back the first cell of a row is looked for."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A sentence that asks for something, and the word or phrase that says so."""

    sentence: Sentence
    index: int
    word: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence that is taken for no obligation, and why; a part has the place of what it is a part of."""

    sentence: Sentence
    index: int
    why: Why
    whole: int | None = None


def obligations(document: Document) -> tuple[Obligation, ...]:
    """The sentences of a document that state an obligation, in order."""
    return tuple(judged for judged in judgements(document) if isinstance(judged, Obligation))


def judgements(document: Document) -> tuple[Obligation | Passed, ...]:
    """What each sentence of a document is, in order: one judgement for every sentence."""
    found: list[Obligation | Passed] = []
    before = _Before({}, {}, {}, {}, found)
    for index, (sentence, around) in enumerate(zip(document.sentences, _surroundings(document), strict=True)):
        found.append(_judged(sentence, index, before, around))
        if _is_required(sentence):
            before.require(sentence)
        before.note(found[-1], around.following)
    return tuple(_with_named_steps(found))


def _with_named_steps(judged: Sequence[Obligation | Passed]) -> Iterator[Obligation | Passed]:
    """The judgements, but a heading is the step itself where nothing that is asked for stands right below it.

    So is one that has something made, and what only names something below it is a part of that.
    """
    told = {each.sentence.headings for each in judged if isinstance(each, Obligation) or each.why in _ASKED}
    making: dict[tuple[str, ...], int] = {}
    for each in judged:
        sentence = each.sentence
        if isinstance(each, Passed) and sentence.kind == "heading" and is_step(sentence):
            path = (*sentence.headings, sentence.text)
            if steps.MAKES.search(sentence.text):
                making[path] = each.index
            yield replace(each, why="step") if path in making or path not in told else each
        elif isinstance(each, Passed) and (sentence.kind, each.why) in _NAMED:
            whole = making.get(sentence.headings[:-1] if sentence.kind == "cell" else sentence.headings)
            yield each if whole is None else replace(each, why="part", whole=whole)
        else:
            yield each


def _surroundings(document: Document) -> Iterator[Around]:
    titles = frozenset(title(sentence.text) for sentence in document.sentences if sentence.kind == "heading")
    starts = [block.start for block in document.code]
    for previous, sentence, following in zip(
        (None, *document.sentences), document.sentences, (*document.sentences[1:], None), strict=False
    ):
        end = len(document.source.text) if following is None else following.span.start
        code = bisect_left(starts, sentence.span.end) < bisect_left(starts, end)
        yield Around(previous, following, code, titles)


@dataclass(frozen=True, slots=True)
class _Before:
    """What stands before a sentence and demands what others say, each with its word.

    `leads` do so of their items, and `sections`, by the headings that lead to them, of what their parts tell to do.
    `wholes` are the headings below which the parts of something stand, each with its place, and `steps` the
    instructions that introduce a list. `judged` are all sentences before it.
    """

    leads: dict[str, _Word]
    sections: dict[tuple[str, ...], _Word]
    wholes: dict[tuple[str, ...], int]
    steps: dict[str, int]
    judged: list[Obligation | Passed]

    def note(self, judged: Obligation | Passed, following: Sentence | None) -> None:
        """Take a sentence that has its section followed as a whole: `Execute ALL steps`, or a lead of the parts."""
        sentence = judged.sentence
        if sentence.kind == "heading":
            self.sections.pop((*sentence.headings, sentence.text), None)
            if isinstance(judged, Obligation) and contexts.PARTS.match(bare(sentence.text)):
                self.wholes[*sentence.headings, sentence.text] = judged.index
        elif isinstance(judged, Passed):
            if judged.why == "step" and sentence.text.endswith(":"):
                self.steps[sentence.text] = judged.index
            else:
                self.steps.pop(sentence.text, None)
        elif sentence.kind != "cell":
            lead = self.leads.get(sentence.text)
            if lead is not None and (contexts.MADE_OF.search(sentence.text) or contexts.PARTS.match(sentence.text)):
                self.leads[sentence.text] = lead._replace(whole=judged.index)
            leads = sentence.text in self.leads and following is not None and following.kind == "heading"
            if leads or contexts.FOLLOWS_ALL.match(bare(sentence.text)):
                self.sections[sentence.headings] = _Word(judged.word, carries=False)

    def require(self, cell: Sentence) -> None:
        """Make an obligation of what a row is about, whose cell says that it is required."""
        for judged in islice(reversed(self.judged), _COLUMNS):
            if judged.sentence.kind != "cell" or judged.sentence.text == cell.lead:
                column = judged.sentence.headings[-1] if judged.sentence.kind == "cell" else ""
                if column and isinstance(judged, Passed) and contexts.ARGUMENT.search(column) is None:
                    self.judged[judged.index] = Obligation(judged.sentence, judged.index, "required")
                return

    def is_required(self, sentence: Sentence) -> bool:
        """Whether what stands before a sentence in its cell is `Required.`"""
        if not self.judged or sentence.kind != "cell":
            return False
        last = self.judged[-1].sentence
        same = (last.kind, last.headings, last.lead) == ("cell", sentence.headings, sentence.lead)
        return same and contexts.REQUIRED.fullmatch(last.text) is not None

    def obliges(self, placed: _Placed) -> bool:
        """Whether what stands right before a sentence is prose of the same section that demands something."""
        last = self.judged[-1] if self.judged else None
        return isinstance(last, Obligation) and (last.sentence.kind, last.sentence.headings) == (
            "prose",
            placed.headings,
        )

    def goes_on(self, sentence: Sentence) -> _Word | None:
        """The words of an instruction that goes on from a demand: `Never store a key. Use the vault.`

        They are its own: what is demanded before it may be ruled out.
        """
        last = self.judged[-1] if sentence.continues and sentence.kind != "cell" else None
        if not isinstance(last, Obligation) or not instructs(sentence.text) or sentence.text.endswith(":"):
            return None
        plain = bare(sentence.text)
        others = (contexts.MILD, contexts.ADVISES, contexts.POINTS, contexts.NO_DEMAND, contexts.DESCRIBES)
        own = _trimmed(" ".join(plain.split()[:3]))
        return None if any(other.search(plain) for other in others) else _Word(own, carries=False)

    def whole(self, sentence: Sentence, found: _Word) -> int | None:
        """The place of the obligation that a sentence is only a part of, though something above demands it."""
        if sentence.kind != "item" or (_tells(sentence.text) and not contexts.TITLED.match(sentence.text)):
            return None
        return self.wholes.get(sentence.headings) if found.whole is None else found.whole

    def of_section(self, headings: tuple[str, ...]) -> _Word | None:
        """The word that demands what the part below these headings tells to do."""
        above = (self.sections.get(headings[:end]) for end in range(len(headings) - 1, 0, -1))
        return next((word for word in above if word is not None), None) if self.sections else None


def _judged(sentence: Sentence, index: int, before: _Before, around: Around) -> Obligation | Passed:
    """What a sentence is, by what it says, what stands before it, and what stands around it."""
    if sentence.kind == "heading":
        # The title says what the document is about.
        plain = bare(sentence.text)
        first = (contexts.FIRST.search(plain) or contexts.PARTS.match(plain)) if sentence.headings else None
        if first is not None:
            return Obligation(sentence, index, _trimmed(first.group()))
        return Passed(sentence, index, "heading")
    leads = before.leads
    told = asks(sentence.text) or _limits(sentence) or ("required" if before.is_required(sentence) else None)
    if told is None and sentence.text.endswith(":") and (parts := contexts.PARTS.match(sentence.text)):
        told = _trimmed(parts.group())
    if told is not None:
        found: _Word | None = _Word(told, carries=_carries(told, sentence.text))
    else:
        found = _from_context(sentence, before) or before.goes_on(sentence)
    if sentence.text.endswith(":") or contexts.LABEL.fullmatch(sentence.text):
        if found is not None and not contexts.EXPLAINED.search(sentence.text):
            makes = instructs(sentence.text) and contexts.LOOKS.match(bare(sentence.text)) is None
            leads[sentence.text] = found._replace(makes=makes)
        else:
            leads.pop(sentence.text, None)
        tells = _tells(sentence.text) or steps.VERB_ALONE.match(bare(sentence.text))
        if contexts.CONDITION.match(sentence.text) or (told is None and not tells and is_english(sentence.text)):
            return Passed(sentence, index, "condition")  # it only says for what its items hold
    if found is None:
        reason = why(sentence, around)
        step = before.steps.get(sentence.lead) if reason == "description" and sentence.kind == "item" else None
        return Passed(sentence, index, reason) if step is None else Passed(sentence, index, "part", step)
    whole = None if told else before.whole(sentence, found)
    if whole is not None:
        return Passed(sentence, index, "part", whole)
    excuse = excused(sentence, found.text) if told else None
    return Passed(sentence, index, excuse) if excuse is not None else Obligation(sentence, index, found.text)


def _is_required(sentence: Sentence) -> bool:
    """Whether a cell says that what its row is about is required."""
    column = sentence.headings[-1] if sentence.kind == "cell" and sentence.headings else ""
    is_column = contexts.REQUIRED.fullmatch(column) and contexts.YES.fullmatch(sentence.text)
    return bool(is_column) and sentence.lead != ""


def _limits(sentence: Sentence) -> str | None:
    """What limits what may be done, where prose or an item says it; a cell such as `Not supported` is about its row."""
    if value := contexts.VALUE.match(bare(sentence.text)):
        return _trimmed(value.group())
    if sentence.kind == "cell":
        return None
    # The title names what the document is about.
    trouble = any(map(contexts.TROUBLE.search, sentence.headings[1:][-1:]))
    told = None if trouble else limits(sentence.text)
    return told or (None if contexts.ADVISES.search(bare(sentence.text)) else specifies(sentence.text))


def _carries(word: str, text: str) -> bool:
    """Whether what demands in a lead demands what its items say, whatever that is: `First write a page with:`."""
    patterns = (contexts.MADE_OF.search, contexts.PARTS.match)
    return contexts.CARRIES.match(word) is not None or any(pattern(text) for pattern in patterns)


class _Word(NamedTuple):
    """A word that demands; `carries` says that the lead of a list with it demands whatever its items say.

    One that `makes` something demands what they say it is made of or like. Any other is a lead of those items only that
    tell somebody to do something. `whole` is the place of what has its items for parts.
    """

    text: str
    carries: bool
    makes: bool = False
    whole: int | None = None

    def demands(self, placed: _Placed) -> bool:
        """Whether a lead with this word demands what an item says."""
        if self.carries or instructs(placed.text):
            return True
        names = "→" in placed.plain or contexts.WORDS.search(placed.plain) is not None
        return self.makes and names and contexts.DESCRIBES.match(placed.plain) is None


def _tells(text: str) -> bool:
    """Whether a sentence tells somebody to do something, or limits something."""
    return instructs(text) or contexts.RESTRICTS.search(bare(text)) is not None


def _describes(plain: str) -> bool:
    """Whether a bare sentence says how something is, and nothing in it makes a rule of that."""
    return contexts.DESCRIBES.match(plain) is not None and contexts.ORDERED.search(plain) is None


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sentence in which nothing demands anything, with what stands above it. `column` is the head of a cell's."""

    text: str
    plain: str
    kind: Kind
    lead: str
    headings: tuple[str, ...]
    column: str
    tells: bool

    @property
    def heading(self) -> str:
        return self.headings[-1] if self.headings else ""


def _from_context(sentence: Sentence, before: _Before) -> _Word | None:
    """What headings or the lead make of an item, of a row's cell, or of prose that instructs."""
    leads = before.leads
    is_cell = sentence.kind == "cell"
    placed = _Placed(
        text=sentence.text,
        plain=bare(sentence.text),
        kind=sentence.kind,
        lead=sentence.lead,
        headings=sentence.headings[:-1] if is_cell else sentence.headings,
        column=sentence.headings[-1] if is_cell and sentence.headings else "",
        tells=_tells(sentence.text),
    )
    if contexts.DO_COLUMN.fullmatch(placed.column) and not principles.ALONE.fullmatch(placed.plain):
        return _Word(_trimmed(placed.column), carries=False)
    if contexts.COPIED.search(placed.lead):
        return None
    if contexts.PLACEHOLDER.fullmatch(placed.text) and contexts.BINDING.search(placed.lead) is None:
        return None
    if contexts.NO_DEMAND.search(placed.plain):
        return None
    if _is_action(placed) or _is_replaced(placed):
        return _Word(_trimmed(placed.column), carries=False)
    if contexts.DEFINES.match(placed.text) and placed.lead not in leads and not contexts.BINDING.search(placed.lead):
        return None
    if sentence.continues and not placed.tells and _describes(placed.plain):
        return None  # it says more of what its item demands
    if is_cell and placed.lead and not (placed.tells and any(map(contexts.SECTION.search, placed.headings))):
        return None
    if is_question(placed.text) and not instructs(placed.text):
        # `Did I count all crates?` is what a checklist has checked.
        ticks = [text for text in (placed.lead, placed.heading) if contexts.TO_TICK.search(text)]
        return _Word(_trimmed(ticks[0]), carries=False) if ticks and placed.kind == "item" else None
    if (
        contexts.MILD.match(placed.plain)
        or contexts.PREFERS.match(unlabelled(placed.plain))
        or contexts.PERMITS.match(placed.lead)
    ):
        return None
    if placed.kind != "cell" and contexts.DISCIPLINE.match(placed.heading) and placed.headings[1:]:
        return _Word(_trimmed(placed.heading), carries=False) if contexts.WORDS.search(placed.plain) else None
    if placed.kind == "prose":
        in_rules = before.obliges(placed) or _of_rules(placed.headings)
        ruled_out = contexts.LACKS.match(placed.plain) if in_rules else None
        if (ruled_out or contexts.NO_MORE.fullmatch(placed.plain)) and not any(
            map(contexts.DESCRIPTIVE.search, placed.headings)
        ):
            return _Word("no", carries=False)
        universal = contexts.RESTRICTS.match(placed.plain) and contexts.RULE_LIST.match(placed.heading)
        if not (instructs(placed.text) or universal) or contexts.ADVISES.search(placed.plain):
            return _marked(placed)
        # `Scaffold rules` is the title of what begins with `Scaffold`.
        repeats = placed.headings == (placed.heading,) and placed.plain.split()[:1] == placed.heading.split()[:1]
        return (None if repeats else _of_prose(placed.headings) or before.of_section(placed.headings)) or _marked(
            placed
        )
    if placed.lead in leads and leads[placed.lead].demands(placed):
        return leads[placed.lead]
    if placed.tells and not is_cell and (section := before.of_section(placed.headings)) is not None:
        return section
    readings = (_above, _listed, _of_section, _marked, _ruled_out)
    return next((word for reading in readings if (word := reading(placed)) is not None), None)


def _is_action(placed: _Placed) -> bool:
    """Whether a cell says what to do in the case that its row is about."""
    in_a_case = placed.lead and contexts.ACTION_COLUMN.fullmatch(placed.column) is not None
    mild = contexts.MILD.match(placed.plain) and steps.FIRM.match(placed.plain) is None
    return bool(in_a_case) and placed.tells and not (mild or contexts.NAMES_COMMANDS.search(placed.heading))


def _is_replaced(placed: _Placed) -> bool:
    """Whether a cell says, in a section of rules, what the first one of its row is to become."""
    if not placed.lead:
        return False
    if contexts.MIGRATED_COLUMN.fullmatch(placed.column):
        return True
    column = contexts.REPLACED_COLUMN.fullmatch(placed.column)
    return column is not None and any(map(contexts.RULES.search, placed.headings[-1:]))


def _above(placed: _Placed) -> _Word | None:
    """What the lead of a list, or the heading right above it, makes of an item."""
    if contexts.CASE_COLUMN.match(placed.column):
        return None
    for text in (placed.lead, placed.heading):
        if not text or len(text) > 120 or contexts.NOT_BINDING.search(text):
            continue
        is_lead = text == placed.lead
        if (is_lead or contexts.WHEN.match(placed.lead) is None) and (found := contexts.BINDING.search(text)):
            return _Word(_trimmed(found.group()), carries=True)
        if placed.kind != "cell" and _is_checked(placed, text):
            return _Word(_trimmed(text), carries=True)
        # `Read the guidelines:` makes no rule of what is to be read.
        reads = is_lead and instructs(text) and contexts.FOLLOWED.match(text) is None
        reads = reads or contexts.IF.match(text) is not None or contexts.TOLD_OF.search(text) is not None
        rules = None if reads else contexts.RULES.search(text)
        rules = rules or (contexts.NOTES.match(text) if not is_lead and instructs(placed.text) else None)
        if placed.tells and (found := rules or contexts.TIMED.search(text) or contexts.LABEL.fullmatch(text)):
            return _Word(_trimmed(found.group()), carries=False)
    return None


def _is_checked(placed: _Placed, lead: str) -> bool:
    """Whether a lead has each of its items checked: `Before finishing, verify:`, or below `Checklist`."""
    if contexts.CHECKED.match(lead) is not None:
        return True
    if contexts.BEFORE.match(lead) and contexts.LOOKS.match(lead) is None and contexts.WORDS.search(placed.plain):
        return contexts.DESCRIBES.match(placed.plain) is None or contexts.CHECKLIST.search(placed.heading) is not None
    is_list = contexts.CHECKLIST.search(placed.heading) and not contexts.NOT_BINDING.search(placed.heading)
    return bool(is_list) and contexts.AT_THE_END.match(lead) is not None


def _listed(placed: _Placed) -> _Word | None:
    """Whether an item is one of the rules that the heading or column above lists, or a step at a time that it names."""
    heading = placed.column if contexts.RULE_COLUMN.fullmatch(placed.column) else placed.heading
    if (placed.kind == "cell" and heading != placed.column) or contexts.NOT_BINDING.search(heading):
        return None
    if contexts.CONDITION.match(placed.lead):
        done = placed.kind != "cell" and instructs(placed.text) and contexts.IN_A_CASE.match(placed.lead)
        return _Word(_trimmed(placed.lead), carries=False) if done else None
    if contexts.ITS_RULES.match(placed.lead) and contexts.WORDS.search(placed.plain):
        return _Word(_trimmed(placed.lead), carries=True)
    above = (*placed.headings, placed.lead)
    is_practice = contexts.PRACTICE_LIST.search(heading) and placed.kind == "item" and not placed.lead
    ticked = placed.kind != "cell" and (
        any(map(contexts.TO_TICK.search, above)) or any(contexts.PARTS.match(bare(text)) for text in above)
    )
    avoided = contexts.ANTI_PATTERNS.match(placed.heading) and placed.kind == "item" and not placed.lead
    if avoided and not placed.text.startswith(('"', "“")):
        is_rule = contexts.DESCRIBES.match(placed.plain) is None
    elif ticked and contexts.WORDS.search(placed.plain):
        is_rule = True
    elif is_practice and contexts.WORDS.search(placed.plain):
        is_rule = placed.tells or contexts.DESCRIBES.match(without_asides(placed.plain)) is None
    elif contexts.RULE_LIST.match(placed.lead.removesuffix(":") or heading) and contexts.WORDS.search(placed.plain):
        signed = contexts.CROSSED.match(placed.text) or contexts.TICKED.match(placed.text)
        is_rule = not _describes(placed.plain) or signed is not None
    else:
        is_rule = placed.tells and contexts.AT_A_TIME.match(heading) is not None
    return _Word(_trimmed(heading), carries=False) if is_rule else None


def _of_section(placed: _Placed) -> _Word | None:
    """What the heading of a whole section makes of an item."""
    for heading in reversed(placed.headings):
        if (placed.tells or placed.kind != "cell") and (found := contexts.SECTION.search(heading)):
            return _Word(found.group().lower(), carries=True)
    if placed.tells and placed.kind != "cell" and (rules := _of_rules(placed.headings)) is not None:
        return rules
    word = _alone(placed.headings)
    return _Word(word, carries=True) if word is not None else None


def _of_rules(headings: Sequence[str]) -> _Word | None:
    """What a section of rules, conventions or principles makes of what instructs in its parts."""
    if not headings or contexts.TELLS_HOW.search(headings[-1]):
        return None
    for heading in headings[1:-1]:  # the title names what the document is about
        if not contexts.NOT_BINDING.search(heading) and (found := contexts.RULES.search(heading)):
            return _Word(_trimmed(found.group()), carries=False)
    return None


def _marked(placed: _Placed) -> _Word | None:
    """The sign before an item or a line by which it says what to do, or not to do: `❌ Committing keys`."""
    if placed.kind == "cell":
        return None
    acts = instructs(placed.text)
    found = contexts.CROSSED.match(placed.text) if acts or contexts.DOING.match(placed.plain) else None
    found = found or (contexts.TICKED.match(placed.text) if acts else None)
    return _Word(found.group().strip(), carries=True) if found else None


def _ruled_out(placed: _Placed) -> _Word | None:
    """What an item that is only a noun with `no` before it rules out, unless it describes."""
    if placed.kind == "cell" or any(map(contexts.DESCRIPTIVE.search, (*placed.headings, placed.lead))):
        return None
    made = not placed.lead or instructs(placed.lead)
    found = contexts.PROHIBITS.match(placed.plain) or (contexts.LACKS.match(placed.plain) if made else None)
    if contexts.DESCRIBES.match(placed.plain) is None:
        fragments = [contexts.INSTEAD, contexts.WITH_NO, contexts.CADENCE, contexts.EARLIER]
        fragments += [contexts.NO_MORE] if made else []
        found = found or next((m for fragment in fragments if (m := fragment.fullmatch(placed.plain))), None)
    found = found or (contexts.WITHOUT.search(placed.plain) if contexts.PRACTICES.search(placed.heading) else None)
    return _Word("no", carries=True) if found else None


def _of_prose(headings: Sequence[str]) -> _Word | None:
    """What headings make of prose that instructs."""
    last = headings[-1] if headings and not any(map(contexts.EXAMPLES.match, headings)) else ""
    heads = contexts.RULE_LIST.match(last) or contexts.NOTES.match(last) or contexts.AT_A_TIME.match(last)
    rules = heads or contexts.BINDING.search(last)
    if rules and not contexts.NOT_BINDING.search(last):
        return _Word(_trimmed(last), carries=False)
    for heading in reversed(headings):
        if found := contexts.SECTION.search(heading):
            return _Word(found.group().lower(), carries=True)
        if found := contexts.SECURING.search(heading):
            return _Word(found.group().lower(), carries=False)
    word = _alone(headings)
    return _Word(word, carries=True) if word is not None else _of_rules(headings)


def _trimmed(text: str) -> str:
    return text.strip(" \t:.!—–-()").lower()[:60]


def _alone(headings: Sequence[str]) -> str | None:
    """The word of a heading that is nothing but a word that demands: `Never`, `Don't`."""
    words = (h.strip(" \t:.!*").lower() for h in reversed(headings) if principles.ALONE.fullmatch(bare(h)))
    return next((word for word in words if word != "required"), None)  # a list of parameters
