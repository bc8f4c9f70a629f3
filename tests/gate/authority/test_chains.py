"""Chains of grants: what counts, what does not and why, and that nothing widens what stood before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gate.authority.forgeries import WAYS, Forger, judge
from tests.gate.authority.made_chains import (
    ATTACKER,
    AUDIENCE,
    GRANTS,
    NOW,
    OTHER,
    ROOT,
    Made,
    identity,
    key,
    made,
    payload_of,
)
from vigil_lang.gate.authority.chain import MAX_BYTES, MAX_LINKS, Chain, Limits, Per, verify_chain
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.issue import issue
from vigil_lang.gate.authority.limits import exhausted
from vigil_lang.gate.decide import Action, Authority, Table, Tier, decide
from vigil_lang.gate.strict_json import Malformed, read_json
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Callable


def read(data: bytes, at: int = NOW) -> Chain:
    """A chain as the gate of these tests reads it."""
    return verify_chain(data, {ROOT.public}, AUDIENCE, at)


def kinds(chain: Chain) -> set[tuple[int | None, str]]:
    """Where a chain has which problems."""
    return {(each.link, each.kind) for each in chain.problems}


# --- what counts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", range(1, MAX_LINKS + 1))
def test_a_valid_chain_counts(links: int) -> None:
    chain = made(links)
    found = read(chain.file())
    assert found.problems == ()
    assert found.grants == tuple(payload["grant"] for payload in chain.payloads)
    assert [link.id for link in found.links] == [identity(text) for text in chain.texts]
    assert found.digest == identity(chain.texts[-1])
    assert found.holder == chain.holders[-1].public
    assert found.limits == (Limits(10, NOW + 5000, "run"),) * links


def test_a_chain_without_its_last_links_is_the_chain_of_another_holder() -> None:
    """Whoever presents a chain proves that its last link is theirs: a shorter one is no way round a link."""
    chain = made(3)
    shorter = read(json.dumps(chain.envelopes()[:2]).encode())
    assert shorter.problems == ()
    assert shorter.holder == chain.holders[1].public != chain.holders[2].public
    assert shorter.digest == identity(chain.texts[1])


def test_what_is_issued_counts() -> None:
    one, two = key("one"), key("two")
    limits = Limits(3, NOW + 60, "hour")
    data = issue(ROOT, one.public, GRANTS[0], audience=AUDIENCE, begins=NOW, ends=NOW + 60, limits=limits, depth=1)
    longer = issue(one, two.public, GRANTS[1], audience=AUDIENCE, begins=NOW, ends=NOW + 60, limits=limits, parent=data)
    found = read(longer)
    assert found.problems == ()
    assert (found.grants, found.holder, found.limits) == (GRANTS[:2], two.public, (limits, limits))
    nonces = {link.payload.nonce for link in found.links}
    assert len(nonces) == 2


def test_the_end_of_a_chain_is_the_first_end_of_a_link() -> None:
    """A link may name a later end than its parent: that gives nothing, as every link has to count."""
    chain = made(2)
    chain.payloads[1]["exp"] = NOW + 10**6
    chain.again(1)
    assert read(chain.file(), NOW + 4999).problems == ()
    assert kinds(read(chain.file(), NOW + 5000)) == {(0, "expired")}


def test_a_link_counts_from_its_beginning_and_not_at_its_end() -> None:
    data = made(1).file()
    assert read(data, NOW - 1000).problems == ()
    assert kinds(read(data, NOW - 1001)) == {(0, "not_yet")}
    assert read(data, NOW + 4999).problems == ()
    assert kinds(read(data, NOW + 5000)) == {(0, "expired")}


# --- what does not -------------------------------------------------------------------------------------------------


def test_other_roots_and_audiences_are_told_apart() -> None:
    data = made(2, "o", OTHER).file()
    assert kinds(read(data)) == {(0, "root")}
    assert verify_chain(data, {OTHER.public}, AUDIENCE, NOW).problems == ()
    assert kinds(verify_chain(data, {OTHER.public}, "elsewhere", NOW)) == {(0, "audience"), (1, "audience")}
    assert kinds(verify_chain(data, (), AUDIENCE, NOW)) == {(0, "root")}


def changed(links: int, place: int, **members: object) -> Made:
    chain = made(links)
    chain.payloads[place].update(members)
    chain.again(place)
    return chain


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: changed(3, 1, depth=2), {(1, "depth")}),
        (lambda: changed(3, 1, depth=0), {(2, "depth")}),
        (lambda: changed(2, 1, aud="x"), {(1, "audience")}),
        (lambda: changed(2, 1, grant="a(x = y)"), {(1, "grant")}),
        (lambda: changed(2, 1, grant=""), {(1, "grant")}),
        (lambda: changed(2, 0, parent="0" * 64), {(0, "parent")}),
        (lambda: changed(2, 1, v=2), {(1, "payload")}),
        (lambda: changed(2, 1, nonce=""), {(1, "payload")}),
        (lambda: changed(2, 1, limits={"calls": 1, "until": 2}), {(1, "payload")}),
        (lambda: changed(2, 1, limits={"calls": 1, "until": 2, "per": "week"}), {(1, "payload")}),
        (lambda: changed(2, 1, sub=ATTACKER.public[:-1]), {(1, "payload")}),
        (lambda: changed(2, 1, iss=ATTACKER.public), {(1, "issuer"), (1, "signature")}),
        (lambda: changed(1, 0, iss=ATTACKER.public), {(0, "root"), (0, "signature")}),
    ],
)
def test_each_thing_that_is_wrong_is_named_where_it_is(
    make: Callable[[], Made], expected: set[tuple[int, str]]
) -> None:
    assert kinds(read(make().file())) == expected


def test_the_member_that_is_wrong_is_named() -> None:
    (problem,) = read(changed(1, 0, limits={"calls": -1, "until": 2, "per": "run"}).file()).problems
    assert problem.message == "`limits.calls`: expected `int` >= 0"
    (problem,) = read(changed(1, 0, scope=1).file()).problems
    assert "`scope`" in problem.message


def test_a_grant_that_does_not_read_says_where() -> None:
    (problem,) = read(changed(1, 0, grant="net.request()\n  and x = y").file()).problems
    assert problem.message == "its grant does not read: a grant has no variables, and `y` is one (line 2, column 11)"


def test_the_grants_of_a_chain_that_anybody_could_have_made_are_not_read() -> None:
    chain = changed(2, 1, grant="a(x = y)")
    assert kinds(verify_chain(chain.file(), {OTHER.public}, AUDIENCE, NOW)) == {(0, "root")}
    chain.signers[1] = ATTACKER
    assert kinds(read(chain.file())) == {(1, "signature")}


def test_what_is_revoked_takes_all_that_rests_on_it() -> None:
    chain = made(3)

    class List:
        def __init__(self, *names: str) -> None:
            self.names = names

        def link(self, id: str, /) -> bool:  # noqa: A002
            return id in self.names

        def key(self, public: str, /) -> bool:
            return public in self.names

    def found(*names: str) -> set[tuple[int | None, str]]:
        return kinds(verify_chain(chain.file(), {ROOT.public}, AUDIENCE, NOW, List(*names)))

    assert found() == found("x") == set()
    for place, text in enumerate(chain.texts):
        assert found(identity(text)) == {(place, "revoked")}
    assert found(ROOT.public) == {(0, "revoked")}
    assert found(chain.holders[0].public) == {(0, "revoked"), (1, "revoked")}
    assert found(chain.holders[2].public) == {(2, "revoked")}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no JSON"),
        (b"{}", "JSON array"),
        (b"[]", "JSON array"),
        (b"[" * 30_000, "nested too deeply"),
        (b"[" + b"1," * 8 + b"1]", "at most 8 links"),
        (b" " * (MAX_BYTES + 1), "more than 65,536 bytes"),
        (b"\xff", "not UTF-8"),
        (b"[1.5]", "no integer"),
        (b"[NaN]", "no integer"),
        (b"[" + b"9" * 5000 + b"]", "too many digits"),
        (b'[{"a": 1, "a": 1}]', "`a` stands twice"),
        (b'["\\ud800"]', "half of a character"),
        (b'[{"\\udc00": 1}]', "half of a character"),
    ],
)
def test_a_file_that_is_no_chain(data: bytes, message: str) -> None:
    found = read(data)
    assert (found.links, found.digest, found.holder, found.grants, found.limits) == ((), "", "", (), ())
    ((link, kind, told),) = found.problems
    assert (link, kind) == (None, "format")
    assert message in told


def test_json_is_read_in_one_way_or_not_at_all() -> None:
    assert read_json(b' {"a": ["\\ud83d\\ude00", -0, null, true]} ', 100) == {"a": ["\U0001f600", 0, None, True]}
    with pytest.raises(Malformed, match="line 1, column 2"):
        read_json(b"[x", 100)
    with pytest.raises(Malformed, match="no JSON"):
        read_json(b"\xef\xbb\xbf1", 100)


@pytest.mark.unmeasured
@pytest.mark.slow
def test_forged_chains_are_refused() -> None:
    seen = judge(Forger(3), 4000)
    assert {way.__name__.strip("_") for way in WAYS} == set(seen)


# --- whatever it is ------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["payload", "sig"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["payload", "payloadType", "signatures", "sig", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.binary(max_size=200) | values.map(lambda value: json.dumps([value]).encode()))
def test_any_bytes_are_a_chain_with_problems(data: bytes) -> None:
    assert read(data).problems


@given(st.integers(0, 2**64), st.binary(max_size=3), st.integers(0, 20))
def test_any_change_of_the_bytes_is_answered(at: int, inserted: bytes, removed: int) -> None:
    data = made(2).file()
    place = at % len(data)
    found = read(data[:place] + inserted + data[place + removed :])
    assert found.problems or found.digest


@given(st.dictionaries(st.sampled_from(list(payload_of(ROOT, OTHER))), values | st.text(max_size=80), max_size=3))
def test_any_payload_is_answered(members: dict[str, Any]) -> None:
    chain = made(1)
    chain.payloads[0].update(members)
    chain.again(0)
    found = read(chain.file())
    assert found.problems or found.grants


@given(st.text(max_size=60))
def test_any_grant_is_answered(text: str) -> None:
    found = read(changed(1, 0, grant=text).file())
    assert found.problems or grant_condition(text)


# --- narrowing -----------------------------------------------------------------------------------------------------

NAMES = ("net.request", "file.read", "file.write", "payment.transfer")
TESTS = (
    'url ~ "https://example.com/*"', 'path ~ "/work/*"', "amount <= 500", 'currency in {"EUR", "USD"}', "has path",
    "context.tier < 2", 'action in {file.read, net.request}', 'url !~ "*evil*"', "not has unknown",
)  # fmt: skip
atoms = st.sampled_from([f"{name}()" for name in NAMES] + list(TESTS))
texts = st.recursive(
    atoms,
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=6,
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "url": st.lists(st.sampled_from(["https://example.com/a", "https://evil.example/"]), min_size=1, max_size=2),
        "path": st.lists(st.sampled_from(["/work/a", "/etc/passwd"]), min_size=1, max_size=2),
        "amount": st.lists(st.sampled_from(["1", "500", "501", "x"]), min_size=1, max_size=2),
        "currency": st.lists(st.sampled_from(["EUR", "CHF"]), min_size=1, max_size=2),
    },
)
events = st.lists(
    st.builds(
        lambda action, kind, args: (action, kind, args),
        st.sampled_from([*NAMES, "tool"]),
        st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        arguments,
    ),
    min_size=1,
    max_size=3,
)


@given(st.lists(texts, min_size=2, max_size=5), events, st.sampled_from([None, "0", "2"]))
def test_what_a_longer_chain_allows_a_shorter_one_allows(
    grants: list[str], drawn: list[tuple[str, list[str], dict[str, list[str]]]], tier: str | None
) -> None:
    chain = made(len(grants))
    for payload, grant in zip(chain.payloads, grants, strict=True):
        payload["grant"] = grant
    chain.again(0)
    made_events = [
        Event(id=f"e{at}", call=f"e{at}", action=action, kinds=tuple(kind), args={k: tuple(v) for k, v in args.items()})
        for at, (action, kind, args) in enumerate(drawn, 1)
    ]
    context = {} if tier is None else {"context.tier": (tier,)}
    granted = True
    for links in range(1, len(grants) + 1):
        found = read(json.dumps(chain.envelopes()[:links]).encode())
        assert found.problems == ()
        conditions = [grant_condition(grant) for grant in found.grants]
        action = Action(tuple(made_events), context, "binding", "likeness", NOW)
        decision = decide(action, Authority(tuple(conditions)), Tier(int(tier or 0)), Table())
        assert granted or decision.mode == "hold"
        granted = decision.mode == "pass"


# --- limits --------------------------------------------------------------------------------------------------------


def passed(run: int, hour: int, day: int) -> dict[Per, int]:
    """How many calls passed."""
    return {"run": run, "hour": hour, "day": day}


def limited(*limits: dict[str, object]) -> Chain:
    chain = made(len(limits))
    for payload, limit in zip(chain.payloads, limits, strict=True):
        payload["limits"] |= limit
    chain.again(0)
    return read(chain.file())


def test_the_limits_of_every_link_count() -> None:
    chain = limited({"calls": 3, "per": "run"}, {"calls": 10, "per": "day"})
    first, second = (link.id for link in chain.links)

    def told(one: dict[Per, int], two: dict[Per, int], at: int = NOW) -> tuple[str, ...]:
        return exhausted(chain, {first: one, second: two}, at)

    assert told(passed(2, 99, 99), passed(99, 99, 9)) == ()
    assert told(passed(3, 0, 0), passed(0, 0, 0)) == ("link 0 lets 3 calls pass in a run, and they did",)
    assert told(passed(0, 0, 0), passed(0, 0, 10)) == ("link 1 lets 10 calls pass in a day, and they did",)
    assert len(told(passed(3, 0, 0), passed(0, 0, 11))) == 2
    assert len(told(passed(0, 0, 0), passed(0, 0, 0), NOW + 5000)) == 2
    assert told(passed(0, 0, 0), passed(0, 0, 0), NOW + 4999) == ()


def test_a_limit_may_let_nothing_pass_and_end_before_its_link() -> None:
    chain = limited({"calls": 0, "per": "hour"})
    counters = {chain.links[0].id: passed(0, 0, 0)}
    assert exhausted(chain, counters, NOW) == ("link 0 lets 0 calls pass in an hour, and they did",)
    chain = limited({"until": NOW})
    assert chain.problems == ()
    assert exhausted(chain, {chain.links[0].id: passed(0, 0, 0)}, NOW) == (f"link 0 lets calls pass until {NOW} only",)


def test_a_link_that_nobody_counted_lets_nothing_pass() -> None:
    assert exhausted(limited({}), {}, NOW) == ("nobody knows how many calls link 0 let pass",)
