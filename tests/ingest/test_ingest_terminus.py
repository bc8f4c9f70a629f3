"""terminus chats: keystrokes in JSON of any quality, one screen a turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ingest.recordings import calls, records, results, said
from vigil_lang.ingest import reader_of
from vigil_lang.trace.record import Record, Result, Start


def chat(*texts: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]}


def read(*texts: str) -> list[Record]:
    return records("terminus", chat(*texts))


def keys(*keystrokes: str, **members: Any) -> str:
    return json.dumps({**members, "commands": [{"keystrokes": text, "duration": 0.5} for text in keystrokes]})


def test_the_screen_is_the_last_commands_output() -> None:
    found = read("Fix it.", keys("ls\n", "pwd\n", analysis="A", plan="P"), "New Terminal Output:\n/root", keys("x"))
    assert said(found) == [("user", "Fix it."), ("agent", "A\nP")]
    assert [(call.key, call.args["keystrokes"]) for call in calls(found)] == [
        ("terminal", "ls\n"),
        ("terminal#2", "pwd\n"),
        ("terminal#3", "x"),
    ]
    assert results(found) == [Result("terminal"), Result("terminal#2", "unknown", "/root")]


def test_only_the_first_object_of_an_answer_counts() -> None:
    text = 'First:\n<json>{"load_skill": "pdf"}</json>\nthen\n' + keys("rm x\n")
    found = read("go", text, "Loaded skill: pdf\n---", '{"load_skill": "none"}', "No such skill")
    assert [(call.name, call.args) for call in calls(found)] == [
        ("load_skill", {"skill": "pdf"}),
        ("load_skill", {"skill": "none"}),
    ]
    assert [result.status for result in results(found)] == ["ok", "unknown"]


@pytest.mark.parametrize(
    "answer",
    [
        "```json\n" + keys("ls\n") + "\n```",
        'Sure {that is it}: {"note": 1} ' + keys("ls\n"),
        '{"analysis": "two\nlines", "commands": [{"keystrokes": "ls\\n", "duration": 1}]',
        '{"commands": [{"keystrokes": "ls\\n"}',
        '{"commands": [{"keystrokes": "ls\\n',
    ],
)
def test_json_of_any_quality(answer: str) -> None:
    assert [call.args["keystrokes"] for call in calls(read("go", answer))] == ["ls\n"]


@pytest.mark.parametrize(
    "answer",
    [
        "I give up.",
        '{"commands": ["npm test"]}',
        "{" * 5000,
        '{"commands": NaN}',
        '{"commands": ' + "[" * 100000,
        '{"commands": 1e99999999999999999999}',
        "",
    ],
)
def test_what_holds_no_commands(answer: str) -> None:
    assert calls(read("go", answer)) == []


def test_an_answer_that_was_refused_did_not_run() -> None:
    found = read("go", keys("a", "b"), "Previous response had parsing errors:\nERROR: no plan")
    assert [result.executed for result in results(found)] == [False, False]


def test_the_task_without_the_instructions_around_it() -> None:
    prompt = "You are …\n\nTask Description:\nWrite 7.\n\nTo a file.\n\nCurrent terminal state:\n$"
    assert said(read(prompt)) == [("user", "Write 7.\n\nTo a file.")]


def test_episodes_are_one_chat_and_documents_are_several() -> None:
    episodes = [
        {"episode": 0, "prompt": "go", "response": keys("ls\n")},
        {"episode": 1, "prompt": "New Terminal Output:\na", "response": keys("pwd\n")},
    ]
    assert reader_of("terminus").detect(episodes)
    found = records("terminus", *episodes)
    assert (len(calls(found)), results(found)) == (2, [Result("terminal", "unknown", "a")])
    twice = records("terminus", chat("go", keys("a")), chat("go", keys("a")))
    assert [call.key for call in calls(twice)] == ["terminal", "terminal"]
    assert sum(isinstance(record, Start) for record in twice) == 1


def test_other_chats_are_none_of_these() -> None:
    recognised = reader_of("terminus").detect
    assert not recognised([chat("go", "Use {}", "ok", '{"commands": {"test": "npm test"}}')])
    assert recognised([chat("go", '{"analysis": "A", "plan": "P", "commands": [], "task_complete": true}')])
