"""A signature that the language server can hold."""

from __future__ import annotations

from dataclasses import replace

from vigil_lang.trace import Action, Argument, Signature

MAX_TEXT = 200_000
"""Characters of the values of one argument that cross to the server; one with more counts as open there."""


def slim(signature: Signature) -> Signature:
    """A signature that the server can hold: sets of long values are open in it.

    An open set never makes a finding that the closed one would not.
    """
    actions = {
        name: Action({key: _slim(value) for key, value in action.args.items()}, action.kinds, action.open)
        for name, action in signature.actions.items()
    }
    outputs = signature.outputs
    if outputs is not None and sum(map(len, outputs)) > MAX_TEXT:
        outputs = None
    return replace(signature, actions=actions, outputs=outputs)


def _slim(argument: Argument) -> Argument:
    if argument.values is None or sum(map(len, argument.values)) <= MAX_TEXT:
        return argument
    return replace(argument, values=None)
