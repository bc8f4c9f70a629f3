"""What the rules that look at one item alone found in a policy's last text, so that only changed items are looked at.

Such a rule's findings at a statement, pattern or rule of a gate rest on its own text, on that of what it names
(through what that names in turn), and on what is the same for the whole policy: the signature, the values of params,
the modules it uses. Where all of that is as it was, so are the findings, however far the text has moved.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.lint.subject import MAX_DOUBTFUL
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.lint.policy_parts import Item
    from vigil_lang.lint.rule import Rule
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy

_Key: TypeAlias = tuple[object, ...]
_Find: TypeAlias = "Callable[[Rule, Subject], Iterable[Diagnostic]]"

_WORD = re.compile(r"\w+(?:[.-]\w+)*")
_PART = re.compile(r"\w+")


class _Moving(NamedTuple):
    """A finding, and by its spans in the policy's own text: the item each stands in, and where that item began."""

    finding: Diagnostic
    places: dict[Span, tuple[str, int]]


class _Found(NamedTuple):
    """What one rule found at an item: findings, None where one cannot be moved.

    `before` and `after` are how many questions of the rule the solver had left open by then.
    """

    moving: tuple[_Moving, ...] | None
    before: int
    after: int

    def holds(self, before: int) -> bool:
        """Whether the rule would ask, and find, the same once so many questions were left open."""
        return before == self.before or before + self.after - self.before < MAX_DOUBTFUL > self.after


@dataclass(slots=True)
class Memory:
    """The findings of one policy's last text. Whoever lints with it is the only one to do so at that time."""

    _inputs: tuple[object, ...] | None = None
    _known: dict[_Key, list[_Found]] = field(default_factory=dict)
    _words: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def findings(
        self, subject: Subject, rules: Sequence[Rule], inputs: tuple[object, ...], find: _Find
    ) -> list[list[Diagnostic]]:
        """What each of the rules finds in a policy; `inputs` is all that it rests on beside the policy's files.

        What `find` raises ends it; what was found by then is remembered.
        """
        layout = _Layout(subject.policy, self._words)
        asked = (*inputs, tuple(rules), layout.modules, bool(subject.policy.rules))
        if asked != self._inputs:
            self._inputs, self._known = asked, {}
        now: dict[_Key, list[_Found]] = {}
        all_found: list[list[Diagnostic]] = [[] for _ in rules]
        try:
            for name, item in layout.items():
                key, reached = layout.key(name, item)
                entry, focused = self._known.get(key), None
                stored: list[_Found] = []
                for at, (rule, into) in enumerate(zip(rules, all_found, strict=True)):
                    code = rule.codes[0]
                    before = subject.doubts[code]
                    known = entry[at] if entry is not None else None
                    if known is None or known.moving is None or not known.holds(before):
                        focused = focused or subject.focused(item)
                        found = list(find(rule, focused))
                        known = _Found(layout.moving(found, reached), before, subject.doubts[code])
                        into += found
                    else:
                        subject.doubts[code] += known.after - known.before
                        into += [layout.moved(one) for one in known.moving]
                    stored.append(known)
                now[key] = stored
        except BaseException:
            self._known |= now
            raise
        self._known, self._words = now, layout.words
        return all_found


class _Layout:
    """Where the items of a policy stand, and what each names."""

    def __init__(self, policy: Policy, words: dict[str, tuple[str, ...]]) -> None:
        self._policy, self._module, self._source = policy, policy.module, policy.module.source
        self._last_words, self.words = words, dict[str, tuple[str, ...]]()
        self.modules = tuple(module.source for module in _used(policy.module))
        items = policy.module.file.items
        self._starts = [item.span.start for item in items]
        ends = [item.span.end for item in items]
        text = self._source.text
        bounds = zip([0, *ends[:-1]], [*self._starts[1:], len(text)], strict=True) if items else ()
        self._bounds = dict(zip(map(id, items), bounds, strict=True))
        self._items = items
        self._named: dict[str, tree.Item] = {**policy.module.judged, **policy.module.own}
        self._names = {id(item): name for name, item in self._named.items()}

    def items(self) -> Iterator[tuple[str, Item]]:
        """Statements, rules and patterns with a meaning, in the order in which rules look at them."""
        policy = self._policy
        yield from ((statement.name, statement.syntax) for statement in policy.statements)
        yield from ((rule.name, rule.syntax) for rule in policy.rules)
        yield from ((name, item) for name, item in self._module.own.items() if isinstance(item, tree.Pattern))

    def key(self, name: str, item: Item) -> tuple[_Key, set[str]]:
        """All that findings at an item rest on in the policy's text, and the names of what that is."""
        mine = self._text(item)
        # One that takes another's name says the same at another place, which is not remembered.
        parts: list[object] = [type(item), mine, id(item) in self._names]
        seen = {name}
        waiting = list(self._direct(mine))
        while waiting:
            other = waiting.pop()
            if other in seen:
                continue
            seen.add(other)
            if other not in self._module.own and other in self._module.imported:
                parts.append((other, self._module.imported[other][0].source.path))
            if (declared := self._named.get(other)) is not None:
                text = self._text(declared)
                parts.append((other, text))
                waiting += self._direct(text)
        return tuple(parts), seen

    def _direct(self, text: str) -> tuple[str, ...]:
        """The words of a text that name something here."""
        words = self.words.get(text)
        if words is None:
            words = self._last_words.get(text)
            if words is None:
                words = tuple(dict.fromkeys((*_WORD.findall(text), *_PART.findall(text))))
            self.words[text] = words
        return tuple([w for w in words if w in self._named or w in self._module.imported])

    def _text(self, item: tree.Item) -> str:
        """An item with what stands between it and its neighbours."""
        start, end = self._bounds[id(item)]
        return self._source.text[start:end]

    # --- findings that move ---

    def moving(self, found: list[Diagnostic], reached: set[str]) -> tuple[_Moving, ...] | None:
        """Findings to remember; None where one has a place in none of the items that they rest on."""
        moving = [one for one in (self._moving(finding, reached) for finding in found) if one is not None]
        return tuple(moving) if len(moving) == len(found) else None

    def _moving(self, finding: Diagnostic, reached: set[str]) -> _Moving | None:
        places: dict[Span, tuple[str, int]] = {}
        for span in self._spans(finding):
            at = bisect_right(self._starts, span.start) - 1
            found = self._names.get(id(self._items[at])) if at >= 0 else None
            if found not in reached or span.end > self._bounds[id(self._items[at])][1]:
                return None
            places[span] = (found, self._starts[at])
        return _Moving(finding, places)

    def _spans(self, finding: Diagnostic) -> Iterator[Span]:
        if finding.source is self._source:
            yield finding.span
            for edit in finding.fix.edits if finding.fix is not None else ():
                yield edit.span
        for note in finding.notes:
            if note.source is self._source:
                yield note.span

    def moved(self, stored: _Moving) -> Diagnostic:
        """The finding where its items stand now."""
        finding, places = stored
        old = finding.source if finding.source.path == self._source.path else None

        def place(span: Span) -> Span:
            found, start = places[span]
            by = self._named[found].span.start - start
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


def _used(module: Module) -> list[Module]:
    """The modules that one uses, through others too."""
    found = [module]
    for one in found:
        found += [used for _, used in one.uses if all(used is not other for other in found)]
    return found[1:]
