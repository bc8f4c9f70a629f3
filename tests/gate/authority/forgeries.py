"""Chains that must not count: a valid one with one thing wrong, by whoever could do it.

Most are what somebody without a key can do; some are what a rightful holder of a link can sign, and must not.
By hand: `python -m tests.gate.authority.forgeries --count 1000000 --seed 7`; `make differential` runs 100,000.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import random
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.gate.authority.made_chains import (
    ATTACKER,
    AUDIENCE,
    NOW,
    OTHER,
    ROOT,
    Made,
    envelope,
    identity,
    key,
    made,
)
from vigil_lang.gate.authority.chain import PAYLOAD_TYPE, verify_chain
from vigil_lang.gate.authority.dsse import pae

if TYPE_CHECKING:
    from collections.abc import Callable

POOL = 60
LOOKALIKES = {"e": "е", "a": "а", "o": "о", "c": "с", "p": "р", "i": "і", "5": "５", "l": "ⅼ"}
WEAK_POINT = "ed25519:" + base64.urlsafe_b64encode(bytes([1] + [0] * 31)).rstrip(b"=").decode()
ORDER = 2**252 + 27742317777372353535851937790883648493


class Forged(NamedTuple):
    """The bytes of a chain that must be refused, and what was done to it."""

    how: str
    data: bytes


class Forger:
    """Forges chains, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self._pool = [made(1 + at % 5, f"{seed}-{at}-", rng=self.rng) for at in range(POOL)]
        self._foreign = [made(1 + at % 5, f"foreign {seed}-{at}-", OTHER, rng=self.rng) for at in range(10)]
        self._signed = [chain.envelopes() for chain in self._pool]

    def forged(self) -> Forged:
        """The next."""
        while True:
            at = self.rng.randrange(POOL)
            how = self.rng.choice(WAYS)
            data = how(self.rng, self._pool[at], copy.deepcopy(self._signed[at]), self)
            if data is not None:
                return Forged(how.__name__.strip("_"), data)

    def other(self, than: Made) -> Made:
        """Another valid chain of the same root."""
        return self.rng.choice([chain for chain in self._pool if chain is not than])

    def foreign(self) -> Made:
        """A chain of another root."""
        return self.rng.choice(self._foreign)


Envelopes = list[dict[str, Any]]


def _file(envelopes: object) -> bytes:
    return json.dumps(envelopes).encode()


def _place(rng: random.Random, chain: Made) -> int:
    return rng.randrange(len(chain.texts))


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# --- without any key -----------------------------------------------------------------------------------------------


def _signature_bit(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = found[_place(rng, chain)]["signatures"][0]
    raw = bytearray(base64.b64decode(each["sig"]))
    raw[rng.randrange(64)] ^= 1 << rng.randrange(8)
    each["sig"] = _b64(raw)
    return _file(found)


def _signature_plus_order(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = found[_place(rng, chain)]["signatures"][0]
    raw = base64.b64decode(each["sig"])
    scalar = int.from_bytes(raw[32:], "little") + ORDER
    each["sig"] = _b64(raw[:32] + scalar.to_bytes(32, "little"))
    return _file(found)


def _signature_cut(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = found[_place(rng, chain)]["signatures"][0]
    raw = base64.b64decode(each["sig"])
    each["sig"] = _b64(rng.choice([b"", raw[:63], raw + b"\0", raw[:32], bytes(64), raw * 2]))
    return _file(found)


def _signature_of_another_link(rng: random.Random, chain: Made, found: Envelopes, forger: Forger) -> bytes:
    place = _place(rng, chain)
    other = forger.other(chain)
    donor = envelope(other.texts[0], other.signers[0])
    found[place]["signatures"] = donor["signatures"]
    return _file(found)


def _no_signature(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    found[_place(rng, chain)]["signatures"] = []
    return _file(found)


def _payload_bit(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = found[_place(rng, chain)]
    raw = bytearray(base64.b64decode(each["payload"]))
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    each["payload"] = _b64(raw)
    return _file(found)


def _payload_laid_out_anew(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    found[place]["payload"] = _b64(json.dumps(chain.payloads[place], indent=1).encode())
    return _file(found)


def _changed(rng: random.Random, payload: dict[str, Any]) -> dict[str, Any]:
    new = copy.deepcopy(payload)
    member = rng.choice(["grant", "exp", "nbf", "depth", "sub", "aud", "limits", "nonce", "iss", "parent"])
    match member:
        case "grant":
            new["grant"] = rng.choice(['action ~ "*"', "net.request()", f"{new['grant']} or shell.run()"])
        case "exp":
            new["exp"] += rng.randrange(1, 10**6)
        case "nbf":
            new["nbf"] -= rng.randrange(1, 10**6)
        case "depth":
            new["depth"] += rng.randrange(1, 8)
        case "sub":
            new["sub"] = ATTACKER.public
        case "aud":
            new["aud"] += rng.choice(["0", "/", " "])
        case "limits":
            new["limits"] = {"calls": 10**9, "until": NOW + 10**8, "per": "day"}
        case "nonce":
            new["nonce"] += "x"
        case "iss":
            new["iss"] = rng.choice([ATTACKER.public, OTHER.public, key(str(rng.random())).public])
        case _:
            new["parent"] = identity(str(rng.random()).encode())
    return new


def _member_changed(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    found[place]["payload"] = _b64(json.dumps(_changed(rng, chain.payloads[place])).encode())
    return _file(found)


def _member_changed_and_signed_by_another(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    found[place] = envelope(json.dumps(_changed(rng, chain.payloads[place])).encode(), ATTACKER)
    return _file(found)


def _own_link_at_the_end(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    issuer = rng.choice([ATTACKER.public, chain.payloads[-1]["sub"], chain.payloads[0]["iss"]])
    new = chain.payloads[-1] | {
        "iss": issuer, "sub": ATTACKER.public, "depth": 0, "parent": identity(chain.texts[-1])
    }  # fmt: skip
    return _file([*found, envelope(json.dumps(new).encode(), ATTACKER)])


def _own_root(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    new = chain.payloads[0] | {"iss": rng.choice([ATTACKER.public, ROOT.public])}
    return _file([envelope(json.dumps(new).encode(), ATTACKER), *found[1:]])


def _foreign_root(_r: random.Random, _c: Made, _: Envelopes, forger: Forger) -> bytes:
    return forger.foreign().file()


def _link_left_out(rng: random.Random, _c: Made, found: Envelopes, _: Forger) -> bytes | None:
    if len(found) < 2:
        return None  # without its last links a chain is another chain, which counts for another holder
    del found[rng.randrange(len(found) - 1)]
    return _file(found)


def _links_swapped(rng: random.Random, _c: Made, found: Envelopes, _: Forger) -> bytes | None:
    if len(found) < 2:
        return None
    one, two = rng.sample(range(len(found)), 2)
    found[one], found[two] = found[two], found[one]
    return _file(found)


def _link_doubled(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    return _file([*found[: place + 1], *found[place:]])


def _spliced(rng: random.Random, chain: Made, found: Envelopes, forger: Forger) -> bytes | None:
    other = forger.other(chain).envelopes()
    if len(other) < 2:
        return None
    return _file([*found[: 1 + _place(rng, chain)], *other[rng.randrange(1, len(other)) :]])


def _type_changed(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    kinds = ["", "application/json", PAYLOAD_TYPE + " ", PAYLOAD_TYPE.upper(), PAYLOAD_TYPE + "\0", "x" + PAYLOAD_TYPE]
    found[_place(rng, chain)]["payloadType"] = rng.choice(kinds)
    return _file(found)


def _other_bytes_signed(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    """A rightful signature, of something else than a chain's."""
    place = _place(rng, chain)
    text = chain.texts[place]
    signed = rng.choice([text, base64.b64encode(text), pae("application/json", text), pae(PAYLOAD_TYPE, text + b" ")])
    found[place]["signatures"] = [{"sig": _b64(chain.signers[place].sign(signed))}]
    return _file(found)


def _base64_trick(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes | None:
    place, member = _place(rng, chain), rng.choice(["payload", "sig"])
    owner = found[place] if member == "payload" else found[place]["signatures"][0]
    text: str = owner[member]
    at = rng.randrange(len(text))
    match rng.randrange(6):
        case 0:
            text = text[:at] + rng.choice(" \n\t\r\u200b\u00a0.,%*!") + text[at:]
        case 1:
            text += rng.choice(["=", "==", "===", "====", "=A", "\n"])
        case 2:  # bits beyond the last byte
            plain = text.rstrip("=")
            if len(plain) % 4 == 0:
                return None
            alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            text = plain[:-1] + alphabet[alphabet.index(plain[-1]) ^ 1] + "=" * (len(text) - len(plain))
        case 3:  # both alphabets at once
            mixed = text.replace("+", "-") if rng.randrange(2) else text.replace("/", "_")
            if mixed == text or not set(mixed) & {"+", "/"}:
                return None
            text = mixed
        case 4:
            text = text[:at] + chr(ord(text[at]) + 0xFEE0) + text[at + 1 :]  # full width
        case _:
            text = "data:;base64," + text
    if member == "sig" and text.count("=") > 2 and len(text) % 4 == 0:
        return None
    owner[member] = text
    return _file(found)


def _bytes_cut(rng: random.Random, _c: Made, found: Envelopes, _: Forger) -> bytes:
    data = _file(found)
    return data[: rng.randrange(len(data))]


def _bytes_around(rng: random.Random, _c: Made, found: Envelopes, _: Forger) -> bytes:
    data = _file(found)
    return rng.choice(
        [
            b"\xef\xbb\xbf" + data,
            data + data,
            data + b"x",
            data.decode().encode("utf-16"),
            b"[" + data + b"]",
            data[1:-1],
            data[:-1] + b",]",
            data + b"//",
            b"\0" + data,
            data + b" " * 65_537,
            data[:-1] + b',NaN]',
        ]
    )  # fmt: skip


def _envelope_member_unknown(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = found[_place(rng, chain)]
    owner = rng.choice([each, each["signatures"][0]])
    owner[rng.choice(["x", "", "Payload", "cert", "sig ", "payload_type"])] = rng.choice([None, 1, "", each["payload"]])
    return _file(found)


def _envelope_member_doubled(rng: random.Random, chain: Made, found: Envelopes, _: Forger) -> bytes:
    each = json.dumps(found[_place(rng, chain)])
    member = rng.choice(["payload", "payloadType", "signatures", "sig"])
    at = each.index(f'"{member}": ')
    value = json.loads(each)["signatures"][0]["sig"] if member == "sig" else json.loads(each)[member]
    doubled = f'{each[:at]}"{member}": {json.dumps(value)}, {each[at:]}'
    return _file(found).replace(each.encode(), doubled.encode())


# --- by a rightful holder ------------------------------------------------------------------------------------------


def _anew(chain: Made, place: int, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The chain with a payload changed, all signed by those who may sign."""
    new = Made(copy.deepcopy(chain.payloads), chain.signers, chain.holders, list(chain.texts))
    change(new.payloads[place])
    new.again(place)
    return new.file()


def _depth_not_less(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes | None:
    if len(chain.texts) < 2:
        return None
    place = rng.randrange(1, len(chain.texts))
    before = chain.payloads[place - 1]["depth"]
    return _anew(chain, place, lambda p: p.update(depth=before + rng.randrange(3)))


def _other_audience(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    others = ["vigil.local/other", AUDIENCE + "0", AUDIENCE.upper(), AUDIENCE[:-1], f" {AUDIENCE}", AUDIENCE + "\0"]
    return _anew(chain, _place(rng, chain), lambda p: p.update(aud=rng.choice(others)))


def _out_of_time(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    times = [{"exp": NOW}, {"exp": NOW - rng.randrange(10**6)}, {"nbf": NOW + 1 + rng.randrange(10**6)}, {"exp": 0}]
    return _anew(chain, _place(rng, chain), lambda p: p.update(rng.choice(times)))


def _other_parent(rng: random.Random, chain: Made, _e: Envelopes, forger: Forger) -> bytes:
    place = _place(rng, chain)
    other = forger.other(chain)
    names = [identity(other.texts[0]), "0" * 64, identity(chain.texts[place])]
    names += [chain.payloads[place]["parent"].upper()] if place and chain.payloads[place]["parent"] else [""]
    new = Made(copy.deepcopy(chain.payloads), chain.signers, chain.holders, list(chain.texts))
    wanted = rng.choice([*names, None]) if place else rng.choice(names)
    if wanted == new.payloads[place]["parent"]:
        return b"[]"
    new.payloads[place]["parent"] = wanted
    new.again(place)
    return new.file()


def _issued_past_the_holder(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes | None:
    """A link whose issuer is not the holder before it, rightly signed by that issuer."""
    if len(chain.texts) < 2:
        return None
    place = rng.randrange(1, len(chain.texts))
    signer = rng.choice([ATTACKER, OTHER, ROOT if place > 1 else ATTACKER, chain.holders[place]])
    new = Made(copy.deepcopy(chain.payloads), list(chain.signers), chain.holders, list(chain.texts))
    new.signers[place] = signer
    new.payloads[place]["iss"] = signer.public
    new.again(place)
    return new.file()


def _unknown_member(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    name = rng.choice(["x", "", "Grant", "grаnt", "scope", "GRANT", "grant ", "__proto__", "is"])
    if rng.randrange(4):
        return _anew(chain, _place(rng, chain), lambda p: p.update({name: rng.choice([None, 1, "", [], {}])}))
    return _anew(chain, _place(rng, chain), lambda p: p["limits"].update({name: 1}))


def _member_missing(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    member = rng.choice([*chain.payloads[place], *chain.payloads[place]["limits"]])

    def drop(payload: dict[str, Any]) -> None:
        (payload["limits"] if member in payload["limits"] else payload).pop(member)

    return _anew(chain, place, drop)


def _wrong_type(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    member = rng.choice([*chain.payloads[place], "calls", "until", "per"])

    def change(payload: dict[str, Any]) -> None:
        owner = payload["limits"] if member in payload["limits"] else payload
        old = owner[member]
        match old:
            case int():
                wrong: list[Any] = [str(old), float(old), True, None, [old], -1, 2**53, old + 0.5, {}]
                wrong += [2, 0] if member == "v" else []
            case None:
                wrong = ["", 0, False, [], "null", "0" * 63]
            case dict():
                wrong = [None, [], {}, 1, ""]
            case _:
                wrong = [None, 1, True, [old], {"": old}, "", "x" * 300, old + "\n", "\ud800"]
                if member in ("grant", "nonce", "aud"):
                    wrong = wrong[:6]
        owner[member] = rng.choice(wrong)

    return _anew(chain, place, change)


def _member_doubled(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    text = chain.texts[place].decode()
    member = rng.choice([*chain.payloads[place], "calls", "until", "per"])
    at = text.index(f'"{member}": ')
    value = (chain.payloads[place] | chain.payloads[place]["limits"])[member]
    name = rng.choice([json.dumps(member), f'"\\u{ord(member[0]):04x}{member[1:]}"'])
    new = Made(copy.deepcopy(chain.payloads), chain.signers, chain.holders, list(chain.texts))
    new.again(place, text=f"{text[:at]}{name}: {json.dumps(value)}, {text[at:]}".encode())
    return new.file()


def _number_spelled_otherwise(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    place = _place(rng, chain)
    text = chain.texts[place].decode()
    member = rng.choice(["exp", "nbf", "depth", "calls", "until", "v"])
    value = (chain.payloads[place] | chain.payloads[place]["limits"])[member]
    other = rng.choice(
        [f"{value}.0", f"{value}e0", f"0{value}", f"+{value}", f"{value}E+0", "NaN", "Infinity", "9" * 5000]
    )
    new = Made(copy.deepcopy(chain.payloads), chain.signers, chain.holders, list(chain.texts))
    new.again(place, text=text.replace(f'"{member}": {value}', f'"{member}": {other}', 1).encode())
    return new.file()


def _lookalike(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes | None:
    place = _place(rng, chain)
    member = rng.choice(["iss", "sub", "aud", "parent"])
    old = chain.payloads[place][member]
    spots = [at for at, letter in enumerate(old or "") if letter in LOOKALIKES]
    if not spots:
        return None
    at = rng.choice(spots)
    new = rng.choice([old[:at] + LOOKALIKES[old[at]] + old[at + 1 :], old[:at] + "\u200b" + old[at:], old + "\u0301"])
    return _anew(chain, place, lambda p: p.update({member: new}))


def _grant_does_not_read(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    wrong = [
        "", " ", "// nothing", "net.request(", "net.request())", "a()) statement x: abs(b()",
        "a()\nstatement x: abs(b())",
        "a(x = y)", "status = ok", 'output ~ "x"', "a() implies b()", "earlier a()", "repeated[2](a())", "a(), b()",
        "a()) after (b()", "policy x", "use std.secrets", "secret_file", "a(url = \u202e\"x\")", "a(b = \"\u200b\")",
        "(" * 100 + "a()" + ")" * 100, "@pass a()", "let x = 1", "a() where b = 1", "x", "true", "not", "a(x in s)",
        "*",
        "a(has output)",
        "violates organisation.R3", "context.teir = 1", "a()) then pass rule y: when (b()", "a() then pass",
        "a(output:json(\"x\") = 1)", "a() since b()", "a(x:nope = 1)", 'a(x ~ /(/)', "always a()",
    ]  # fmt: skip
    return _anew(chain, _place(rng, chain), lambda p: p.update(grant=rng.choice(wrong)))


def _weak_key(rng: random.Random, chain: Made, _e: Envelopes, _: Forger) -> bytes:
    """A holder's key that anybody can sign for: a point of small order."""
    last = chain.payloads[-1] | {"sub": WEAK_POINT, "depth": 5}
    signed = Made([*copy.deepcopy(chain.payloads[:-1]), last], chain.signers, chain.holders)
    for payload in signed.payloads:
        payload["depth"] += 1
    signed.again(0)
    if rng.randrange(2):
        return signed.file()
    mine = last | {"iss": WEAK_POINT, "sub": ATTACKER.public, "depth": 0, "parent": identity(signed.texts[-1])}
    link = envelope(json.dumps(mine).encode(), ATTACKER)
    link["signatures"] = [{"sig": _b64(bytes([1] + [0] * 63))}]
    return _file([*signed.envelopes(), link])


def _too_many(rng: random.Random, _c: Made, _e: Envelopes, _: Forger) -> bytes:
    chain = made(9, f"long {rng.randrange(3)}")
    return rng.choice([chain.file(), _file([]), _file([chain.envelopes()[0]] * 9)])


WAYS: list[Callable[[random.Random, Made, Envelopes, Forger], bytes | None]] = [
    _signature_bit, _signature_plus_order, _signature_cut, _signature_of_another_link, _no_signature, _payload_bit,
    _payload_laid_out_anew, _member_changed, _member_changed_and_signed_by_another, _own_link_at_the_end, _own_root,
    _foreign_root, _link_left_out, _links_swapped, _link_doubled, _spliced, _type_changed, _other_bytes_signed,
    _base64_trick, _bytes_cut, _bytes_around, _envelope_member_doubled,
    _envelope_member_unknown, _depth_not_less, _other_audience, _out_of_time,
    _other_parent, _issued_past_the_holder, _unknown_member, _member_missing, _wrong_type, _member_doubled,
    _number_spelled_otherwise, _lookalike, _grant_does_not_read, _weak_key, _too_many,
]  # fmt: skip


def judge(forger: Forger, count: int) -> Counter[str]:
    """Forge so many chains, each of which has to be refused; how many there were of each sort."""
    seen: Counter[str] = Counter()
    for _ in range(count):
        forged = forger.forged()
        seen[forged.how] += 1
        chain = verify_chain(forged.data, {ROOT.public}, AUDIENCE, NOW)
        assert chain.problems, forged
        assert chain.grants == ()
        assert chain.limits == ()
    return seen


def main() -> None:
    """As many as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.monotonic()
    seen = judge(Forger(given.seed), given.count)
    print(f"{seen.total():,} forged chains refused in {time.monotonic() - begun:.0f} s")
    for how, count in seen.most_common():
        print(f"{count:>8,}  {how.replace('_', ' ')}")


if __name__ == "__main__":
    main()
