"""The texts that a sentence gives: what a value or a pattern of its statement may be held against.

A statement may look for what its sentence names, and no more narrowly than by that name. So a pattern is justified if
some text meets it in which a thing of the sentence stands as things stand in events: by itself, as a path or in one,
as a host, as an option, in a text. What `*/data/ledger/*` looks for, "never delete files under `data/`" does not give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from vigil_lang.draft.checks.topics import among, left_of
from vigil_lang.english.phrases import INSIDE
from vigil_lang.english.stems import same_stem, stem
from vigil_lang.english.words import content_words, parts_of
from vigil_lang.semantics.text_patterns import predicate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.text_patterns import Matcher

MAX_TEXTS: Final = 150
"""Things of a sentence that are looked at."""

MAX_EMBEDDED: Final = 6_000
"""Texts in which they stand that a pattern is held against: so many are those of a long sentence."""

_QUOTED: Final = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|“([^”]{1,200})”|(?<!\w)'([^']{1,200})'(?!\w)")
_PLAIN: Final = re.compile(r"[^\s,;:!?()\[\]{}\"“”*|—]+")
_TAIL: Final = re.compile(r"(?:'s|’s|[.'’…])+$")


@dataclass(frozen=True)
class Mentions:
    """What a sentence names: `quoted` texts as they stand, and its other words but those `taken` by the actions."""

    sentence: str
    taken: frozenset[str] = frozenset()
    _met: dict[Matcher, bool] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def quoted(self) -> tuple[str, ...]:
        """What is set in code or in quotation marks, as a whole and by its parts."""
        found: dict[str, None] = {}
        for match in _QUOTED.finditer(self.sentence):
            text = next(filter(None, match.groups())).strip()
            pieces = [text, *text.split(), *(part for piece in text.split() for part in piece.split("=", 1))]
            for piece in pieces:
                inside = piece.endswith("/") or INSIDE.search(self.sentence[: match.start() + 1])
                found[piece.rstrip("/") + "/" if inside and "/" in piece else piece] = None
        return tuple(text for text in found if text)[:MAX_TEXTS]

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The other words, but those that only say which action is meant."""
        rest = _QUOTED.sub(" ", self.sentence)
        found = dict.fromkeys(_TAIL.sub("", word) for word in _PLAIN.findall(rest))
        left = left_of(chain.from_iterable(map(content_words, found)), self.taken)
        named = [word for word in found if any(part in left for part in parts_of(word)) or not parts_of(word)]
        return tuple(word for word in named if word)[:MAX_TEXTS]

    def has_name(self, name: str) -> bool:
        """Whether all words of an argument's name are words of the sentence, those for the action among them."""
        words, parts = frozenset(parts_of(self.sentence)), parts_of(name)
        return bool(parts) and all(among(part, words) for part in parts)

    def has_value(self, value: str) -> bool:
        """Whether a value is named: in code as it is written, else by its words, whatever their ending."""
        bare = value.strip()
        for text in self.quoted:
            if bare in (text, text.strip("/")) or (len(text) > 1 and bare.endswith("/" + text.removeprefix("/"))):
                return True
        folded = bare.casefold()
        if any(folded == word.casefold() for word in self.plain):
            return True
        parts = parts_of(bare)
        known = frozenset(chain.from_iterable(map(parts_of, self.plain)))
        known |= {part for text in self.quoted if " " in text for part in parts_of(text)}
        return bool(parts) and all(any(same_stem(part, word) for word in known) for part in parts)

    def meets(self, matcher: Matcher) -> bool:
        """Whether a text in which something that is named stands meets a pattern."""
        if matcher not in self._met:
            self._met[matcher] = any(map(predicate(matcher), self._texts))
        return self._met[matcher]

    def meets_part(self, text: str) -> bool:
        """Whether a text stands in one in which something that is named does."""
        return any(text in one for one in self._texts) or self.has_value(text)

    def exceeded(self, matcher: Matcher) -> str | None:
        """A path that a pattern for one of the sentence matches besides: another name, or the same elsewhere."""
        accepts = predicate(matcher)
        for text in self.quoted:
            *above, last = [part for part in text.strip("/").split("/") if part] or [""]
            if "/" in text and last and any(map(accepts, _as_in_events(text))):
                found = [f"/w/x{last}x/f.txt", *([f"/w/elsewhere/{last}/f.txt"] if any(map(parts_of, above)) else [])]
                if (more := next(filter(accepts, found), None)) is not None:
                    return more
        return None

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        found = dict.fromkeys(chain.from_iterable(_as_in_events(text) for text in self.quoted))
        for word in self.plain:
            for form in dict.fromkeys((word, word.lower(), word.upper(), stem(word.lower()))):
                found.update(dict.fromkeys(_as_in_events(form)))
        # What is under a directory and of a kind: `data/` and CSV.
        names = [word.lower().lstrip(".") for word in (*self.plain, *self.quoted) if word.isalnum()][:40]
        for text in [text for text in self.quoted if "/" in text][:5]:
            for name in names:
                found.update(dict.fromkeys((f"{text.rstrip('/')}/file.{name}", f"/w/p/{text.strip('/')}/file.{name}")))
        found[" ".join(self.plain)] = None
        return tuple(islice(found, MAX_EMBEDDED))


@lru_cache(maxsize=64)
def mentions(sentence: str, taken: frozenset[str]) -> Mentions:
    """What a sentence names; remembered, since statements have many cases."""
    return Mentions(sentence, taken)


def _as_in_events(text: str) -> Iterator[str]:
    """A thing as it may stand in events; of a directory, what lies in it."""
    if not text:
        return
    bare = text.strip("/")
    for held in ("file.txt", "sub/file.csv"):
        yield f"{text.rstrip('/')}/{held}"
        yield f"/w/p/{bare}/{held}"
        yield f"~/{bare}/{held}"
    if text.endswith("/"):
        return
    yield text
    if text.startswith("-"):
        return
    home = bare.removeprefix("~/")
    yield from (f"/w/p/{home}", f"~/{home}", f"./{home}", f"/{home}", f"/w/p/{home}.md", f"/w/p/file.{home}")
    yield from (f"file.{bare}", f"{bare}.md", f"-{text}", f"--{text}", f"https://{bare}/a", f"my_{bare}", f"a {text} b")
    yield from (f"www.{bare}", f"{text} ", f" {text}")
