"""The path of docs/editors.md, step by step, on the shipped example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from lsp_session import Page, Session

EXAMPLE = Path(__file__).parents[2] / "examples" / "dashcam"


async def lenses(page: Page) -> list[str]:
    """The titles of the lenses, resolved, in the order of the text."""
    found = await page.ask(types.TEXT_DOCUMENT_CODE_LENS)
    resolved = [lens if lens.command else await page.session.ask(types.CODE_LENS_RESOLVE, lens) for lens in found]
    return [lens.command.title for lens in resolved if lens.command]


async def eventually(page: Page, title: str) -> list[str]:
    """The lenses, asked for again with all that the server sends until there is one with a title."""
    for _ in range(40):
        found = await lenses(page)
        if title in found:
            return found
        seen = page.session.refreshed.total()
        await page.session.until(lambda seen=seen: page.session.refreshed.total() > seen, 0.25)
    return await lenses(page)


async def test_the_path_of_the_documentation(session: Session) -> None:
    for path in EXAMPLE.iterdir():
        session.write(path.name, path.read_bytes())
    page = await session.open((EXAMPLE / "dashcam.vgl").read_text(encoding="utf-8"), "dashcam.vgl")
    assert "violated in 1 of 2 runs · exercised in 2" in await eventually(
        page, "violated in 1 of 2 runs · exercised in 2"
    )
    page.replace("transform", "transfrom")
    found = await page.diagnostics(lambda sent: any(one.code == "VGL402" for one in sent))
    misspelt = next(one for one in found if one.code == "VGL402")
    assert page.part(misspelt.range) == "transfrom"
    assert "holds in 2 runs · never exercised" in await eventually(page, "holds in 2 runs · never exercised")
    context = types.CodeActionContext([misspelt], [types.CodeActionKind.QuickFix])
    actions = await page.ask(types.TEXT_DOCUMENT_CODE_ACTION, range=misspelt.range, context=context)
    fix = next(action for action in actions if action.title == "Write `transform`")
    if fix.edit is None:
        fix = await session.ask(types.CODE_ACTION_RESOLVE, fix)
    assert session.after(fix.edit) == {"dashcam.vgl": (EXAMPLE / "dashcam.vgl").read_text(encoding="utf-8")}
