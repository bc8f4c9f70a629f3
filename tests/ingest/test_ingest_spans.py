"""Spans of any origin as runs: order, what repeats, what stands within a tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import structs

from tests.ingest.samples import RUN, lines_of
from vigil_lang.ingest.spans import Span, Tool, records_of
from vigil_lang.trace.record import Call, Message, Record, Result, Start


def span(id: str, start: int | None = 0, end: int | None = None, parent: str | None = None, **members: Any) -> Span:  # noqa: A002
    return Span("t", id, parent, start, start if end is None else end, **members)


def tool(name: str, id: str | None = None, output: str | None = "done", **args: Any) -> Tool:  # noqa: A002
    return Tool(name, args, id, "ok", output)


def records(*spans: Span) -> list[Record]:
    return list(records_of(lines_of(), RUN, spans))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def agent(text: str, *calls: tuple[str, str]) -> dict[str, Any]:
    listed = [{"id": call, "name": name, "arguments": {"path": call}} for call, name in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def answer(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


T = structs.replace(RUN, name="t")


def test_calls_stand_where_they_began_and_results_where_they_ended() -> None:
    slow, quick = tool("slow"), tool("quick")
    assert records(span("b", 2, 3, tool=quick), span("a", 1, 9, tool=slow)) == [
        Start(T),
        Call("a", "slow", {}, 1),
        Call("b", "quick", {}, 2),
        Result("b", "ok", "done"),
        Result("a", "ok", "done"),
    ]


def test_spans_without_times_keep_their_order() -> None:
    spans = [
        span("m", None, said=[agent("first")]),
        span("a", None, tool=tool("ls")),
        span("n", None, said=[agent("second")]),
    ]
    assert records(*spans) == [
        Start(T),
        Message("agent", "first"),
        Call("a", "ls", {}),
        Result("a", "ok", "done"),
        Message("agent", "second"),
    ]


def test_an_end_before_the_start_does_not_put_a_result_before_its_call() -> None:
    assert records(span("a", 5, 1, tool=tool("ls"))) == [Start(T), Call("a", "ls", {}, 5), Result("a", "ok", "done")]


def test_a_tool_that_has_not_ended_is_pending() -> None:
    running = replace(tool("ls"), ended=False)
    assert records(span("a", tool=running)) == [Start(T), Call("a", "ls", {}, 0)]


def test_traces_are_runs_and_conversations_join_them() -> None:
    spans = [
        Span("t2", "b", None, 20, 20, tool=tool("two"), conversation="talk"),
        Span("t3", "c", None, 10, 10, tool=tool("three")),
        Span("t1", "a", None, 5, 5, conversation="talk", source="agent-7"),
        Span("t1", "a2", "a", 6, 6, tool=tool("one")),
        Span("t4", "d", None, 1, 1),
    ]
    assert records(*spans) == [
        Start(structs.replace(RUN, name="talk", source="agent-7")),
        Call("a2", "one", {}, 6),
        Result("a2", "ok", "done"),
        Call("b", "two", {}, 20),
        Result("b", "ok", "done"),
        Start(structs.replace(RUN, name="t3")),
        Call("c", "three", {}, 10),
        Result("c", "ok", "done"),
    ]


def test_tools_within_a_tool_belong_to_a_sub_agent() -> None:
    spans = [
        span("a", 1, 9, tool=tool("research", "c1")),
        span("m", 2, 2, "a", told=[user("of the sub-agent")]),
        span("b", 3, 3, "m", tool=tool("search")),
    ]
    assert records(*spans) == [
        Start(T),
        Call("c1", "research", {}, 1),
        Call("b", "search", {}, 3, session="c1", parent="c1"),
        Result("b", "ok", "done"),
        Result("c1", "ok", "done"),
    ]


def test_the_same_call_seen_by_client_and_server_is_one() -> None:
    spans = [
        span("client", 1, 9, tool=tool("ls", "c1", None)),
        span("http", 2, 8, "client"),
        span("server", 3, 7, "http", tool=tool("ls", "7", "a.py", path=".")),
    ]
    assert records(*spans) == [Start(T), Call("c1", "ls", {"path": "."}, 1), Result("c1", "ok", "a.py")]


def test_a_tool_that_calls_itself_with_other_arguments_is_called_twice() -> None:
    spans = [span("a", 1, 9, tool=tool("ls", path=".")), span("b", 2, 8, "a", tool=tool("ls", path="src"))]
    assert [record.key for record in records(*spans) if isinstance(record, Call)] == ["a", "b"]


def test_a_request_that_the_server_refused_never_ran() -> None:
    outer = replace(tool("ls"), status="error")
    inner = replace(tool("ls"), status="error", executed=False)
    assert records(span("a", tool=outer), span("b", parent="a", tool=inner))[2] == Result(
        "a", "error", "done", executed=False
    )
    retried = [span("a", tool=tool("ls")), span("b", parent="a", tool=inner)]
    assert records(*retried)[2] == Result("a", "ok", "done")


def test_requests_repeat_the_conversation_and_it_is_read_once() -> None:
    first = [user("Hi."), agent("Looking.", ("c1", "ls"))]
    spans = [
        span("agent", 0, 9, told=[user("Hi.")], said=[agent("Done.")]),
        span("m1", 1, 2, "agent", told=first[:1], said=first[1:]),
        span("m2", 3, 4, "agent", told=[*first, answer("c1", "a.py")], said=[agent("Done.")]),
    ]
    assert records(*spans) == [
        Start(T),
        Message("user", "Hi.", 1),
        Message("agent", "Looking.", 2),
        Call("c1", "ls", {"path": "c1"}, 2),
        Result("c1", "unknown", "a.py"),
        Message("agent", "Done.", 4),
    ]


def test_an_agents_span_counts_where_those_of_its_models_say_nothing() -> None:
    spans = [span("agent", 0, 9, told=[user("Hi.")], said=[agent("Bye.")]), span("m", 1, 2, "agent")]
    assert records(*spans) == [Start(T), Message("user", "Hi.", 0), Message("agent", "Bye.", 9)]


def test_tools_with_spans_are_not_called_by_messages_too() -> None:
    called = agent("", ("c1", "ls"), ("c2", "cat"), ("c3", "run"), ("c4", "web_search"))
    answers = [answer("c1", "a.py"), answer("c2", "text"), answer("c3", "ran"), answer("c4", "found")]
    spans = [
        span("m1", 1, 1, said=[called]),
        span("s1", 2, 2, tool=tool("list files", "c1", None)),
        span("s2", 3, 3, tool=tool("cat", None, None)),
        span("s3", 4, 4, tool=tool("run tool", None, None, path="c3")),
        span("m2", 5, 5, told=[called, *answers]),
    ]
    assert records(*spans) == [
        Start(T),
        Call("c4", "web_search", {"path": "c4"}, 1),
        Call("c1", "list files", {"path": "c1"}, 2),
        Result("c1", "ok", "a.py"),
        Call("s2", "cat", {}, 3),
        Result("s2", "ok", None),
        Call("s3", "run tool", {"path": "c3"}, 4),
        Result("s3", "ok", None),
        Result("c4", "unknown", "found"),
    ]


def test_spans_in_a_ring_are_read_all_the_same() -> None:
    spans = [
        span("a", 1, 1, "b", tool=tool("ls")),
        span("b", 2, 2, "a", said=[agent("Hi.")]),
        span("c", 3, 3, "c", tool=tool("ls")),
    ]
    assert records(*spans) == [
        Start(T),
        Call("a", "ls", {}, 1),
        Result("a", "ok", "done"),
        Message("agent", "Hi.", 2),
        Call("c", "ls", {}, 3),
        Result("c", "ok", "done"),
    ]


def test_long_chains_take_linear_time() -> None:
    chain = [span(f"s{n}", n, None, f"s{n - 1}", said=[agent(f"{n}")]) for n in range(20_000)]
    assert records(*chain)[-1] == Message("agent", "19999", 19999)


def test_without_calls_and_words_there_is_an_empty_run() -> None:
    assert records(span("a"), span("b", told=["no message"])) == [Start(RUN)]
