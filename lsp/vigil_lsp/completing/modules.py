"""Modules: what `use` can name, and what they declare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.semantics.modules import standard_modules, standard_path
from vigil_lang.syntax import tree
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.spelling import is_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.context import CompletionContext


def modules(context: CompletionContext) -> Iterator[Candidate]:
    """Modules after `use`, standard ones and those of the project."""
    used = {item.module.text for item in context.reading.file.items if isinstance(item, tree.Use)}
    for module in context.importable():
        group = 30 if module.name in used else 12 if module.name.startswith(".") else 10
        names = ", ".join(declared.name.text for declared in module.declared)
        detail = names if len(names) <= 80 else f"{names[:79]}…"
        yield Candidate(module.name, Kind.Module, module.name, group, detail, about=("module", module.name))


def relative_name(path: str, folder: Path) -> str | None:
    """The name by which a policy in a folder uses a file; None where it cannot."""
    try:
        parts = Path(path).relative_to(folder).with_suffix("").parts
    except ValueError:
        return None
    name = ".".join(parts)
    return f".{name}" if is_name(name) and all("." not in part for part in parts) else None


def standard() -> list[tuple[str, Path]]:
    """The standard modules with their files."""
    return [(name, standard_path(name)) for name in standard_modules()]
