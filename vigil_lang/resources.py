"""Where the files that ship beside the code are: inside the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, for example ``resource("grammar", "vigil.lark")``.

    `codes` is the one folder whose place differs: `docs/codes` in a checkout.
    """
    inside = _PACKAGE.joinpath(*parts)
    if inside.exists():
        return inside
    beside = ("docs", *parts) if parts[0] == "codes" else parts
    return _PACKAGE.parent.joinpath(*beside)
