"""The examples of docs/api.md, for the type checker: made from the page."""

# ruff: noqa: PT017

from __future__ import annotations

import vigil_lang as vigil

policy = vigil.load_policy("examples/dashcam/dashcam.vgl")
verdict = vigil.verify(policy, vigil.load_trace("examples/dashcam/violating.jsonl"))
assert verdict.verdict == "unsafe"
assert [(s.name, offence.event) for s, offence in verdict.offences()] == [("R3", "e5")]

guard = vigil.load_policy("std.guard")
paying = vigil.parse_policy(
    """
    param limit: number = 100
    statement small: abs(pay(amount > limit))
    statement checked: prec(pay(invoice = x), check(invoice = x))
    """,
    {"limit": 50},
    name="paying",
)
try:
    vigil.parse_policy("statement broken: abs(")
except vigil.InputError as error:
    assert error.diagnostics[0].code == "VGL101"

run = vigil.abstract(
    [
        vigil.Message("user", "Publish the fix."),
        vigil.Call("Bash", {"command": "pytest -q && git push --force"}, status="ok", output="1 passed"),
    ],
    cwd="/home/ann/shop",
)
assert [event.action for event in run.events] == ["user.message", "Bash", "pytest", "git"]
assert "no_force_push" in {s.name for s, _ in vigil.verify(guard, run).offences()}

trace = vigil.Trace.of(
    [
        vigil.Event.of("check", {"invoice": "12"}, status="ok"),
        vigil.Event.of("pay", {"invoice": "12", "amount": 20}, kinds=["net.request"]),
        vigil.Event.of("pay", {"invoice": "13", "amount": 20.5}, id="second"),
    ]
)
assert [event.id for event in trace.events] == ["e1", "e2", "second"]

verdict = vigil.verify([paying, guard], trace)
assert not verdict.safe
assert [(s.name, o.event, o.bindings) for s, o in verdict.offences()] == [("checked", "second", {"x": "13"})]
assert [v.safe for v in vigil.verify(paying, [trace, run])] == [False, True]

verdict = vigil.verify(paying, run)
assert verdict.safe
assert verdict.seen.calls == 1
assert not verdict.vacuous
assert {"safe", "unsafe"} > {verdict.to_json()["verdict"]}

try:
    vigil.verify(paying, vigil.Trace.of([]))
except vigil.InputError as error:
    assert error.diagnostics[0].code == "VGL605"
assert vigil.verify(paying, vigil.Trace.of([]), allow_empty=True).safe

receipts: list[str] = []


def pay(invoice: str, amount: int = 1) -> str:
    return f"paid {amount} for {invoice}"


with vigil.guard(paying) as g:
    guarded = g.wrap(pay)
    try:
        receipts.append(guarded("12", amount=20))
    except vigil.Blocked as blocked:
        assert blocked.statements == ("checked",)
    try:
        guarded("12", sum=20)  # type: ignore[call-arg]
    except TypeError as mistake:
        assert "unexpected keyword argument 'sum'" in str(mistake)
assert receipts == []

mistakes = {
    "`args['n']` takes a text, a number, a boolean, None, a list or a mapping, not a set": {"args": {"n": {1}}},
    "`kinds` takes an iterable of texts, as a list, not 'git.push'": {"kinds": "git.push"},
    "`status` takes 'ok', 'error' or 'unknown', not 'done'": {"status": "done"},
}
for message, given in mistakes.items():
    try:
        vigil.Event.of("pay", **given)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        assert str(error) == message
    else:
        raise AssertionError(message)
