"""What the rules that look at one item alone found in a policy's last text, so that only changed items are looked at.

Such a rule's findings at a statement, declaration or rule of a gate rest on what that item rests on (`Layout`), and on
what is the same for the whole policy, the signature among it. Where all of that is as it was, so are the findings,
however far the text has moved.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Source, Span
from vigil_lang.lint.subject import MAX_DOUBTFUL
from vigil_lang.semantics.layout import Layout, layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.analysis.reachability import Reachability
    from vigil_lang.lint.rule import Rule
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax import tree
    from vigil_lang.trace import Signature

_Find: TypeAlias = "Callable[[Rule, Subject], Iterable[Diagnostic]]"


class _Moving(NamedTuple):
    """A finding, and by its spans in the policy's own text: the item each stands in, and where that item began.

    That text itself, which it says it was found in, is not kept.
    """

    finding: Diagnostic
    places: dict[Span, tuple[str, int]]


class _Found(NamedTuple):
    """What one rule found at an item, the rule by its place among the rules.

    `doubtful` is how many more questions of the rule the solver left open than the `before`.
    """

    rule: int
    moving: tuple[_Moving, ...]
    before: int
    doubtful: int

    def asks(self, before: int) -> bool:
        """Whether the rule, which did leave some open, would ask the same once so many questions were."""
        return before == self.before or max(before, self.before) + self.doubtful < MAX_DOUBTFUL


class _Entry(NamedTuple):
    """What all rules found at an item, but for those that found nothing and asked nothing in vain.

    `silent` are the rules that asked no more by then.
    """

    silent: frozenset[str]
    found: tuple[_Found, ...]


@dataclass(slots=True)
class Memory:
    """The findings of one policy's last text. Whoever lints with it is the only one to do so at that time."""

    _inputs: tuple[object, ...] | None = None
    _known: dict[str, tuple[Layout, _Entry]] = field(default_factory=dict)
    """By the names of items, what was found in the text of a layout."""
    _occurring: Reachability | None = None

    def occurring(self, signature: Signature | None) -> Reachability | None:
        """What can occur within a signature, as far as that was asked since it is that one."""
        if signature is None:
            return None
        if self._occurring is None or self._occurring.signature is not signature:
            from vigil_lang.analysis.reachability import Reachability  # late: most policies are linted without runs

            self._occurring = Reachability(signature)
        return self._occurring

    def findings(
        self, subject: Subject, rules: Sequence[Rule], inputs: tuple[object, ...], find: _Find
    ) -> list[list[Diagnostic]]:
        """What each of the rules finds in a policy; `inputs` is all that it rests on beside the policy's files.

        What `find` raises ends it; what was found by then is remembered.
        """
        asked = (*inputs, tuple(rules), bool(subject.policy.rules))
        if asked != self._inputs:
            self._inputs, self._known = asked, {}
        text = _Text(subject.policy)
        known = self._still_true(text.layout)
        now: dict[str, tuple[Layout, _Entry]] = {}
        silent = _silent(subject)
        all_found: list[list[Diagnostic]] = [[] for _ in rules]
        try:
            for item in text.items():
                name = text.layout.name(item)
                entry = known.get(name) if name is not None else None
                if entry is None or not _asks_the_same(entry, silent, rules, subject):
                    entry = _look(item, name, text, subject, rules, find, all_found)
                    silent = _silent(subject)
                else:
                    for each in entry.found:
                        all_found[each.rule] += [text.moved(one) for one in each.moving]
                        if each.doubtful:
                            subject.doubts[rules[each.rule].codes[0]] += each.doubtful
                            silent = _silent(subject)
                if entry is not None and name is not None:
                    now[name] = text.layout, entry
        except BaseException:
            self._known |= now
            raise
        self._known = now
        return all_found

    def _still_true(self, layout: Layout) -> dict[str, _Entry]:
        """What is known of the items that are as they were, each since the text in which it was looked at."""
        changed: dict[int, frozenset[str] | None] = {}
        true: dict[str, _Entry] = {}
        for name, (then, entry) in self._known.items():
            if (since := id(then)) not in changed:
                changed[since] = layout.changed(then)
            others = changed[since]
            if others is not None and name not in others:
                true[name] = entry
        return true


def _asks_the_same(entry: _Entry, silent: frozenset[str], rules: Sequence[Rule], subject: Subject) -> bool:
    """Whether each rule would ask the solver at an item what it asked then, and find the same; some are `silent`."""
    doubts = subject.doubts
    return entry.silent == silent and all(
        not each.doubtful or each.asks(doubts[rules[each.rule].codes[0]]) for each in entry.found
    )


def _silent(subject: Subject) -> frozenset[str]:
    """The rules that have asked the solver so often in vain that they ask no more."""
    return frozenset([code for code, count in subject.doubts.items() if count >= MAX_DOUBTFUL])


def _look(
    item: tree.Item,
    name: str | None,
    text: _Text,
    subject: Subject,
    rules: Sequence[Rule],
    find: _Find,
    all_found: list[list[Diagnostic]],
) -> _Entry | None:
    """Look at an item by every rule; None where that cannot be remembered."""
    silent = _silent(subject)
    focused, reached = subject.focused(item), text.layout.reached(name) if name is not None else set()
    entry: list[_Found] = []
    lasting = True
    for at, (rule, into) in enumerate(zip(rules, all_found, strict=True)):
        before = subject.doubts[rule.codes[0]]
        found = list(find(rule, focused))
        into += found
        after = subject.doubts[rule.codes[0]]
        moving = text.moving(found, reached)
        lasting = lasting and moving is not None
        if moving or after > before:
            entry.append(_Found(at, moving or (), before, after - before))
    return _Entry(silent, tuple(entry)) if lasting else None


class _Text:
    """A policy's text: where its items stand, and findings in them."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._source = policy, policy.module.source
        self.layout = layout_of(policy.module)
        self._ordered = sorted((place.start, name) for name, place in self.layout.places.items())
        self._starts = [start for start, _ in self._ordered]

    def items(self) -> Iterator[tree.Item]:
        """Statements and rules with a meaning, and declarations, in the order in which rules look at them."""
        policy = self._policy
        yield from (statement.syntax for statement in policy.statements)
        yield from (rule.syntax for rule in policy.rules)
        yield from policy.module.own.values()

    def moving(self, found: list[Diagnostic], reached: set[str]) -> tuple[_Moving, ...] | None:
        """Findings to remember; None where one has a place in none of the items that they rest on."""
        if not found:
            return ()
        moving = [one for one in (self._moving(finding, reached) for finding in found) if one is not None]
        return tuple(moving) if len(moving) == len(found) else None

    def _moving(self, finding: Diagnostic, reached: set[str]) -> _Moving | None:
        places: dict[Span, tuple[str, int]] = {}
        for span in _spans(finding, self._source):
            at = bisect_right(self._starts, span.start) - 1
            start, name = self._ordered[at] if at >= 0 else (0, "")
            if name not in reached or span.end > self.layout.places[name].end:
                return None
            places[span] = (name, start)
        nowhere = Source(self._source.path, "")

        def source(found_in: Source) -> Source:
            return nowhere if found_in is self._source else found_in

        notes = tuple([Note(note.message, source(note.source), note.span) for note in finding.notes])
        return _Moving(replace(finding, source=source(finding.source), notes=notes), places)

    def moved(self, stored: _Moving) -> Diagnostic:
        """The finding where its items stand now."""
        finding, places = stored
        old = finding.source if finding.source.path == self._source.path else None

        def place(span: Span) -> Span:
            found, start = places[span]
            by = self.layout.places[found].start - start
            return Span(span.start + by, span.end + by)

        def note(one: Note) -> Note:
            own = one.source.path == self._source.path
            return Note(one.message, self._source, place(one.span)) if own else one

        notes = tuple([note(one) for one in finding.notes])
        if old is None:
            return replace(finding, notes=notes)
        fix = finding.fix
        if fix is not None:
            fix = Fix(fix.title, tuple([Edit(place(edit.span), edit.text) for edit in fix.edits]), fix.safe)
        return replace(finding, source=self._source, span=place(finding.span), fix=fix, notes=notes)


def _spans(finding: Diagnostic, source: Source) -> Iterator[Span]:
    """The places of a finding in one text."""
    if finding.source is source:
        yield finding.span
        for edit in finding.fix.edits if finding.fix is not None else ():
            yield edit.span
    for note in finding.notes:
        if note.source is source:
            yield note.span
