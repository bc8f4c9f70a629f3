"""The runs that paths stand for, and the vocabulary that runs and signatures make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.trace import Signature, Trace


def traces(args: Sequence[str], *, allow_empty: bool, tools: dict[str, Tool]) -> list[Trace]:
    """All runs of some arguments; `tools` are those that the project describes.

    Raises:
        InputError: one of them cannot be read, or holds no events unless that is allowed.
    """
    if not args:
        return []
    from vigil_lang.abstraction.run import Options
    from vigil_lang.runs import load_traces

    options = Options(allow_empty=allow_empty, tools=tools)
    return [trace for path in trace_paths(args) for trace in load_traces(path, options=options)]


def vocabulary(paths: Sequence[str], runs: Sequence[Trace]) -> Signature | None:
    """What signatures and runs allow together; None when there are none.

    Raises:
        InputError: a signature cannot be read.
    """
    if not paths and not runs:
        return None
    from vigil_lang.signatures import load_signature
    from vigil_lang.trace import merge, observe

    parts = [load_signature(path) for path in paths]
    return merge(*parts, *([observe(runs)] if runs else ()))
