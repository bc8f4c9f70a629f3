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
    "where": "Tests of the values of variables: only bindings that pass them are judged. A field here is a variable.",
    "since": "Between two conditions: at some event before this one the right side holds, and at all events strictly "
    "in between the left side does. After a form: what came before the last such event is not counted.",
    "until": "At some event after this one the right side holds, and at all events strictly in between the left side "
    "does.",
    "weak": "It is also enough that the left side holds all along: since the beginning, or to the end of the run.",
    "repeated": "The condition has held in at least so many calls by now, this one included; with `distinct`, of at "
    "least so many values of a field.",
    "distinct": "Counts the different values of a field instead of calls.",
    "with": "Some text of the field is a JSON object whose members pass all the tests together.",
    "violates": "With what the run has so far, the call would violate the statement.",
    "|": "The elements of both sets.",
}

CONTEXT_FIELDS: Final = {
    "context.tier": "how suspicious the session is, from 0 to 3",
    "context.hour": "the hour of the day, from 0 to 23",
    "context.weekday": "the day of the week: `mon` to `sun`",
    "context.calls": "how many calls the run has had so far",
    "context.agent": "the agent that makes the call",
    "context.user": "the user it acts for",
    "context.run": "the run that the call is part of",
    "context.host": "the program that the agent runs in",
}
"""What a rule can ask of the moment, beside the fields of the user's own in `context.user.`."""

VIEW_SUMMARIES: Final = {
    "lower": "in lower case",
    "host": "the host of a URL or an address",
    "base": "the last part of a path",
    "dir": "the folder of a path",
    "ext": "the ending of a path",
    "length": "how many characters",
    "count": "how many values the field has",
    "json": "what stands at a path in JSON",
    "find": "what a regular expression finds",
    "without": "without what a regular expression finds",
}
"""What each view makes of a field."""

VIEW_DETAILS: Final = {
    "lower": "Letters are folded, so that case does not count.",
    "host": "A text that has no host gives no value.",
    "base": "`/home/ann/notes.txt` gives `notes.txt`.",
    "dir": "`/home/ann/notes.txt` gives `/home/ann`.",
    "ext": "`/home/ann/notes.txt` gives `txt`.",
    "length": "It is a number of each value.",
    "count": "It is one number for the field.",
    "json": 'The path has members and places: `total`, `items[*].price`, `a.b[0]`, `["odd name"]`. A text that is no '
    "JSON gives no value.",
    "find": "Each match is a value, or what its first group holds.",
    "without": "What is left of each value.",
}

VIEW_EXAMPLES: Final = {
    "lower": 'recipient:lower = "ann@example.com"',
    "host": "url:host not in OWN",
    "base": 'path:base = ".env"',
    "dir": 'path:dir ~ "/home/*"',
    "ext": 'path:ext:lower in {"exe", "dll"}',
    "length": "body:length > 2000",
    "count": "attachments:count > 3",
    "json": 'output:json("total") > 500',
    "find": "body:find(/https?:\\/\\/[^\\s]+/) = x",
    "without": "output:without(/<q>.*<\\/q>/) contains x",
}

GLOB: Final = (
    "A glob matches the whole value: `*` is any run of characters, also none and also with `/` in it, `?` is one "
    "character; `\\*` and `\\?` are the characters themselves."
)
REGEX: Final = "A regular expression (RE2) matches a value in which some part matches; `^` and `$` are its ends."
