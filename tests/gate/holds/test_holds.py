"""Holds: who confirms what, when, and how often; and each failure of others that concerns them (docs/holds.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from holds_support import START, Call, World, create

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.holds import RELEASE_USES, HoldError, Signed
from vigil_lang.gate.settings import HoldSettings

if TYPE_CHECKING:
    from pathlib import Path

ALICE, BOB, CAROL, ORG, AGENT, STRANGER = (Key.new() for _ in range(6))
SETTINGS = HoldSettings(approvers=(ALICE.public, BOB.public), organisation=(ORG.public,))


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    database = request.getfixturevalue("databases").new() if request.param == "postgres" else ""
    return World(create(tmp_path / "state"), SETTINGS, database=database)


def set_to(world: World, **members: object) -> World:
    """The same folder under other settings."""
    from msgspec.structs import replace as changed

    return world.again(changed(SETTINGS, **members))


# --- the life of a hold ----------------------------------------------------------------------------------------


def test_an_approved_hold_lets_its_action_through_once(world: World) -> None:
    asked = world.ask(Call())
    assert asked.mode == "hold"
    assert world.approve(ALICE, asked.hold) == ["approved"]
    passed = world.ask(Call())
    assert (passed.mode, passed.decision.approvals) == ("pass", (asked.hold,))
    assert world.ask(Call()).mode == "hold"


def test_a_denied_hold_lets_nothing_through(world: World) -> None:
    asked = world.ask(Call())
    assert world.deny(ALICE, asked.hold) == ["denied"]
    again = world.ask(Call())
    assert again.mode == "hold"
    assert again.hold != asked.hold


def test_a_cancelled_hold_lets_nothing_through(world: World) -> None:
    asked = world.ask(Call())
    assert asked.hold
    assert [hold.state for hold in world.holds.cancel([asked.hold], "not wanted")] == ["cancelled"]
    assert world.ask(Call()).mode == "hold"


@pytest.mark.parametrize("ended", ["approved", "denied", "cancelled", "expired"])
def test_a_hold_that_has_ended_stays_as_it_is(world: World, ended: str) -> None:
    name = world.ask(Call()).hold
    assert name
    match ended:
        case "approved":
            world.approve(ALICE, name)
        case "denied":
            world.deny(ALICE, name)
        case "cancelled":
            world.holds.cancel([name], "not wanted")
        case _:
            world.clock.at += SETTINGS.timeout
    for change in (lambda: world.approve(BOB, name), lambda: world.deny(BOB, name)):
        with pytest.raises(HoldError, match=f"waits no more: it is {ended}"):
            change()
    with pytest.raises(HoldError, match=f"waits no more: it is {ended}"):
        world.holds.cancel([name], "again")
    assert world.state(name) == ended


def test_the_same_action_asked_again_joins_the_hold(world: World) -> None:
    first, second = world.ask(Call()), world.ask(Call())
    assert first.hold == second.hold
    assert len(world.store.holds()) == 1
    assert world.holds.get(first.hold or "").joined == 1


# --- failures of others (design: section 9) -----------------------------------------------------------------------


def test_a_timeout_is_never_an_approval(world: World) -> None:
    asked = world.ask(Call())
    world.clock.at += SETTINGS.timeout
    assert world.ask(Call()).mode == "hold"
    assert world.state(asked.hold) == "expired"
    assert world.kinds() == ["decision", "expiry", "decision"]


def test_a_hold_that_nobody_looked_at_is_expired_by_who_comes_to_approve_it(world: World) -> None:
    asked = world.ask(Call())
    world.clock.at += SETTINGS.timeout
    with pytest.raises(HoldError, match="it is expired"):
        world.approve(ALICE, asked.hold)
    assert world.ask(Call()).mode == "hold"


def test_an_approval_that_reaches_the_log_after_the_end_counts_for_nothing(world: World) -> None:
    asked = world.ask(Call())
    words = world.holds.signed([asked.hold or ""], ALICE)
    append = world.log.append

    def slowly(kind: str, members: dict[str, object]) -> int:
        world.clock.at += SETTINGS.timeout
        return append(kind, members)

    world.log.append = slowly  # type: ignore[method-assign, assignment]
    assert [hold.state for hold in world.holds.approve(words)] == ["pending"]
    del world.log.append  # type: ignore[attr-defined]
    assert world.ask(Call()).mode == "hold"
    assert world.state(asked.hold) == "expired"


def test_an_approval_for_one_argument_is_none_for_another(world: World) -> None:
    world.approve(ALICE, world.ask(Call(amount=700)).hold)
    assert world.ask(Call(amount=701)).mode == "hold"
    assert world.ask(Call(amount=700)).mode == "pass"


def test_an_approval_is_not_for_another_run_agent_or_tool(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    for other in (Call(run="r2"), Call(agent="other"), Call(tool="payment.refund"), Call(tier=1)):
        assert world.ask(other).mode == "hold"


def test_an_action_edited_while_it_waits_is_another_action(world: World) -> None:
    asked = world.ask(Call())
    edited = world.ask(Call(amount=70_000))
    assert asked.hold != edited.hold
    world.approve(ALICE, asked.hold)
    assert world.ask(Call(amount=70_000)).mode == "hold"


def test_an_approval_does_not_survive_a_change_of_policy(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    assert world.ask(Call(policy="policy-2")).mode == "hold"


def test_an_approval_does_not_survive_a_change_of_authority(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    assert world.ask(Call(authority="authority-2")).mode == "hold"


def test_a_release_does_not_survive_a_change_of_policy(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold, release=600)
    assert world.ask(Call(amount=1, policy="policy-2")).mode == "hold"


def test_an_approval_does_not_survive_a_revocation(world: World) -> None:
    approved, pending = world.ask(Call()), world.ask(Call(amount=1))
    other = world.ask(Call(agent="other"))
    world.approve(ALICE, approved.hold)
    voided = world.holds.void("the agent mailer is revoked", lambda hold: hold.opened["agent"] == "mailer")
    assert {hold.id for hold in voided} == {approved.hold, pending.hold}
    assert (world.state(pending.hold), world.state(other.hold)) == ("cancelled", "pending")
    assert world.holds.get(approved.hold or "").void == "the agent mailer is revoked"
    assert world.ask(Call()).mode == "hold"


def test_an_approval_does_not_survive_its_approver(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    assert set_to(world, approvers=(BOB.public,)).ask(Call()).mode == "hold"


def test_a_hold_lifts_only_the_reasons_that_were_shown(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    assert world.ask(Call(more=("another",))).mode == "hold"


def test_holds_are_not_lost_on_restart(world: World) -> None:
    pending, approved = world.ask(Call()), world.ask(Call(amount=1))
    world.approve(ALICE, approved.hold)
    world.store.close()
    world.log.close()
    after = world.again()
    with after.holds.transaction():
        assert (after.state(pending.hold), after.state(approved.hold)) == ("pending", "approved")
    assert after.ask(Call(amount=1)).mode == "pass"


def test_an_approval_without_a_name_is_refused(world: World) -> None:
    asked = world.ask(Call())
    (word,) = world.holds.signed([asked.hold or ""], ALICE)
    with pytest.raises(HoldError, match="may not confirm"):
        world.holds.approve([Signed(word.hold, "", word.signature)])
    assert all(entry["by"] for _, entry in world.log.entries() if entry["kind"] == "approval")
    assert world.state(asked.hold) == "pending"


def test_a_refused_approval_is_in_the_log(world: World) -> None:
    asked = world.ask(Call())
    with pytest.raises(HoldError):
        world.approve(STRANGER, asked.hold)
    *_, (_, entry) = world.log.entries()
    assert (entry["kind"], entry["by"]) == ("refusal", [STRANGER.public])


def test_a_denial_after_a_release_stands(world: World) -> None:
    """Who released a kind of call still has the last word on a call that is held besides."""
    world.approve(ALICE, world.ask(Call()).hold, release=600)
    held = world.ask(Call(more=("another",)))
    assert world.deny(ALICE, held.hold) == ["denied"]
    assert world.ask(Call(more=("another",))).mode == "hold"


# --- who may confirm ------------------------------------------------------------------------------------------------


def test_a_stranger_may_neither_approve_nor_deny(world: World) -> None:
    asked = world.ask(Call())
    for attempt in (world.approve, world.deny):
        with pytest.raises(HoldError, match="is none of the approvers"):
            attempt(STRANGER, asked.hold)


def test_a_hold_of_the_organisation_is_only_for_its_approvers(world: World) -> None:
    call = Call(layer="organisation")
    asked = world.ask(call)
    for attempt in (world.approve, world.deny):
        with pytest.raises(HoldError, match="none of the organisation's approvers"):
            attempt(ALICE, asked.hold)
    assert world.approve(ORG, asked.hold) == ["approved"]
    assert world.ask(call).mode == "pass"


def test_the_organisation_may_confirm_for_the_user(world: World) -> None:
    assert world.approve(ORG, world.ask(Call()).hold) == ["approved"]
    assert world.ask(Call()).mode == "pass"


def test_who_asked_may_not_confirm(world: World) -> None:
    world = set_to(world, approvers=(ALICE.public, AGENT.public))
    asked = world.ask(Call(), asker=AGENT.public)
    for attempt in (world.approve, world.deny):
        with pytest.raises(HoldError, match="asked for"):
            attempt(AGENT, asked.hold)
    assert world.approve(ALICE, asked.hold) == ["approved"]


def test_who_asked_may_confirm_where_the_settings_say_so(world: World) -> None:
    world = set_to(world, approvers=(AGENT.public,), asker_may_confirm=True)
    assert world.approve(AGENT, world.ask(Call(), asker=AGENT.public).hold) == ["approved"]


def test_a_quorum_needs_different_approvers(world: World) -> None:
    world = set_to(world, quorum=2)
    asked = world.ask(Call())
    assert world.approve(ALICE, asked.hold) == ["pending"]
    assert world.ask(Call()).mode == "hold"
    with pytest.raises(HoldError, match="already; another one has to"):
        world.approve(ALICE, asked.hold)
    assert world.approve(BOB, asked.hold) == ["approved"]
    assert world.ask(Call()).mode == "pass"


def test_one_denial_ends_a_hold_whatever_its_quorum(world: World) -> None:
    world = set_to(world, quorum=2)
    asked = world.ask(Call())
    world.approve(ALICE, asked.hold)
    assert world.deny(BOB, asked.hold) == ["denied"]


def test_a_quorum_of_which_one_has_left_counts_for_nothing(world: World) -> None:
    world = set_to(world, quorum=2)
    asked = world.ask(Call())
    world.approve(ALICE, asked.hold)
    world.approve(BOB, asked.hold)
    assert set_to(world, quorum=2, approvers=(ALICE.public,)).ask(Call()).mode == "hold"


def test_after_a_time_others_are_asked_and_may_confirm(world: World) -> None:
    world = set_to(world, escalate=(CAROL.public,), escalate_after=60)
    asked = world.ask(Call())
    with pytest.raises(HoldError):
        world.approve(CAROL, asked.hold)
    world.clock.at += 60
    assert world.approve(CAROL, asked.hold) == ["approved"]
    assert [kind for kind in world.kinds() if kind == "escalation"] == ["escalation"]
    assert world.ask(Call()).mode == "pass"


def test_an_escalation_makes_nobody_an_approver_of_the_organisation(world: World) -> None:
    world = set_to(world, escalate=(CAROL.public,), escalate_after=60)
    asked = world.ask(Call(layer="organisation"))
    world.clock.at += 60
    with pytest.raises(HoldError):
        world.approve(CAROL, asked.hold)


# --- batches and releases ----------------------------------------------------------------------------------------


def test_a_batch_is_confirmed_whole(world: World) -> None:
    names = [world.ask(Call(amount=amount)).hold for amount in (1, 2, 3)]
    assert world.approve(ALICE, *names) == ["approved"] * 3


@pytest.mark.parametrize("spoilt", ["denied", "organisation", "unknown", "twice"])
def test_a_batch_of_which_one_cannot_be_confirmed_leaves_all_as_they_are(world: World, spoilt: str) -> None:
    good = world.ask(Call(amount=1)).hold
    bad: str | None = "unknown"
    if spoilt == "denied":
        bad = world.ask(Call(amount=2)).hold
        world.deny(ALICE, bad)
    elif spoilt == "organisation":
        bad = world.ask(Call(amount=2, layer="organisation")).hold
    elif spoilt == "twice":
        bad = good
    with pytest.raises(HoldError):
        world.approve(ALICE, good, bad)
    with pytest.raises(HoldError):
        world.deny(ALICE, good, bad)
    assert world.state(good) == "pending"


def test_a_batch_that_a_crash_cut_short_confirms_nothing(world: World) -> None:
    names = [world.ask(Call(amount=amount)).hold or "" for amount in (1, 2)]
    words = world.holds.signed(names, ALICE)
    append, appended = world.log.append, []

    def until_the_second(kind: str, members: dict[str, object]) -> int:
        if appended:
            raise KeyboardInterrupt
        appended.append(kind)
        return append(kind, members)

    world.log.append = until_the_second  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        world.holds.approve(words)
    after = world.again()
    assert after.ask(Call(amount=1)).mode == "hold"
    assert [after.state(name) for name in names] == ["pending", "pending"]
    assert after.approve(ALICE, *names) == ["approved", "approved"]


def test_a_batch_begun_anew_after_a_crash_is_whole(world: World) -> None:
    names = [world.ask(Call(amount=amount)).hold or "" for amount in (1, 2)]
    words = world.holds.signed(names, ALICE)
    with world.holds.transaction():
        entry = {"hold": names[0], "by": ALICE.public, "signature": words[0].signature, "batch": names}
        call = Call(amount=1)
        world.log.append(
            "approval",
            entry
            | {"who": "user", "complete": True, "uses": 1, "expires": START + 300, "covers": call.binding}
            | {"reasons": ["personal.transfer"], "release": False},
        )
    assert world.approve(ALICE, *names) == ["approved", "approved"]


def test_a_release_lets_calls_of_that_likeness_through_until_its_end(world: World) -> None:
    asked = world.ask(Call())
    assert world.approve(ALICE, asked.hold, release=600) == ["approved"]
    answers = [world.ask(Call(amount=amount)) for amount in (1, 2, 70_000)]
    assert [answer.mode for answer in answers] == ["pass"] * 3
    assert {answer.decision.approvals for answer in answers} == {(asked.hold,)}
    assert world.ask(Call(tool="payment.refund")).mode == "hold"
    world.clock.at += 600
    assert world.ask(Call(amount=3)).mode == "hold"
    assert world.kinds().count("decision") == 6


def test_a_release_has_an_end_within_the_settings(world: World) -> None:
    asked = world.ask(Call())
    for seconds in (-1, 0, SETTINGS.longest_release + 1):
        with pytest.raises(HoldError, match="longest_release"):
            world.approve(ALICE, asked.hold, release=seconds)
    assert world.state(asked.hold) == "pending"


def test_a_quorum_allows_what_all_of_it_allow(world: World) -> None:
    world = set_to(world, quorum=2)
    asked = world.ask(Call())
    world.approve(ALICE, asked.hold, release=600)
    world.approve(BOB, asked.hold)
    assert world.ask(Call(amount=1)).mode == "hold"
    assert [world.ask(Call()).mode for _ in range(2)] == ["pass", "hold"]


def test_an_approval_may_allow_more_uses_than_one(world: World) -> None:
    world = set_to(world, max_uses=3)
    world.approve(ALICE, world.ask(Call()).hold)
    assert [world.ask(Call()).mode for _ in range(4)] == ["pass", "pass", "pass", "hold"]


@pytest.mark.parametrize("uses", [0, -1, 3])
def test_an_approval_allows_no_more_uses_than_the_settings(world: World, uses: int) -> None:
    world = set_to(world, max_uses=2)
    (word,) = world.holds.signed([world.ask(Call()).hold or ""], ALICE)
    with pytest.raises(HoldError, match="from 1 to 2 uses"):
        world.holds.approve([Signed(word.hold, word.by, word.signature, uses)])


def test_an_approval_has_an_end(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    world.clock.at += SETTINGS.timeout
    assert world.ask(Call()).mode == "hold"


def test_the_clock_put_back_gives_no_approval_its_time_again(world: World) -> None:
    world.approve(ALICE, world.ask(Call()).hold)
    world.clock.at += SETTINGS.timeout
    world.ask(Call(amount=1))
    world.clock.at -= 5
    assert world.ask(Call()).mode == "hold"


# --- signatures -----------------------------------------------------------------------------------------------------


def test_a_signature_counts_for_its_own_hold_alone(world: World) -> None:
    first, second = world.ask(Call(amount=1)).hold or "", world.ask(Call(amount=2)).hold or ""
    (word,) = world.holds.signed([first], ALICE)
    with pytest.raises(HoldError, match="is no approval by the key"):
        world.holds.approve([Signed(second, word.by, word.signature)])


def test_a_denial_is_never_taken_for_an_approval(world: World) -> None:
    name = world.ask(Call()).hold or ""
    (word,) = world.holds.signed_denials([name], ALICE)
    with pytest.raises(HoldError, match="is no approval by the key"):
        world.holds.approve([word])
    (word,) = world.holds.signed([name], ALICE)
    with pytest.raises(HoldError, match="is no denial by the key"):
        world.holds.deny([word])


@pytest.mark.parametrize("wider", [{"uses": 2}, {"uses": RELEASE_USES, "until": START + 60}])
def test_an_approval_is_no_more_than_what_was_signed(world: World, wider: dict[str, int]) -> None:
    world = set_to(world, max_uses=2)
    (word,) = set_to(world, max_uses=1).holds.signed([world.ask(Call()).hold or ""], ALICE)
    with pytest.raises(HoldError, match="is no approval by the key"):
        world.holds.approve([Signed(word.hold, word.by, word.signature, **wider)])


@pytest.mark.parametrize("signature", ["", "!", "AAAA", "é", "A" * 86])
def test_a_bad_signature_is_refused(world: World, signature: str) -> None:
    name = world.ask(Call()).hold or ""
    with pytest.raises(HoldError, match="is no approval by the key"):
        world.holds.approve([Signed(name, ALICE.public, signature)])


def test_the_agent_may_wait_and_cancel_and_not_decide(world: World) -> None:
    asked = world.ask(Call(), asker=AGENT.public)
    assert world.holds.wait(asked.hold or "", 0).state == "pending"
    with pytest.raises(HoldError):
        world.approve(AGENT, asked.hold)
    assert world.holds.cancel([asked.hold or ""], "not wanted")[0].state == "cancelled"


def test_what_waits_is_listed_by_severity_and_age(world: World) -> None:
    calls = [Call(amount=1), Call(amount=2, tier=2), Call(amount=3, layer="organisation"), Call(amount=4)]
    names = [world.ask(call).hold for call in calls]
    assert [hold.id for hold in world.holds.listed()] == [names[2], names[1], names[0], names[3]]


def test_waiting_ends_with_the_hold(world: World) -> None:
    asked = world.ask(Call())
    other = world.again()
    world.clock.at += SETTINGS.timeout
    assert other.holds.wait(asked.hold or "").state == "expired"


def test_names_of_holds_differ(world: World) -> None:
    names = [world.ask(replace(Call(), amount=amount)).hold for amount in range(50)]
    assert len(set(names)) == 50
    assert all(len(name or "") == 10 for name in names)
