"""Which runs a policy is held against: those its project names, or those a comment in it does.

The comment is a line comment, anywhere in the policy, that begins `// runs:`. Patterns follow, separated by white
space or commas: files, folders or globs, relative to the policy's own folder. Several such comments add up, and all
take the place of the configuration's runs. What lies outside the workspace folder is never read.
"""

from __future__ import annotations

import glob
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import project_root, real_path
from vigil_lang.diagnostics import Span
from vigil_lang.project.selection import Selection
from vigil_lang.syntax.parse import MAX_CHARACTERS, MAX_TOKENS
from vigil_lang.syntax.scan import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.project.settings import Settings
    from vigil_lsp.recordings.results import Setting

_COMMENT = re.compile(r"//[ \t]*runs[ \t]*:")
_PATTERN = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class RunSources:
    """Runs and signatures by absolute paths and globs. `within` is the folder that what is found must lie in.

    `tools` are those that the project describes, as JSON.
    """

    runs: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    benign: tuple[str, ...] = ()
    within: str | None = None
    tools: str = ""

    def listed(self, setting: Setting) -> tuple[str, ...]:
        """What a setting lists."""
        return {"runs": self.runs, "signatures": self.signatures, "lint.benign": self.benign}[setting]

    @property
    def given(self) -> bool:
        """Whether there is anything to know of: tool definitions alone tell names, too."""
        return bool(self.runs or self.signatures or self.benign)


@dataclass(frozen=True)
class TrackedPolicy:
    """A policy that is tracked. `text` is that of the open document, None where what is on disk counts.

    `comments` are the places of the patterns in `// runs:` comments, in the order of `sources.runs`; empty where the
    runs come from the configuration. `shown`: somebody looks at it now.
    """

    path: str
    text: str | None = field(repr=False)
    sources: RunSources
    folder: str
    params: Mapping[str, object] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)
    benign_threshold: float = 0.0
    inline_ignores: bool = True
    comments: tuple[Span, ...] = ()
    shown: bool = False


def tracked_policy(
    path: str, text: str | None, settings: Settings, start: str, workspace: str, *, shown: bool
) -> TrackedPolicy:
    """A policy with what its project, or it itself, says of runs.

    `start` is the folder that configuration was looked for from: the paths of `settings` are as seen from there.
    """
    lint = settings.lint
    patterns = list(patterns_in(text)) if text is not None else []
    signatures = tuple(absolute(start, one) for one in settings.signatures)
    benign = tuple(absolute(start, one) for one in lint.benign)
    tools = described_tools(settings)
    if patterns:
        runs = tuple(absolute(os.path.dirname(path), one) for one, _ in patterns)  # noqa: PTH120 - texts
        sources = RunSources(runs, signatures, benign, workspace, tools)
    else:
        project = project_root(Path(real_path(os.path.join(start, settings.folder))))  # noqa: PTH118
        own = tuple(absolute(start, one) for one in settings.runs)
        sources = RunSources(own, signatures, benign, str(project), tools)
    return TrackedPolicy(
        path,
        text,
        sources,
        start,
        dict(settings.params),
        settings.selection,
        lint.benign_threshold,
        lint.inline_ignores,
        tuple(span for _, span in patterns),
        shown,
    )


def described_tools(settings: Settings) -> str:
    """The tools that a project describes, as JSON."""
    return json.dumps({name: tool.known for name, tool in settings.tools.items()}) if settings.tools else ""


def patterns_in(text: str) -> Iterator[tuple[str, Span]]:
    """The patterns of a policy's `// runs:` comments, each with its place."""
    if len(text) > MAX_CHARACTERS or _COMMENT.search(text) is None:
        return
    for token in tokens(text, MAX_TOKENS):
        if token.kind == "comment" and (comment := _COMMENT.match(token.text)) is not None:
            for pattern in _PATTERN.finditer(token.text, comment.end()):
                yield pattern[0], Span(token.start + pattern.start(), token.start + pattern.end())


def absolute(folder: str, pattern: str) -> str:
    """A path or glob, as seen from a folder, as an absolute one; the folder's own name is no glob."""
    if os.path.isabs(pattern):  # noqa: PTH117 - a text, which may be a glob
        return pattern
    base = glob.escape(folder) if glob.has_magic(pattern) else folder
    return os.path.normpath(os.path.join(base, pattern))  # noqa: PTH118 - a text, which may be a glob
