"""Throws texts of all kinds at the parser and the formatter: nothing but findings may come out, and soon.

Run by hand for as long as you like: `python tests/fuzz_parser.py --count 1000000 --seed 7`.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from vigil_lang.diagnostics import CODES, InputError, Source
from vigil_lang.syntax import parse
from vigil_lang.syntax.format import format_text
from vigil_lang.syntax.print import UNICODE, to_text
from vigil_lang.syntax.scan import tokens

SECONDS = 2.0

SEEDS = (
    (Path(__file__).parent.parent / "examples/dashcam/dashcam.vgl").read_text(encoding="utf-8"),
    """\
// Every form, every atom.
/// About the file.
@severity(warning)
policy every.thing

use std.files: writes, reads
use ..shared.names  // twice up
let A = {a, "b c", 3, true} | B
let B = {
    x,  // why

    y,
}
param limit: number = 6
param names: set = {a} | B
@note("t", 3, word)
@plain
pattern p(x, y) = action in A and not action in {b} or action = "c d" and status = ok
pattern q = action ~ "gl*b" and action ~ /re\\/gex/i or has "not" and output contains "x"
/// Two lines
/// of words.
statement S1: abs(p(1, "a") and "odd name"(x = y, fps != 6, n not in {1, -2.5e3}))
statement S2: prec(a ~ "x" or b !~ /y/, c < 3 and d <= 4 and e > 5 and f >= limit) after loaded()
statement S3: bresp[30s](a, b)
statement S4: until(a, b, not (c or output = x))
statement S5: atmost[3](a(x contains y))
rule large: when a(amount > limit) and not context.hour in {9, 10} or violates S1 then hold record amount, "to whom"
rule own:
    when q
    // why
    then pass
    record path, context.agent
    relaxes default.writes, S2
statement S6: always (a implies b) implies not earlier[5] (later b and status = error) or earlier c
""",
    "statement U: □ a ⇒ ¬◇⁻[3] (b ∧ ◇+ c ∨ d ∈ {e}) ∧ f ∉ {g} ∧ h ≠ i ∧ status = ⊤ ∨ status = ⊥\n",
    "pattern long(x) = " + " and ".join(f"argument_number_{i} = {i}" for i in range(12)) + "\n",
)
WORDS = sorted(
    {t.text for seed in SEEDS for t in tokens(seed)}
    | set(UNICODE)
    | set(UNICODE.values())
    | set("(){}[],:=@|~<>!&;'\"/\\-.+*?%$^`é☃")
    | {"\n", "\n\n", "// c\n", "/// d\n", "== ", "30s", "1e9", "--", "..", "\ufeff", "\r\n", "\x00", "\u202e"}
)


def random_text(rng: random.Random) -> str:
    """One input: noise, words in any order, or a policy that was damaged."""
    match rng.randrange(8):
        case 0:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).decode("utf-8", "replace")
        case 1:
            return "".join(rng.choice('(){}[],:=@|~<>!/\\"-. \n\tab1◇⁻□¬') for _ in range(rng.randrange(80)))
        case 2 | 3:
            gap = rng.choice((" ", " ", "", "\n"))
            return gap.join(rng.choice(WORDS) for _ in range(rng.randrange(40)))
    return _damaged(rng)


def _damaged(rng: random.Random) -> str:
    """A few items of a policy, cut from it or whole, with some tokens and characters changed."""
    lines = rng.choice(SEEDS).splitlines(keepends=True)
    start = rng.randrange(len(lines))
    text = "".join(lines[start : start + rng.randrange(1, 8)])
    parts = [t.text for t in tokens(text)] if rng.random() < 0.5 else list(text)
    if len(parts) < len(text):
        parts = [part + rng.choice((" ", " ", " ", "\n")) for part in parts]
        parts = [part + "\n" if part.startswith("//") else part for part in parts]
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(parts) + 1)
        match rng.randrange(5):
            case 0:
                del parts[at : at + rng.randrange(1, 4)]
            case 1:
                parts[at:at] = parts[at : at + rng.randrange(1, 6)]
            case 2 if at + 1 < len(parts):
                parts[at], parts[at + 1] = parts[at + 1], parts[at]
            case 3:
                parts.insert(at, rng.choice(WORDS) + " ")
            case _:
                parts.insert(at, rng.choice(("// c\n", "/// d\n", "\n", "\n\n")))
    return "".join(parts)


def check(text: str) -> bool:
    """Hold the parser and the formatter to their promises for one text; whether it is a policy."""
    began = time.perf_counter()
    source = Source("fuzz.vgl", text)
    parsed = parse(source)
    for found in parsed.diagnostics:
        assert found.code in CODES, found
        assert 0 <= found.span.start <= found.span.end <= len(text), found
        source.position(found.span.start)
        for edit in found.fix.edits if found.fix else ():
            assert 0 <= edit.span.start <= edit.span.end <= len(text), found
    for item in parsed.file.items:
        assert text[item.span.start : item.span.end].strip() == text[item.span.start : item.span.end]
    good = all(found.severity != "error" for found in parsed.diagnostics)
    assert good or parsed.diagnostics
    try:
        for spelling in ("keep", "unicode", "ascii"):
            format_text(source, spelling=spelling)
        assert good, "a broken policy was formatted"
    except InputError:
        assert not good, "a good policy was not formatted"
    if good:
        printed = parse(Source("printed.vgl", to_text(parsed.file)))
        assert not printed.diagnostics, printed.diagnostics
        assert printed.file.items == parsed.file.items
    assert time.perf_counter() - began < SECONDS, "too slow"
    return good


def run(count: int, seed: int) -> int:
    """Check so many random texts; the number of them that were policies."""
    rng = random.Random(seed)
    good = 0
    for _ in range(count):
        text = random_text(rng)
        try:
            good += check(text)
        except Exception as error:
            error.add_note(f"for the text {text!r}")
            raise
    return good


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    began = time.perf_counter()
    good = run(chosen.count, chosen.seed)
    seconds = time.perf_counter() - began
    print(f"{chosen.count:,} texts, {good:,} of them policies, in {seconds:.0f} s")


if __name__ == "__main__":
    main()
