"""Asking the sources that the settings register: those that ship in this process, all others in processes of their own.

A source that raises, hangs, or answers anything but a number from 0 to 1 has failed, which is a signal of its own: a
doubt, never a pass.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from vigil_lang.base.processes import command, import_path
from vigil_lang.gate.tier.child import ask_program
from vigil_lang.gate.tier.signals import Signal, failed, local_signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.gate.settings import TierSettings
    from vigil_lang.gate.tier.combination import Said
    from vigil_lang.gate.tier.source import Seen, Source

GROUP = "vigil.signals"
"""The group of entry points that plug-ins stand in: a name, and a class that is made without arguments."""

SHIPPED = {
    "addressed_model": "vigil_lang.gate.tier.sources.addressed_model:AddressedModel",
    "hidden_characters": "vigil_lang.gate.tier.sources.hidden_characters:HiddenCharacters",
    "repetition": "vigil_lang.gate.tier.sources.repetition:Repetition",
    "secret_text": "vigil_lang.gate.tier.sources.secret_text:SecretText",
}
"""The sources that ship, as their entry points have them. No plug-in takes one's place."""


class _Program:
    """A program of the user's: it reads one JSON object and writes a number."""

    def __init__(self, name: str, argv: Sequence[str], seconds: float) -> None:
        self.name = name
        self._argv = tuple(argv)
        self._seconds = seconds

    def score(self, seen: Seen) -> float | None:
        return ask_program(self._argv, seen, self._seconds)


def load_sources(settings: TierSettings) -> tuple[Source, ...]:
    """The registered sources that there is something to ask of, in the order of their names: those with a `command`,
    those that ship, and plug-ins. Others only speak for themselves."""
    found: list[Source] = []
    installed: frozenset[str] | None = None
    for name, source in sorted(settings.sources.items()):
        if source.key is not None:
            continue
        if source.command:
            found.append(_Program(name, source.command, source.seconds))
        elif name in SHIPPED:
            module, _, made = SHIPPED[name].partition(":")
            found.append(getattr(import_module(module), made)())
        else:
            installed = _installed() if installed is None else installed
            if name in installed:
                found.append(_Program(name, [*command("vigil_lang.gate.tier.child"), name], source.seconds))
    return tuple(found)


def observe(
    sources: Sequence[Source], settings: TierSettings, seen: Seen, old: Sequence[Said], at: int
) -> tuple[Signal, ...]:
    """What the sources say, as far as it is to be logged; `old` has the signals so far, `at` is in POSIX seconds."""
    return worth_logging(ask(sources, settings, seen, at), old, settings, at)


def ask(sources: Sequence[Source], settings: TierSettings, seen: Seen, at: int) -> tuple[Signal, ...]:
    """What the sources say of what was seen, as signals to be logged; nothing of those that have nothing to say."""
    said: list[Signal] = []
    for source in sources:
        try:
            score = source.score(seen)
            if score is not None:
                said.append(local_signal(settings, seen.run, source.name, score, None, at))
        except Exception:  # whatever goes wrong in a detector, its silence is known
            said.append(failed(settings, seen.run, source.name, at))
    return tuple(said)


def worth_logging(new: Sequence[Signal], old: Sequence[Said], settings: TierSettings, at: int) -> tuple[Signal, ...]:
    """Those new signals of a run that can change a tier, now or later.

    These are alarms and failures, the first signal of a source after a failure, and one in every half of its window
    where a source has spoken before or is required.
    """
    kept: list[Signal] = []
    for signal in new:
        of = [each for each in old if each.source == signal.source]
        last = max((each.at for each in of), default=None)
        ends = None if last is None else last // 1_000_000 + settings.sources[signal.source].window // 2
        again = settings.sources[signal.source].required if ends is None else ends <= at
        recovered = any(each.score is None for each in of if each.at == last)
        if signal.score != 0 or again or recovered:
            kept.append(signal)
    return tuple(kept)


def _installed() -> frozenset[str]:
    """The names of the plug-ins that are installed; of what lies in the working directory nothing is looked at."""
    from importlib.metadata import distributions

    return frozenset(
        each.name for found in distributions(path=import_path()) for each in found.entry_points if each.group == GROUP
    )
