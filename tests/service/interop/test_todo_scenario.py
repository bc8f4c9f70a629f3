"""The "todo" scenario of AuthZEN's interoperability events: its published table of decisions, over a real service.

The table is that of the working group's test harness: five users, five actions, a task of Rick's and one of the user's
own (of Morty's, where Rick asks).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called
from interop_support import ROOT, Served, serving, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from authzen_client import AuthZenClient

POLICY = ROOT / "examples/authzen-todo/todo.vgl"
PAGE = (ROOT / "docs/authzen.md").read_text(encoding="utf-8")
TASK = "7240d0db-8ff0-41ec-98b2-34a096273b9f"
RICK = "rick@the-citadel.com"

USERS = {
    "rick": ("CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "morty@the-citadel.com", "TTTTTTTT"),
    "morty": ("CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "morty@the-citadel.com", "TTTTFTFT"),
    "summer": ("CiRmZDI2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "summer@the-smiths.com", "TTTTFTFT"),
    "beth": ("CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "beth@the-smiths.com", "TTTFFFFF"),
    "jerry": ("CiRmZDQ2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "jerry@the-smiths.com", "TTTFFFFF"),
}
"""Of each user the subject's id, the owner of the second task, and the decisions in the order of `questions`."""


def subject(user: str) -> dict[str, Any]:
    return {"type": "user", "id": USERS[user][0]}


def resource(kind: str, name: str, owner: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "id": name}
    return found if owner is None else {**found, "properties": {"ownerID": owner}}


def questions(user: str) -> list[dict[str, Any]]:
    """The requests of the table about one user."""
    own = USERS[user][1]
    asked = [
        ("can_read_user", resource("user", "beth@the-smiths.com")),
        ("can_read_user", resource("user", RICK if user == "rick" else own)),
        ("can_read_todos", resource("todo", "todo-1")),
        ("can_create_todo", resource("todo", "todo-1")),
        *(
            (action, resource("todo", TASK, owner))
            for action in ("can_update_todo", "can_delete_todo")
            for owner in (RICK, own)
        ),
    ]
    return [{"subject": subject(user), "action": {"name": name}, "resource": place} for name, place in asked]


def expected(user: str) -> list[bool]:
    return [letter == "T" for letter in USERS[user][2]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The scenario's policy, with the rule that docs/authzen.md adds."""
    folder = tmp_path_factory.mktemp("todo")
    (rule,) = re.findall(r"^`(rule purges: .*?)`", PAGE, re.MULTILINE)
    text = POLICY.read_text(encoding="utf-8").replace("can_delete_todo}", "can_delete_todo, can_purge_todos}")
    assert "can_purge_todos" in text
    with serving(folder, written(folder, f"{text}\n{rule}\n")) as found:
        yield found


@pytest.fixture
def client(served: Served) -> AuthZenClient:
    return served.client()


@pytest.mark.parametrize("user", USERS)
def test_the_published_decisions(client: AuthZenClient, user: str) -> None:
    assert [client.evaluation(**each).allowed for each in questions(user)] == expected(user)


def test_the_published_decisions_as_one_batch(client: AuthZenClient) -> None:
    found = client.evaluations([each for user in USERS for each in questions(user)])
    assert [each.allowed for each in found] == [each for user in USERS for each in expected(user)]


@pytest.mark.parametrize(
    ("user", "second", "decisions"),
    [
        ("rick", "jerry@the-smiths.com", [True, True]),
        ("morty", "morty@the-citadel.com", [False, True]),
        ("jerry", "jerry@the-smiths.com", [False, False]),
    ],
)
def test_the_published_batches(client: AuthZenClient, user: str, second: str, decisions: list[bool]) -> None:
    """What the application asks for its list: which tasks the user may tick off. It sends an empty default resource,
    an empty context, and a member `identity` of an older draft."""
    items = [{"resource": resource("todo", TASK, owner)} for owner in (RICK, second)]
    defaults = {
        "subject": {**subject(user), "identity": USERS[user][0]},
        "action": {"name": "can_update_todo"},
        "resource": {},
        "context": {},
    }
    assert [each.allowed for each in client.evaluations(items, defaults=defaults)] == decisions


def test_a_batch_ends_where_its_semantic_says(client: AuthZenClient) -> None:
    """Morty's second task is his own; the first and the third are not."""
    owners = (RICK, "morty@the-citadel.com", "summer@the-smiths.com")
    items = [{"resource": resource("todo", TASK, owner)} for owner in owners]
    defaults = {"subject": subject("morty"), "action": {"name": "can_delete_todo"}}
    found = {
        semantic: [each.allowed for each in client.evaluations(items, semantic, defaults)]
        for semantic in ("execute_all", "deny_on_first_deny", "permit_on_first_permit")
    }
    assert found == {
        "execute_all": [False, True, False],
        "deny_on_first_deny": [False],
        "permit_on_first_permit": [False, True],
    }


def test_what_the_scenario_does_not_name_is_denied(client: AuthZenClient) -> None:
    todo = resource("todo", TASK, RICK)
    stranger = {"type": "user", "id": "birdperson"}
    assert not client.evaluation(stranger, {"name": "can_read_todos"}, todo).allowed
    assert not client.evaluation(subject("rick"), {"name": "can_share_todo"}, todo).allowed
    nobody = resource("todo", TASK)
    assert not client.evaluation(subject("morty"), {"name": "can_update_todo"}, nobody).allowed


def test_a_denial_names_the_rule(client: AuthZenClient) -> None:
    denial = client.evaluation(subject("beth"), {"name": "can_create_todo"}, resource("todo", "todo-1"))
    assert [each["name"] for each in denial.context["reasons"] if each["asks"] == "block"] == ["editors_create"]
    assert denial.access_request is None


def test_the_programs_of_the_page(served: Served) -> None:
    def approve(hold: str) -> None:
        key = str(served.state / "keys" / "approver.pem")
        assert called("hold", "approve", hold, "--key", key, "--state", str(served.state)).status == 0

    names = {"data": served.url, "token": served.token, "approve": approve}
    programs = re.findall(r"^```python.*?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(programs) == 2
    for program in programs:
        exec(compile(program, "docs/authzen.md", "exec"), names)  # the page's own programs


def test_the_request_of_the_page(client: AuthZenClient) -> None:
    (body,) = re.findall(r"^```http\n.*?\n\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert not client.evaluation(**json.loads(body)).allowed


def test_what_a_rule_of_the_page_sees(tmp_path: Path) -> None:
    """The conditions in the table have a meaning."""
    tests = re.findall(
        r"^\|.*\| `([^`|]+)` \|$", PAGE.split("## What a rule sees")[1].split("\n\nWhat a")[0], re.MULTILINE
    )
    assert len(tests) == 8
    rules = [f"rule r{at}: when {test} then block" for at, test in enumerate(tests)]
    policy = written(tmp_path, "policy page\n\nlet EDITORS = {ann}\n\n" + "\n\n".join(rules))
    found = called("lint", str(policy))
    assert found.status == 0, found.out
