"""What the operators of the language mean, in a sentence or two of Markdown (spec.md, 7.1)."""

from __future__ import annotations

from typing import Final

CLOSED: Final = "Of an argument that an event does not carry every test is false, `!=`, `not in` and `!~` included."

OPERATORS: Final = {
    "earlier": "At some event before this one; with a bound, at most so many calls or so much time before.",
    "later": "At some event after this one; with a bound, at most so many calls or so much time after.",
    "not": "Holds where the condition does not. Only `not` turns absence into truth: `not path = x` also holds of "
    "events without a `path`.",
    "and": "Both hold of the same event. Binds tighter than `or`.",
    "or": "At least one of both holds. Binds tighter than `implies`.",
    "implies": "Where the left side holds, the right one does. Only in the body of `always`.",
    "in": f"Some value of the field is in the set. {CLOSED}",
    "not in": f"Some value of the field is outside the set. {CLOSED}",
    "=": f"Some value of the field is this one. {CLOSED}",
    "!=": f"Some value of the field is another one. {CLOSED}",
    "~": f"Some value of the field matches: a glob the whole value, a regular expression any part of it. {CLOSED}",
    "!~": f"Some value of the field does not match. {CLOSED}",
    "<": f"Some value of the field is a number less than this. Text is no number. {CLOSED}",
    "<=": f"Some value of the field is a number of at most this. Text is no number. {CLOSED}",
    ">": f"Some value of the field is a number greater than this. Text is no number. {CLOSED}",
    ">=": f"Some value of the field is a number of at least this. Text is no number. {CLOSED}",
    "contains": f"The text is part of some value of the field; the empty text never is. {CLOSED}",
    "has": "The event carries the argument, even without a value; `has output`: it has an output.",
    "action": "The name of the event's action and the kinds it is an instance of.",
    "status": "How the event ended: `ok`, `error`, or unknown, of which neither test holds.",
    "output": "What the event returned, as text; an event may have none.",
    "ok": "The event is known to have succeeded.",
    "error": "The event is known to have failed.",
    "after": "Only triggers that have such an event before them are judged.",
    "|": "The elements of both sets.",
}

GLOB: Final = (
    "A glob matches the whole value: `*` is any run of characters, also none and also with `/` in it, `?` is one "
    "character; `\\*` and `\\?` are the characters themselves."
)
REGEX: Final = "A regular expression (RE2) matches a value in which some part matches; `^` and `$` are its ends."
