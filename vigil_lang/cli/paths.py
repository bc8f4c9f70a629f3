"""Shell completion of the path arguments of a verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from click import Context, Parameter
    from click.shell_completion import CompletionItem


def complete(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Shell completion of a path argument: files, or standard modules once `std` is typed."""
    from click.shell_completion import CompletionItem

    if not incomplete.startswith("std"):
        return [CompletionItem(incomplete, type="file")]
    from vigil_lang.semantics.modules import standard_modules

    modules = [CompletionItem(name) for name in standard_modules() if name.startswith(incomplete)]
    return modules or [CompletionItem(incomplete, type="file")]
