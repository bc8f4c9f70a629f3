"""Completion by a server, for every editor and encoding."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from lsprotocol import types

if TYPE_CHECKING:
    from conftest import Alone
    from lsp_session import Page, Session


def _edit(answer: types.CompletionList, item: types.CompletionItem) -> types.TextEdit:
    """What replaces the word, as an editor takes it from an item or from the defaults of the list."""
    match item.text_edit, answer.item_defaults:
        case types.TextEdit() as edit, _:
            return edit
        case types.InsertReplaceEdit(text, _, whole), _:
            return types.TextEdit(whole, text)
        case None, types.CompletionItemDefaults(edit_range=types.Range() as whole):
            pass
        case None, types.CompletionItemDefaults(edit_range=types.EditRangeWithInsertReplace(_, whole)):
            pass
        case _:
            raise AssertionError("it has no range")
    return types.TextEdit(whole, item.label if item.text_edit_text is None else item.text_edit_text)


async def test_over_the_wire(session: Session) -> None:
    session.write("lib.vgl", "/// Sends 𝔸.\npattern sends(x) = Send(to = x)\n")
    session.changed("lib.vgl", how=types.FileChangeType.Created)
    page = await session.open('// 𝔸é\nstatement S: prec(Ask(text = "𝔸é"), sen«»d2())\n')
    answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
    assert isinstance(answer, types.CompletionList)
    item = next(item for item in answer.items if item.label == "sends")
    whole = _edit(answer, item).range
    assert page.part(whole) == "send2"
    adds = item.additional_text_edits
    assert adds is not None
    plain = types.TextEdit(whole, "sends")
    expected = '// 𝔸é\nuse .lib: sends\n\nstatement S: prec(Ask(text = "𝔸é"), sends())\n'
    assert page.edited([*adds, plain]) == expected
    resolved = await session.ask(types.COMPLETION_ITEM_RESOLVE, item)
    told = resolved.documentation
    assert "Sends 𝔸." in (told if isinstance(told, str) else told.value)


async def test_a_hostile_item_is_given_back(session: Session) -> None:
    page = await session.open("statement S: abs(a())")
    for data in (None, 3, {"uri": 3}, {"uri": page.uri, "about": "x"}, {"uri": "none:x", "about": ["form", "prec"]}):
        item = types.CompletionItem("x", data=data)
        resolved = await session.ask(types.COMPLETION_ITEM_RESOLVE, item)
        assert (resolved.label, resolved.documentation) == ("x", None)


async def test_a_space_asks_only_where_something_must_follow(session: Session) -> None:
    page = await session.open("statement S: abs(a(f = ))")
    context = types.CompletionContext(types.CompletionTriggerKind.TriggerCharacter, " ")
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("= ").end, context=context) is not None
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("S: ").end, context=context) is not None
    assert await page.ask(types.TEXT_DOCUMENT_COMPLETION, page.find("statement ").end, context=context) is None


async def _offered(page: Page) -> types.CompletionList:
    """What is offered once the runs are read."""
    for _ in range(200):
        answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
        if any(item.detail and item.detail.endswith("events") for item in answer.items):
            break
        await asyncio.sleep(0.1)
    return cast("types.CompletionList", answer)


async def test_what_the_runs_hold(alone: Alone) -> None:
    session = await alone(begin=False)
    session.write("vigil.toml", 'runs = ["runs/*.jsonl"]\n')
    session.write("runs/a.jsonl", '{"action":"Deploy","args":{"target":"stage \\"é\\""}}\n' * 3)
    await session.begin()
    page = await session.open('statement S: abs(Deploy(target = "«»"))\n')
    answer = await _offered(page)
    assert [(item.label, item.detail) for item in answer.items] == [('"stage \\"é\\""', "3 events")]
    assert page.edited([_edit(answer, answer.items[0])]) == 'statement S: abs(Deploy(target = "stage \\"é\\""))\n'


async def test_what_the_runs_hold_in_tests(alone: Alone) -> None:
    session = await alone(begin=False)
    session.write("vigil.toml", 'runs = ["runs/*.jsonl"]\n')
    session.write("runs/a.jsonl", '{"action":"Deploy","args":{"target":"a"}}\n' * 3)
    session.write("own.jsonl", '{"action":"Send","args":{"to":"a"}}\n' * 2)
    await session.begin()
    page = await session.open('test "t" { run { «»', "p_test.vgl")
    assert (await _offered(page)).items[0].label == "Deploy"
    await session.open("// runs: own.jsonl\nstatement S: abs(Send())\n", "q.vgl")
    page = await session.open('test "t" { run { «»', "q_test.vgl")
    first = (await _offered(page)).items[0]
    assert (first.label, first.detail) == ("Send", "2 events")


async def test_files_of_the_project(session: Session) -> None:
    session.write("runs/a.jsonl", '{"action":"a"}\n')
    session.write("SKILL.md", "You must ask first. Nice.\n")
    session.write("x_test.vgl", "")
    session.write("sub/lib.vgl", "let A = {b}\n")
    session.changed("sub/lib.vgl", "x_test.vgl", how=types.FileChangeType.Created)

    async def candidate_of(text: str, name: str = "p.vgl") -> list[str]:
        page = await session.open(text, name)
        answer = await page.ask(types.TEXT_DOCUMENT_COMPLETION)
        page.close()
        return [item.label for item in answer.items]

    assert [label for label in await candidate_of("use «»") if label.startswith(".")] == [".sub.lib"]
    assert await candidate_of("use .sub.lib: «»") == ["A"]
    assert (await candidate_of('@source("«»")'))[0] == '"SKILL.md"'
    assert await candidate_of('@source("SKILL.md", "«»")\nstatement S: abs(a())') == ['"You must ask first."']
    assert (await candidate_of('test "t" { run "«»" }', "p_test.vgl"))[0] == '"runs/a.jsonl"'
    assert (await candidate_of("// runs: «»"))[:2] == ["runs/*.jsonl", "runs/a.jsonl"]
    assert "VGL301" in await candidate_of("// vigil: ignore[«»]")
