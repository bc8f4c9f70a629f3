"""Pictures of each supported editor with Vigil at work: `make screenshots` writes them to docs/images."""

from __future__ import annotations

from tests.editors.install import ROOT

IMAGES = ROOT / "docs" / "images"

PICTURES = tuple(
    f"{editor}-{view}-{theme}.{ending}"
    for editor, views, ending in (
        ("vscode", ("fix", "witness", "run"), "png"),
        ("neovim", ("fix", "run"), "svg"),
        ("emacs", ("fix",), "svg"),
        ("helix", ("fix",), "svg"),
    )
    for view in views
    for theme in ("dark", "light")
)
"""Their names: EDITOR-VIEW-THEME.ENDING."""
