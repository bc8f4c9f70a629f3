"""What becomes of an action: reason by reason, layer by layer, approval by approval."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.gate.decide.decide_support import (
    ANY,
    OPEN,
    act,
    broken,
    decided,
    event,
    is_in,
    named,
    rule,
    speaks,
)
from vigil_lang.gate.decide import Action, Approval, Authority, Decision, Reason, Rule, Table, Tier, decide
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Expression, Glob

WRITE = event("file.write", path=["a"])
NEVER = core.OrC(())
UNKNOWN = is_in("nowhere", "x")


def approval(*reasons: str, hold: str = "h1", by: Any = "user", **members: Any) -> Approval:
    return Approval(hold, members.pop("covers", "B"), reasons, by, members.pop("expires", 200), members.pop("uses", 1))


# --- modes --------------------------------------------------------------------------------------------------


def test_nothing_in_the_way_passes_and_says_that_everything_is_granted() -> None:
    expected = Reason("authority", "pass", "open", "authority is open: any action is granted")
    assert decided(act(WRITE)) == Decision("pass", (expected,))


def test_the_greatest_decides_and_every_reason_is_listed_greatest_first() -> None:
    decision = decided(
        act(WRITE, broken=(broken("S1", "warn"), broken("S2", "hold"))),
        rule("A", "pass"),
        rule("B", "hold", layer="personal"),
        rule("C", "block", layer="default"),
        rule("D", when=NEVER),
        rule("E", "pass", layer="personal", relaxes=("Z",)),
        rule("Z", "block", layer="default"),
    )
    assert decision.mode == "block"
    assert speaks(decision) == [
        ("default.C", "block", None),
        ("organisation.S2", "hold", None),
        ("personal.B", "hold", None),
        ("organisation.S1", "warn", None),
        ("organisation.A", "pass", None),
        ("personal.E", "pass", None),
        ("default.Z", "block", "personal.E"),
    ]


@pytest.mark.parametrize(("asks", "mode"), [("pass", "pass"), ("hold", "hold"), ("block", "block")])
def test_what_one_rule_asks_for(asks: str, mode: str) -> None:
    decision = decided(act(WRITE), rule("R", asks, message="because", at="a.vgl:1:1"))
    assert decision.mode == mode
    reason = next(each for each in decision.reasons if each.kind == "rule")
    assert reason == Reason("rule", asks, "R", "because", "organisation", "a.vgl:1:1", "organisation")  # type: ignore[arg-type]


@pytest.mark.parametrize(("asks", "mode"), [("warn", "pass"), ("hold", "hold"), ("block", "block")])
def test_what_one_statement_asks_for(asks: str, mode: str) -> None:
    decision = decided(act(WRITE, broken=(broken("S", asks, "personal", at="a.vgl:1:1"),)))
    assert decision.mode == mode
    reason = next(each for each in decision.reasons if each.kind == "statement")
    assert reason == Reason("statement", asks, "S", "S is broken", "personal", "a.vgl:1:1", "user")  # type: ignore[arg-type]


STANDING: list[tuple[Authority, Reason]] = [
    (Authority(open=True, revoked=("key k",)), Reason("revocation", "block", "revoked", "key k")),
    (Authority(open=True, stale=("old",)), Reason("revocation", "hold", "stale", "old", who="organisation")),
    (Authority(open=True, refused=("expired",)), Reason("authority", "block", "refused", "expired")),
    (Authority(open=True, exhausted=("3 calls",)), Reason("authority", "hold", "limit", "3 calls")),
]


@pytest.mark.parametrize(("authority", "reason"), STANDING, ids=lambda given: getattr(given, "name", ""))
def test_what_the_authority_asks_for(authority: Authority, reason: Reason) -> None:
    decision = decided(act(WRITE), authority=authority)
    assert decision.mode == reason.asks
    assert decision.reasons[0] == reason
    assert decision.reasons[1].name == "open"


def test_doubts_of_the_tier_hold() -> None:
    decision = decided(act(WRITE), tier=Tier(0, ("stale", "missing")))
    assert decision.reasons[:2] == (Reason("tier", "hold", "tier", "stale"), Reason("tier", "hold", "tier", "missing"))
    assert (decision.mode, decision.who) == ("hold", "user")


@pytest.mark.parametrize(
    ("action", "level", "reason"),
    [
        (act(WRITE, faults=("no clock",)), 0, Reason("fault", "block", "state", "no clock")),
        (act(), 0, Reason("fault", "block", "action", "nothing is known of what the action does")),
        (act(WRITE), 4, Reason("fault", "block", "tier", "the detection tier is none of 0 to 3")),
        (act(WRITE), -1, Reason("fault", "block", "tier", "the detection tier is none of 0 to 3")),
        (act(WRITE), 10**10_000, Reason("fault", "block", "tier", "the detection tier is none of 0 to 3")),
    ],
    ids=["state", "no events", "4", "-1", "huge"],
)
def test_what_is_not_known_blocks(action: Action, level: int, reason: Reason) -> None:
    decision = decided(action, tier=Tier(level))
    assert decision.mode == "block"
    assert decision.reasons[0] == reason
    assert len(decision.reasons) == 2


def test_a_rule_that_cannot_be_evaluated_blocks_unless_it_only_passes() -> None:
    decision = decided(act(WRITE), rule("R", "hold", when=UNKNOWN, at="a.vgl:1:1", message="not this"))
    why = "`tool` (e1) does not tell what `R` asks"
    assert decision.reasons[0] == Reason("fault", "block", "R", why, "organisation", "a.vgl:1:1")
    assert decision.mode == "block"
    assert decided(act(WRITE), rule("R", "pass", when=UNKNOWN, relaxes=("X",))).mode == "pass"
    assert decided(act(WRITE), rule("R", "hold", when=core.ActionMatches(Expression("a"))), tier=Tier(3)).mode == "pass"


def test_a_rule_may_match_at_one_event_and_not_be_known_at_another() -> None:
    other = event("file.write", id="e2", action="other")
    found = decided(act(WRITE, other), rule("R", when=is_in("path", "a"), record=("path",)))
    assert speaks(found) == [("organisation.R", "block", None), ("organisation.R", "hold", None)]
    assert "`other` (e2)" in found.reasons[0].message
    assert found.record == (("path", ("a",)),)


def test_the_first_event_that_does_not_tell_is_named() -> None:
    found = decided(act(event("k"), event("k", id="e2")), rule("B", when=UNKNOWN), rule("A", when=UNKNOWN))
    assert [(each.name, "(e1)" in each.message) for each in found.reasons[:2]] == [("B", True), ("A", True)]


# --- the table ----------------------------------------------------------------------------------------------


def test_a_rule_is_asked_of_the_events_that_it_concerns() -> None:
    rules = (
        rule("either", when=core.OrC((named("net.send"), named("file.write")))),
        rule("both", when=core.AndC((named("file.write", "x"), named("file.write"), is_in("path", "a")))),
        rule("twice", when=core.AndC((named("file.write"), named("file.write")))),
        rule("two", when=core.AndC((named("file.write"), named("tool")))),
        rule("other", when=core.AndC((named("file.write"), named("net.send")))),
        rule("third", "block", when=core.AndC((named("file.write"), is_in("path", "a"), is_in("path", "b")))),
        rule("tool", when=named("tool", "file.write")),
        rule("elsewhere", "block", when=core.AndC((named("net.send"), UNKNOWN))),
        rule("not", when=core.NotC(named("net.send"))),
        rule("empty", when=core.OrC(())),
    )
    found = [each.name for each in decided(act(WRITE), *rules).reasons]
    assert found == ["either", "both", "twice", "two", "tool", "not", "open"]


def test_two_rules_of_a_layer_have_two_names() -> None:
    Table([rule("R", layer="personal"), rule("R", layer="default")])
    with pytest.raises(ValueError, match=r"^two rules of a layer have one name$"):
        Table([rule("R", "hold"), rule("R", "block")])


def test_a_table_without_rules() -> None:
    assert decide(act(WRITE), OPEN, Tier(), Table()).mode == "pass"
    assert (Table().rules, Table().implied) == ((), {})


# --- authority ----------------------------------------------------------------------------------------------


def granted(what: Any, *grants: core.Condition, **members: Any) -> bool:
    events = what if isinstance(what, tuple) else (what,)
    found = decided(act(*events, **members), authority=Authority(grants))
    assert found.mode in ("pass", "hold")
    return found.mode == "pass"


def test_without_a_grant_everything_is_held() -> None:
    found = decided(act(WRITE), authority=Authority())
    assert found.reasons == (Reason("authority", "hold", "outside", "the authority does not grant `tool` (e1)"),)
    shell = event("shell.run"), event("file.read", id="e1.1")
    assert len(decided(act(*shell), authority=Authority()).reasons[0].message.split("(")) == 3


def test_five_of_what_is_not_granted_are_named() -> None:
    many = [event("k", id=f"e{at}", action=f"t{at}") for at in range(7)]
    five = "`t0` (e0), `t1` (e1), `t2` (e2), `t3` (e3), `t4` (e4)"
    for count, shown in ((5, five), (6, f"{five} and 1 more"), (7, f"{five} and 2 more")):
        found = decided(act(*many[:count]), authority=Authority((named("x"),)))
        assert found.reasons[0].message == f"the authority does not grant {shown}"


def test_every_grant_allows_every_event() -> None:
    a, b = event("a"), event("b", id="e2")
    assert granted((a, b), named("a", "b"))
    assert granted((a, b), named("a", "b"), named("b", "a", "c"))
    assert not granted((a, b), named("a"))
    assert not granted((a, b), named("a", "b"), named("a"))
    found = decided(act(a, b), authority=Authority((named("a"),)))
    assert found.reasons[0].message == "the authority does not grant `tool` (e2)"


def test_a_grant_allows_every_value() -> None:
    mine = core.AndC((named("file.write"), core.Matches(core.Reads("path"), Glob("mine/*"))))
    assert granted(event("file.write", path=["mine/a", "mine/b"]), mine)
    assert not granted(event("file.write", path=["mine/a", "b"]), mine)
    assert not granted(event("file.write", path=[]), mine)
    assert not granted(event("file.write"), mine)


def test_a_grant_may_ask_for_the_context() -> None:
    assert granted(WRITE, is_in("context.tier", "0"))
    assert not granted(WRITE, is_in("context.tier", "1"))


def test_what_was_not_wholly_seen_is_not_granted() -> None:
    assert not granted(event("file.write", unresolved=["command"]), ANY)
    assert not granted((event("shell.run", unresolved=["command"]), event("a", id="e1.1")), ANY)


def test_each_kind_of_an_event_is_granted() -> None:
    both = event("file.write", "net.send")
    assert not granted(both, named("file.write"))
    assert not granted(both, core.OrC((named("net.send"), named("x"))))
    assert granted(both, named("file.write", "net.send"))
    assert granted(both, named("tool"))
    assert granted(event(), named("tool"))
    assert not granted(event(), named("other"))


def test_a_kind_is_granted_with_what_it_implies() -> None:
    edit = event("file.edit", "file.write")
    assert granted(edit, named("file.edit"))
    assert granted(edit, named("file.write"))
    assert not granted(edit, core.NotC(named("file.write")))
    assert granted(edit, core.NotC(named("net.send")))
    append = event("file.append", "file.edit", "file.write")
    assert granted(append, named("file.edit"))
    assert not granted(event("file.write"), named("file.edit"))
    assert not granted(event("file.edit"), named("file.write"))
    assert not granted(event("file.edit", "file.write", "net.send"), named("file.write"))


def test_kinds_that_imply_each_other_are_both_granted() -> None:
    implied = {"a": frozenset({"b", "a"}), "b": frozenset({"a"})}
    for grant, mode in ((named("a"), "pass"), (named("c"), "hold")):
        table = Table((), implied)
        assert decide(act(event("a", "b")), Authority((grant,)), Tier(), table).mode == mode


@pytest.mark.parametrize("carrier", ["process.run", "code.call"])
def test_how_something_is_done_is_granted_with_what_is_done(carrier: str) -> None:
    assert granted(event("file.write", carrier), named("file.write"))
    assert granted(event(carrier, "file.write"), named("file.write"))
    assert not granted(event("file.write", carrier), named(carrier))
    assert not granted(event("file.write", carrier), core.NotC(named(carrier)))
    assert granted(event(carrier), named(carrier))
    assert not granted(event(carrier), named("file.write"))


def test_a_shell_line_is_granted_where_its_steps_are() -> None:
    step = event("file.read", id="e1.1")
    read = named("file.read")
    assert granted((event("shell.run"), step), read)
    assert granted((event("shell.run", "process.run"), step), read)
    assert not granted((event("shell.run", "net.send"), step), read)
    assert not granted((event("shell.run"), event("file.write", id="e1.1")), read)
    assert not granted(event("shell.run"), read)
    assert not granted((event("shell.run"), event("file.read", id="e10")), read)
    assert not granted((event("net.send"), step), read)


@pytest.mark.parametrize(
    "grant", [core.Equals(core.Reads("k"), "x"), core.NotC(core.ComparesWith(core.Reads("k"), "<", "x"))]
)
def test_a_grant_that_is_none_blocks(grant: core.Condition) -> None:
    found = decided(act(WRITE), authority=Authority((ANY, grant)))
    assert found.mode == "block"
    assert found.reasons[0].name == "authority"
    assert found.reasons[0].message == "a grant cannot be evaluated: ValueError"
    assert found.reasons[0].kind == "fault"


def test_the_grants_are_compiled_once() -> None:
    authority = Authority((ANY,))
    assert authority.allowing is authority.allowing
    assert authority == Authority((ANY,))


# --- layers -------------------------------------------------------------------------------------------------

LAYERS: tuple[Any, ...] = ("organisation", "default", "personal")


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("by", LAYERS)
def test_only_what_is_of_the_default_layer_is_relaxed_and_by_the_others(layer: Any, by: Any) -> None:
    relaxing = rule("ok", "pass", by, relaxes=("R",))
    lifted = layer == "default" and by != "default"
    for asks in ("hold", "block"):
        found = decided(act(WRITE), rule("R", asks, layer), relaxing)
        assert found.mode == ("pass" if lifted else asks)
        assert found.reasons[-1].lifted == (f"{by}.ok" if lifted else None)
        assert decided(act(WRITE, broken=(broken("R", asks, layer),)), relaxing).mode == ("pass" if lifted else asks)


def test_a_rule_is_relaxed_at_every_event_at_which_it_matches() -> None:
    mine = event("file.write", path=["mine"])
    other = event("file.write", id="e2", path=["other"])
    writes = rule("writes", "hold", "default", named("file.write"))
    own = rule("own", "pass", "personal", is_in("path", "mine"), relaxes=("writes",))
    rest = rule("rest", "pass", "organisation", is_in("path", "other"), relaxes=("writes",))
    assert decided(act(mine), writes, own).mode == "pass"
    assert decided(act(other), writes, own).mode == "hold"
    assert decided(act(mine, other), writes, own).mode == "hold"
    assert decided(act(other, mine), writes, own).mode == "hold"
    assert decided(act(mine, event("net.send", id="e2", path=["x"])), writes, own).mode == "pass"
    both = decided(act(mine, other), writes, own, rest)
    assert (both.mode, both.reasons[-1].lifted) == ("pass", "personal.own, organisation.rest")
    again = decided(act(mine, event("file.write", id="e3", path=["mine"])), writes, own)
    assert again.reasons[-1].lifted == "personal.own"
    first = decided(act(mine), writes, own, rule("also", "pass", "personal", relaxes=("writes",)))
    assert first.reasons[-1].lifted == "personal.own"


def test_two_events_of_one_id_are_two_events() -> None:
    mine, other = event("file.write", path=["mine"]), event("file.write", path=["other"])
    writes = rule("writes", "hold", "default", named("file.write"))
    own = rule("own", "pass", "personal", is_in("path", "mine"), relaxes=("writes",))
    assert decided(act(mine, other), writes, own).mode == "hold"
    stated = broken("writes", "hold", "default", event="e1")
    assert decided(act(mine, other, broken=(stated,)), own).mode == "hold"
    assert decided(act(mine, broken=(stated,)), own).mode == "pass"


def test_what_relaxes_allows_for_certain_and_of_every_value() -> None:
    writes = rule("writes", "hold", "default", named("file.write"))
    own = rule("own", "pass", "personal", is_in("path", "mine"), relaxes=("other", "writes"))
    assert decided(act(event("file.write", path=["mine", "other"])), writes, own).mode == "hold"
    assert decided(act(event("file.write")), writes, own).mode == "hold"
    assert decided(act(event("file.write", path=["mine"], unresolved=["x"])), writes, own).mode == "hold"
    narrow = rule("own", "pass", "personal", named("file.write"), relaxes=("writes",))
    assert decided(act(event("file.write", "net.send")), writes, narrow).mode == "hold"
    assert decided(act(event("file.edit", "file.write")), writes, narrow).mode == "pass"


def test_a_shell_line_is_relaxed_by_what_speaks_of_shell_lines() -> None:
    shell = act(event("shell.run"), event("file.write", id="e1.1"))
    held = rule("shells", "hold", "default", named("shell.run"))
    by_step = rule("own", "pass", "personal", named("file.write"), relaxes=("shells",))
    by_line = rule("own", "pass", "personal", named("shell.run"), relaxes=("shells",))
    assert decided(shell, held, by_step).mode == "hold"
    assert decided(shell, held, by_line).mode == "pass"


def test_a_statement_is_relaxed_at_the_event_at_fault_or_else_at_all() -> None:
    mine, other = event("file.write", path=["mine"]), event("file.write", id="e2", path=["other"])
    own = rule("own", "pass", "personal", is_in("path", "mine"), relaxes=("S",))

    def mode(of: str | None, *events: Any) -> str:
        return decided(act(*events, broken=(broken("S", "block", "default", event=of),)), own).mode

    assert mode("e1", mine, other) == "pass"
    assert mode("e2", mine, other) == "block"
    assert mode(None, mine, other) == "block"
    assert mode(None, mine) == "pass"
    assert mode("e9", mine) == "block"


def test_what_relaxes_may_ask_for_a_hold_itself() -> None:
    found = decided(act(WRITE), rule("R", "block", "default"), rule("ask", "hold", "personal", relaxes=("R",)))
    assert (found.mode, speaks(found)) == (
        "hold",
        [("personal.ask", "hold", None), ("default.R", "block", "personal.ask")],
    )


# --- approvals ----------------------------------------------------------------------------------------------


def held(*rules: Rule, approvals: Any, **members: Any) -> Decision:
    return decided(act(WRITE, **members), *rules, approvals=approvals)


MINE = rule("R", "hold", "personal")
THEIRS = rule("O", "hold", "organisation")


def test_an_approval_lifts_a_hold_and_is_named() -> None:
    found = held(MINE, approvals=[approval("personal.R")])
    assert (found.mode, found.approvals, found.who) == ("pass", ("h1",), "user")
    assert speaks(found) == [("personal.R", "hold", "h1")]
    assert found.reasons[-1].lifted == "h1"


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        (approval("personal.R", covers="L"), "pass"),
        (approval("personal.R", covers="X"), "hold"),
        (approval("personal.R", expires=101), "pass"),
        (approval("personal.R", expires=100), "hold"),
        (approval("personal.R", uses=0), "hold"),
        (approval("personal.R", uses=-1), "hold"),
        (approval("personal.R", uses=2), "pass"),
        (approval("personal.R", by="organisation"), "pass"),
        (approval("organisation.R"), "hold"),
        (approval("R"), "hold"),
        (approval(), "hold"),
    ],
    ids=repr,
)
def test_what_an_approval_lifts(given: Approval, mode: str) -> None:
    found = held(MINE, approvals=[given])
    assert found.mode == mode
    assert found.approvals == (("h1",) if mode == "pass" else ())


def test_what_the_organisation_holds_it_confirms_unless_it_delegates() -> None:
    by_user, by_them = approval("organisation.O"), approval("organisation.O", by="organisation", hold="h2")
    assert held(THEIRS, approvals=[by_user]).mode == "hold"
    assert held(THEIRS, approvals=[by_user, by_them]).approvals == ("h2",)
    delegated = rule("O", "hold", "organisation", delegable=True)
    assert held(delegated, approvals=[by_user]).mode == "pass"
    stated = broken("O", "hold")
    assert held(approvals=[by_user], broken=(stated,)).mode == "hold"
    assert held(approvals=[by_them], broken=(stated,)).mode == "pass"
    assert held(approvals=[by_user], broken=(broken("O", "hold", delegable=True),)).mode == "pass"


def test_who_confirms() -> None:
    assert held(THEIRS, MINE, approvals=()).who == "organisation"
    assert held(MINE, approvals=()).who == "user"
    assert held(rule("O", "hold", delegable=True), approvals=()).who == "user"
    assert held(rule("D", "hold", "default"), approvals=()).who == "user"
    assert held(rule("O", "block"), MINE, approvals=()).who == "user"
    assert Decision("hold", (Reason("rule", "hold", "R", "", who="organisation", lifted="h"),)).who == "user"


def test_all_holds_are_lifted_together_or_none() -> None:
    first, second = approval("personal.R"), approval("organisation.O", hold="h2", by="organisation")
    found = held(MINE, THEIRS, approvals=[first])
    assert (found.mode, found.approvals) == ("hold", ())
    assert all(each.lifted is None for each in found.reasons)
    found = held(MINE, THEIRS, approvals=[second, first])
    assert (found.mode, found.approvals) == ("pass", ("h1", "h2"))
    both = approval("personal.R", "organisation.O", by="organisation")
    assert held(MINE, THEIRS, approvals=[both]).approvals == ("h1",)


def test_an_approval_never_lowers_a_block() -> None:
    found = held(MINE, rule("B", "block", "personal"), approvals=[approval("personal.R", "personal.B")])
    assert (found.mode, found.approvals) == ("block", ())
    assert all(each.lifted is None for each in found.reasons)


def test_an_approval_is_not_used_for_what_is_relaxed_or_only_told() -> None:
    relaxed = rule("D", "hold", "default")
    relaxing = rule("ok", "pass", "personal", relaxes=("D",))
    every = approval("default.D", "personal.S", "personal.ok")
    found = held(relaxed, relaxing, approvals=[every], broken=(broken("S", "warn", "personal"),))
    assert (found.mode, found.approvals) == ("pass", ())
    assert found.reasons[-1].lifted == "personal.ok"
    found = held(relaxed, relaxing, MINE, approvals=[approval("default.D", hold="h0"), approval("personal.R")])
    assert (found.mode, found.approvals) == ("pass", ("h1",))
    assert {each.name: each.lifted for each in found.reasons} == {
        "open": None,
        "ok": None,
        "D": "personal.ok",
        "R": "h1",
    }


@pytest.mark.parametrize(
    ("key", "members"),
    [
        ("authority.outside", {"authority": Authority()}),
        ("authority.limit", {"authority": Authority(open=True, exhausted=("3 calls",))}),
        ("tier.tier", {"tier": Tier(0, ("old",))}),
        ("revocation.stale", {"authority": Authority(open=True, stale=("old",))}),
    ],
)
def test_holds_of_no_layer_are_lifted_too(key: str, members: Any) -> None:
    found = decided(act(WRITE), approvals=[approval(key, by="organisation")], **members)
    assert (found.mode, found.approvals) == ("pass", ("h1",))
    by_user = decided(act(WRITE), approvals=[approval(key)], **members)
    assert by_user.mode == ("hold" if key == "revocation.stale" else "pass")


# --- the context and the record -----------------------------------------------------------------------------


def test_the_tier_is_the_tier() -> None:
    third = rule("R", when=is_in("context.tier", "3"))
    for level in range(4):
        found = decided(act(WRITE, context={"context.tier": ("3",)}), third, tier=Tier(level))
        assert found.mode == ("hold" if level == 3 else "pass")


def test_a_rule_may_ask_whether_a_statement_is_violated() -> None:
    events = event("a"), event("b", id="e2")

    def found(name: str, *some: Any) -> bool:
        when = core.AndC((named("b"), is_in("context.violates", name)))
        context = {"context.violates": ("forged",)}
        return decided(act(*events, broken=some, context=context), rule("R", "block", when=when)).mode == "block"

    at_b = broken("S", "warn", "default", event="e2")
    assert found("S", at_b)
    assert found("default.S", at_b)
    assert not found("organisation.S", at_b)
    assert found("S", broken("S", "warn", "default"))
    assert found("S", broken("T", "warn"), at_b)
    assert not found("S", broken("S", "warn", "default", event="e1"))
    assert not found("S", broken("T", "warn"))
    assert not found("S")
    assert not found("forged")


def test_what_matching_rules_record() -> None:
    """R10.4-6"""
    writes = event("file.write", path=["b", "a", "b"], size=[])
    more = event("file.write", id="e2", path=["c", "a"])
    found = decided(
        act(writes, more, context={"context.agent": ("mailer",), "path": ("not this",)}),
        rule("A", "pass", when=named("file.write"), record=("path", "context.agent", "context.tier", "size", "none")),
        rule("B", "pass", when=NEVER, record=("never",)),
        rule("C", "pass", layer="personal", record=("path",)),
        tier=Tier(2),
    )
    assert found.record == (
        ("context.agent", ("mailer",)),
        ("context.tier", ("2",)),
        ("none", ()),
        ("path", ("b", "a", "c")),
        ("size", ()),
    )


def test_a_rule_records_of_the_events_at_which_it_matches_whatever_becomes_of_it() -> None:
    own, other = event("file.write", path=["own"]), event("file.read", id="e2", path=["other"])
    found = decided(
        act(own, other, broken=(broken("S", "warn", event="e2"),)),
        rule("R", "hold", "default", named("file.read"), record=("path", "context.violates")),
        rule("ok", "pass", "personal", relaxes=("R",)),
    )
    assert found.mode == "pass"
    assert found.record == (("context.violates", ("S", "organisation.S")), ("path", ("other",)))


# --- totality -----------------------------------------------------------------------------------------------


def test_whatever_is_given_the_answer_is_a_decision() -> None:
    nothing: Any = None
    found = decide(nothing, nothing, nothing, nothing)
    why = "the action cannot be judged: AttributeError"
    assert found == Decision("block", (Reason("fault", "block", "gate", why),))


def test_a_decision_is_plain_data() -> None:
    found = decided(act(WRITE), MINE, approvals=[approval("personal.R")])
    assert msgspec.json.decode(msgspec.json.encode(found), type=Decision) == found
    assert msgspec.json.decode(msgspec.json.encode(MINE), type=Rule) == MINE
