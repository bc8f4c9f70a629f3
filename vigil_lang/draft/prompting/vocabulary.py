"""The vocabulary of Σ as a model is shown it: bounded, and of one size however long the runs are (Figure 8)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from vigil_lang.draft.prompting.listing import Carried, Named, listed
from vigil_lang.english.injection import addresses_model
from vigil_lang.trace import Argument
from vigil_lang.trace.discreet import may_show
from vigil_lang.trace.samples import ActionSamples, sampled
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.trace import Signature, Trace
    from vigil_lang.trace.samples import Samples

MAX = 10_000
"""Characters of the text at most: what the paper's vocabulary comes to."""

MAX_VALUES = 8
"""Values of an argument that are shown at most."""

MAX_VALUE = 60
"""Characters of a value that is shown."""

MAX_WORDS = 5
"""Words of a value that is shown: more are prose, of which a rule names parts at most."""

MAX_NAME = 200
"""Characters of a name that is shown."""

_A_FEW = 2
"""Words that make no sentence."""

_LISTED = 12
"""Values that a declaration lists of an argument and that are shown as all there are."""

_OF_SCRIPTS = ("function", "inferred", "nargs", "unresolved")

# What is said, written or run: as free as text can be, often private, and of commands the words are shown by role.
_FREE = frozenset(
    {"text", "content", "code", "command", "argv", "message", "stdin", "query", "description", "prompt", "question"}
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a policy may speak of, as JSON: a line for each kind and each action, in the order of their names.

    `kinds` gives for each kind the roles that its events carry, `actions` for each action its `kinds` and the
    `arguments` it has. Of an argument there are some values, the frequent ones, as a list; `{"number": […]}` or
    `{"bool": […]}` where all its values are such, and `{"one of": […]}` where a declaration lists all there can be.
    Values of a role stand under the kind alone. An action that may have other arguments is `open`.

    `actions` is how many actions there are; `cut` says that some names are not shown.
    """

    text: str
    actions: int
    cut: bool = False


def describe(signature: Signature, runs: Sequence[Trace]) -> Vocabulary:
    """The vocabulary of a signature, with values that are frequent in runs; deterministic, at most `MAX` characters.

    Values are those that may be shown to others (`trace.discreet`), short, and no prose. What does not fit is left
    out: values first, then the arguments that few events carry, and names only where there are hundreds, rare ones.
    """
    samples = sampled(runs)
    kinds = _kinds(signature, samples)
    names = [*kinds.values(), *_actions(signature, samples, kinds)]
    text, shown = listed([one for one in names if _is_name(one.name)], MAX)
    return Vocabulary(text, len(signature.actions), shown < len(names))


def _kinds(signature: Signature, samples: Samples) -> dict[str, Named]:
    """The kinds with their roles. What else their events carry stands under the actions.

    What an event has for being of a program, or of a script, stands with the kinds that are just this.
    """
    known = vocabulary()
    besides = {*known.kinds["process.run"].roles, *_OF_SCRIPTS}
    carried: dict[str, dict[str, Argument]] = {}
    for action in signature.actions.values():
        for kind in action.kinds:
            found = carried.setdefault(kind, {})
            own = known.kinds[kind].roles if kind in known.kinds else ()
            also = () if kind in ("process.run", "code.call") else besides
            for name in action.args.keys() & (known.roles.keys() - also | {*own}):
                types = action.args[name].types | (found[name].types if name in found else frozenset())
                found[name] = Argument(types)
    named = {}
    for kind, arguments in carried.items():
        seen = samples.kinds.get(kind, ActionSamples(0))
        named[kind] = Named(kind, seen.events, _carried(arguments, seen, declared=False))
    return named


def _actions(signature: Signature, samples: Samples, kinds: Mapping[str, Named]) -> list[Named]:
    named = []
    for name, action in signature.actions.items():
        seen = samples.actions.get(name, ActionSamples(0))
        arguments = _carried(action.args, seen, declared=signature.origin == "declared")
        under_kinds = frozenset(key for kind in action.kinds for key in kinds[kind].arguments)
        shown = tuple(sorted(filter(_is_name, action.kinds)))
        named.append(Named(name, seen.events, arguments, True, shown, under_kinds, action.open))
    return named


def _carried(arguments: Mapping[str, Argument], seen: ActionSamples, *, declared: bool) -> dict[str, Carried]:
    """Arguments by name, the most frequent first."""
    counts = {name: seen.arguments[name].events if name in seen.arguments else 0 for name in arguments}
    found = {}
    for name in sorted(arguments, key=lambda name: (-counts[name], name)):
        argument = arguments[name]
        if not _is_name(name):
            continue
        if declared and argument.values and len(argument.values) <= _LISTED and all(map(_short, argument.values)):
            found[name] = Carried("one of", tuple(sorted(argument.values)))
        else:
            label = next(iter(argument.types)) if len(argument.types) == 1 else "text"
            found[name] = Carried("" if label == "text" else label, _values(name, seen))
    return found


def _values(name: str, seen: ActionSamples) -> tuple[str, ...]:
    """Values of an argument that may be shown, the most frequent first."""
    if name not in seen.arguments or name.rpartition(".")[2] in _FREE:
        return ()
    fit = (value for value, _ in seen.arguments[name].values if _short(value) and may_show(name, value))
    return tuple(islice(fit, MAX_VALUES))


def _is_name(text: str) -> bool:
    """Whether a name may stand in every question: a run may have been made to show any."""
    return len(text) <= MAX_NAME and (len(text.split()) <= _A_FEW or addresses_model(text) is None)


def _short(value: str) -> bool:
    short = len(value) <= MAX_VALUE and len(value.split()) <= MAX_WORDS and value.isprintable()
    return short and addresses_model(value) is None
