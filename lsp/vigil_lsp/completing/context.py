"""What is known around a place: the policy, what the runs say, and what else there is in the project."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.syntax import tree
from vigil_lang.syntax.print import UNICODE
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.mentions import tested as under_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.documents.library import Library
    from vigil_lang.semantics.modules import Declaration, Module
    from vigil_lsp.completing.constraints import Names
    from vigil_lsp.completing.place import Place
    from vigil_lsp.completing.slot import Slot
    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import RunResults


@dataclass(frozen=True, slots=True)
class Importable:
    """A module that could be used, by the name that `use` gives it, with what it declares."""

    name: str
    file: tree.File

    @property
    def declared(self) -> list[Declaration]:
        """What it declares, in order."""
        return [item for item in self.file.items if isinstance(item, tree.Let | tree.Param | tree.Pattern)]


def _nothing() -> tuple[()]:
    return ()


@dataclass(frozen=True, eq=False)
class CompletionContext:
    """Everything that completion at one place may look at. What takes time is asked for when it is needed."""

    reading: Reading
    place: Place
    slot: Slot
    known: RunResults | None = None
    namesake: Module | None = None
    """The policy that a file of tests is named after."""
    importable: Callable[[], Sequence[Importable]] = _nothing
    recordings: Callable[[], Sequence[str]] = _nothing
    """Recordings of the project, as named from the policy's folder."""
    documents: Callable[[], Sequence[str]] = _nothing
    """Documents of the project, likewise."""
    library: Library | None = None
    citations: Callable[[], Iterable[tuple[str, str, str]]] = _nothing
    """(policy, file, sentence) of what the project's policies cite."""
    unicode: bool = False
    """Whether operators are written as the paper has them."""

    @property
    def module(self) -> Module:
        """What names in the policy refer to."""
        return self.reading.module

    def spelt(self, word: str) -> str:
        """A keyword or operator as it is written in the policy."""
        return UNICODE.get(word, word) if self.unicode else word

    def arguments(self, names: Names) -> list[tuple[str, int]]:
        """Argument names of events that have one of these names, the most frequent first; 0 where none was seen.

        Those of the runs, what is declared of the actions, and the roles of the kinds.
        """
        found: Counter[str] = Counter()
        if self.known is not None:
            found.update(dict(self.known.samples.arguments(names)))
            actions = self.known.signature.actions
            for name in actions if names is None else names:
                if name in actions:
                    found.update(dict.fromkeys(actions[name].args, 0))
        if names is not None:
            kinds = vocabulary().kinds
            for kind in sorted(name for name in names if name in kinds):
                found.update(dict.fromkeys(kinds[kind].roles, 0))
        if not found and names is not None:
            return self.arguments(None)
        if not found or names is None:
            found.update(dict.fromkeys(vocabulary().roles, 0))
        return found.most_common()  # those of one frequency stay in order

    def values(self, argument: str, names: Names) -> list[tuple[str, int]]:
        """Values of an argument with how often they were seen, the most frequent first."""
        if self.known is None:
            return []
        found = dict(self.known.samples.values(argument, names)) or dict(self.known.samples.values(argument))
        for name, action in self.known.signature.actions.items():
            if (names is None or name in names or not action.kinds.isdisjoint(names)) and argument in action.args:
                stated = action.args[argument].values
                if stated is not None and len(stated) <= 50:
                    found |= {value: 0 for value in sorted(stated) if value not in found}
        return list(found.items())

    def tested_statements(self) -> list[tuple[Module, tree.Statement]]:
        """The statements that tests in this file speak of."""
        modules = under_test(self.module, self.namesake)
        return [(m, item) for m in modules for item in m.file.items if isinstance(item, tree.Statement)]

    def tested_rules(self) -> list[tuple[Module, tree.Rule]]:
        """The rules that tests in this file speak of."""
        modules = under_test(self.module, self.namesake)
        return [(m, item) for m in modules for item in m.file.items if isinstance(item, tree.Rule)]

    def settable(self) -> list[tree.Param]:
        """The params that a test may set."""
        found: dict[str, tree.Param] = {}
        pending = [*under_test(self.module, self.namesake), self.module]
        for module in pending:
            found |= {n: d for n, d in module.own.items() if isinstance(d, tree.Param) and n not in found}
            pending += [used for _, used in module.uses if all(used is not other for other in pending)]
        return list(found.values())


def seen(count: int, known: RunResults | None) -> str:
    """How many events of the runs have something, in words; empty where there are no runs."""
    if count:
        return f"{count:,} event{'s' * (count != 1)}"
    return "not in the runs" if known is not None and known.runs else ""
