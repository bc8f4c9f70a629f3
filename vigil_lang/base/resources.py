"""Where the files that ship beside the code are: inside the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_DOCS = ("codes", "corpus.schema.json", "policy-document.schema.json", "vigil.schema.json")


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, for example ``resource("grammar", "vigil.lark")``.

    The pages of codes and the schemas are in `docs` in a checkout.
    """
    inside = _PACKAGE.joinpath(*parts)
    if inside.exists():
        return inside
    beside = ("docs", *parts) if parts[0] in _DOCS else parts
    return _PACKAGE.parent.joinpath(*beside)
