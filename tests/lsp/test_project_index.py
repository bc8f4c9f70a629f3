"""What completion knows of a project beside the policy: modules that could be used, read once and ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.semantics.modules import standard_modules
from vigil_lsp.completing.project_index import ProjectIndex
from vigil_lsp.files import Files
from vigil_lsp.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.diagnostics import Source
    from vigil_lang.syntax.parse import Lexed


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of what is parsed."""
    found: list[str] = []
    lexed = Files.lexed

    def noting(self: Files, source: Source) -> Lexed:
        found.append(source.path)
        return lexed(self, source)

    monkeypatch.setattr(Files, "lexed", noting)
    return found


@pytest.mark.parametrize("ahead", [True, False])
def test_the_first_answer_has_all_standard_modules_and_what_was_read_ahead_is_not_read_again(
    tmp_path: Path, parsed: list[str], ahead: bool
) -> None:
    for number in range(7):
        (tmp_path / f"m{number}.vgl").write_text(f"let A{number} = {{a}}\n", encoding="utf-8")
    (tmp_path / "p.vgl").write_text("statement S: abs(a())\n", encoding="utf-8")
    workspace = Workspace()
    workspace.set_folders([tmp_path.as_uri()])
    reading = workspace.reading_of(str(tmp_path / "p.vgl"))
    assert reading is not None
    index = ProjectIndex(workspace)
    standard = standard_modules()
    if ahead:
        parsed.clear()
        assert [index.read_ahead() for _ in standard] == [True] * len(standard)
        assert len(parsed) == len(standard)
        assert not index.read_ahead()
    parsed.clear()
    names = [module.name for module in index.importable(reading)]
    assert names[: len(standard)] == standard
    own = [path for path in parsed if str(tmp_path) in path]
    assert (len(names) - len(standard), len(own), index.missed) == (5, 5, True)  # the others come with the next answer
    assert len(parsed) == 5 + (0 if ahead else len(standard))
    parsed.clear()
    assert len(index.importable(reading)) == len(standard) + 7
    assert (len(parsed), index.missed) == (2, False)
