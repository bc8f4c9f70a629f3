"""Traces in Vigil's own format, and what looks like them: plain ones, odd ones, and some that nobody should read.

Both readers of them are compared here. Run by hand: `make differential`, or `python -m tests.corpus.plain_traces`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from vigil_lang.corpus.batch import Batch, Needs, joined
from vigil_lang.corpus.parts import PlainReader, Slow
from vigil_lang.corpus.reading import Reading
from vigil_lang.corpus.recordings import slowly

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("path", "n", "a.b", "a", "x y", "", "é", 'q"', "status", "vigil_trace")
NEEDED = ("path", "n", "a.b", "é", "nobody")
TEXTS = ("", "/a", "b\\", 'say "x"', "s0", "0", "true", "é😀", "\n\t", "\x7f", "a" * 300, "{", "e1", "e2", "\ud800")
NUMBERS = ("0", "-0", "1", "6.0", "1.50e3", "1E5", "-12", "123456789012345678901", "1e-7", "1e101", "0.10", "9" * 120)
TIMES = (
    "2026-01-05T10:00:00Z",
    "2026-01-05T10:00:00.5Z",
    "2026-01-05T10:00:00.123456Z",
    "2026-02-30T10:00:00Z",
    "2026-01-05T23:59:60Z",
    "2026-01-05T10:00:00+02:00",
    "2026-01-05",
    "20260105T100000",
    "0000-01-05T10:00:00Z",
    "noon",
    "",
)
HOSTILE = (
    b"",
    b"   ",
    b"\r",
    b"\x0b",
    b"[]",
    b'[{"action":"a"}]',
    b"null",
    b"NaN",
    b'{"action":NaN}',
    b'{"action":"a","args":{"n":NaN}}',
    b'{"action":"a","args":{"n":Infinity}}',
    b'{"action":"a","args":{"n":1e999999999999999999999}}',
    b'{"action":"a","x":1e999999999999999999999}',
    b'{"action":"a","args":{"n":1.2.3}}',
    b'{"action":"a","args":{"n":01}}',
    b'{"action":"a","args":{"n":+1}}',
    b'{"action":"a","args":{"n":-}}',
    b'{"action":"a","args":{"n":1 2}}',
    b'{"action":"a","args":{"n":tru0}}',
    b'{"action":"a","args":{"n":}}',
    b'{"action":"a","args":{"n":[,]}}',
    b'{"action":"a","args":{"n":[1,]}}',
    b'{"action":"a","action":"b"}',
    b'{"action":7,"action":"b"}',
    b'{"action":"a","args":{"n":1,"n":"x"},"args":{"path":"p","path":["q","r"]}}',
    b'{"action":"a","status":"odd","status":"ok"}',
    b'{"action":"a","status":"ok","status":"odd"}',
    b'{"action":"a","status":"s0"}',
    b'{"action":"a","status":true}',
    b'{"action" : "a" , "args" : { "path" : "p" } }',
    b'{"args" :"x","action":"a"}',
    b'{"act\\u0069on":"a","args":{"p\\u0061th":"\\ud83d\\ude00\\ud83d"}}',
    b'{"action":"a","args":{"path":"\\ud800"}}',
    b'{"action":"a","args":{"path":"\\u12"}}',
    b'{"action":"a","args":{"path":"\\x"}}',
    b'{"action":"a","args":{"path":"\\\\"}}',
    b'{"action":"a","args":{"path":"\\\\\\""}}',
    b'{"action":"a","args":{"path":"x\\"}}',
    b'{"action":\\"a","b":1}',
    b'{"action":"a","args":{"path":"\t"}}',
    b'{"action":"a","args":{"path":"\x00"}}',
    b'{"action":"a","args":{"path":"\xff"}}',
    b'{"action":"a","args":{"path":"\xed\xa0\x80"}}',
    b'{"action":"a\xc3","args":{}}',
    b'{"action":"a","args":{"d":[{"x":1,"y":"z"},{"x":"2"}],"m":["a@b",{"mail":"d@e"}],"l":[[1,"p"],[null,true]]}}',
    b'{"action":"a","args":{"d":[],"e":{},"f":null,"g":[null],"a.b":1,"a":{"b":"2","c":false}}}',
    b'{"action":"a","args":' + b'{"x":' * 101 + b"1" + b"}" * 102,
    b'{"action":"a","args":{"x":{"' + b"y" * 1000 + b'":1}}}',
    b'{"action":"a","args":[]}',
    b'{"action":"a","args":{"vigil_trace":1,"n":2}}',
    b'{"action":"a","kinds":["k","l"],"output":{"a":[1.50,"x"]}}',
    b'{"action":"a","kinds":["k",1]}',
    b'{"action":"a","kinds":"k"}',
    b'{"action":"a","output":6.50}',
    b'{"action":"a","output":false}',
    b'{"action":"a","output":["s0"]}',
    b'{"action":"a","output":"' + b"ab" * 200 + b'"}',
    b'{"action":"a","time":1767600000.25}',
    b'{"action":"a","time":"1767600000"}',
    b'{"action":"a","time":1e300}',
    b'{"action":"a","time":true}',
    b'{"action":"a","time":null,"event":null,"call":null,"output":null,"status":null,"kinds":null,"args":null}',
    b'{"action":"user.message","args":{"text":"hello"},"status":"ok"}',
    b'{"action":"agent.message","call":"c1"}',
    b'{"action":"a","event":"e1"}',
    b'{"action":"a","event":"","call":""}',
    b'{"action":"a","event":"e2","call":"c1"}',
    b'{"action":"a","call":"e1"}',
    b'{"action":null}',
    b'{"event":"e1"}',
    b'label {"action":"a"}',
    b'{"action":"a"}{"action":"b"}',
    b'{"action":"a"',
    b'{"action":"a","id":"1","source":"agent"}',
    b'{"tool":"a","args":{}}',
    b'{"vigil_trace":2}',
    b'{"vigil_trace":true}',
    b'{"vigil_trace":1.0}',
    b'{"n":5,"vigil\\u005ftrace":7}',
    b'{"n":5,"vigil\\u005ftrace":1}',
    b'{"run":"late","vigil_trace":1}',
    b'{"vigil_trace":1,"run":7}',
    b'{"vigil_trace":1,"prompt":"do it"}',
    b'{"vigil_trace":1,"run":"r","run":"r","model":"m","size":7.0,"beta":true,"x":[1],"aa":null}',
    b'{"vigil_trace":1,"run":"","format":"","source":"","cwd":""}',
    b'{"vigil_trace":1,"not_executed":2}',
    b'{"vigil_trace":1,"not_executed":-2}',
    b'{"vigil_trace":1,"records":3,"not_understood":2,"format":"codex"}',
)
"""Lines, most of which are odd, or wrong, in a way of their own."""

values = st.recursive(
    st.one_of(st.sampled_from(TEXTS), st.booleans(), st.none(), st.integers(-5, 5), st.just(0.5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)),
    max_leaves=4,
)
events = st.fixed_dictionaries(
    {"action": st.sampled_from(("read", "write", "user.message", *TEXTS))},
    optional={
        "args": st.dictionaries(st.sampled_from(NAMES), values, max_size=3),
        "status": st.sampled_from(("ok", "error", "unknown", None)),
        "time": st.sampled_from(TIMES),
        "output": st.sampled_from(TEXTS),
        "event": st.sampled_from(("e1", "e2", "e9", "x", "y")),
        "call": st.sampled_from(("e1", "c", "d", "")),
        "kinds": st.lists(st.sampled_from(("k", "file.read")), max_size=2),
        "more": values,
    },
)
headers = st.fixed_dictionaries(
    {"vigil_trace": st.just(1)},
    optional={
        "run": st.sampled_from(("r", "r#2", "s", "")),
        "model": st.sampled_from(("m", 7, True, 1.5)),
        "source": st.sampled_from(TEXTS[:6]),
        "cwd": st.just("/repo"),
        "format": st.sampled_from(("codex", "")),
        "not_executed": st.integers(0, 2),
    },
)
usual = st.sampled_from(
    (
        {"action": "read", "args": {"path": "/a", "n": 5}, "status": "ok"},
        {"action": "write", "args": {"path": ["/a", "b"]}, "status": "error", "time": TIMES[0]},
        {"action": "fetch"},
    )
)


def _written(value: dict[str, Any], *, ascii_: bool, loose: bool, number: str) -> bytes:
    text = json.dumps(value, ensure_ascii=ascii_, separators=None if loose else (",", ":"))
    return text.replace("5", number).encode("utf-8", "surrogatepass")


written = st.builds(
    _written,
    st.one_of(usual, events, headers),
    ascii_=st.booleans(),
    loose=st.booleans(),
    number=st.sampled_from(("5", "5", *NUMBERS)),
)
harmless = st.builds(
    _written, st.one_of(usual, headers), ascii_=st.just(True), loose=st.booleans(), number=st.just("5")
)


@st.composite
def harmed(draw: st.DrawFn) -> bytes:
    """A line of which a few bytes are others, or missing."""
    line = bytearray(draw(written))
    at = draw(st.integers(0, len(line)))
    line[at : at + draw(st.integers(0, 2))] = draw(
        st.sampled_from((b"", b'"', b"\\", b"}", b"0", b",", b" ", b"\xff", b":"))
    )
    return bytes(line.replace(b"\n", b""))


@st.composite
def recordings(draw: st.DrawFn) -> bytes:
    """A recording: a few lines, seldom more than one of them at fault."""
    lines = draw(st.lists(st.one_of(harmless, harmless, written), max_size=6))
    if draw(st.integers(0, 3)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(st.one_of(st.sampled_from(HOSTILE), harmed())))
    end = draw(st.sampled_from((b"\n", b"\n", b"\r\n")))
    data = draw(st.sampled_from((b"", b"", b"", b"\xef\xbb\xbf"))) + b"".join(line + end for line in lines)
    return data[: len(data) - draw(st.sampled_from((0, 0, 0, 1, 2, 9)))]


corpora = st.lists(recordings(), min_size=1, max_size=4)


def compare(folder: Path, contents: Sequence[bytes], block: int, jobs: int = 1) -> Counter[str]:
    """Both readers read the same, also where only some columns are needed; how many runs the fast one read itself."""
    paths = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.jsonl"
        path.write_bytes(content)
        paths.append(str(path))
    counts: Counter[str] = Counter()
    how = Reading(kept=256)
    expected = slowly([Slow(path) for path in paths], how)
    for needs in (None, Needs(frozenset(NEEDED), output=True)):
        batches: list[Batch] = []
        for item in PlainReader(how, needs, jobs, block).read(paths):
            if isinstance(item, Slow):
                batches.append(slowly([item], how))
                counts["declined"] += 1
            else:
                batches.append(item)
                counts["runs"] += item.runs.height
        runs = joined([Batch(batch.frame.head(0), batch.runs, batch.bad) for batch in batches])
        assert runs.runs.equals(expected.runs), (runs.runs, expected.runs)
        assert runs.bad == expected.bad, (runs.bad, expected.bad)
        by_name = needs is not None
        found = [event for batch in batches for event in told(batch, by_name=by_name)]
        assert found == told(expected, by_name=by_name)
    return counts


def told(batch: Batch, *, by_name: bool) -> list[dict[str, Any]]:
    """The events, without the numbers of their runs; of the arguments those that are needed, if that is asked for."""
    events = batch.frame.drop("run").to_dicts()
    for row, event in enumerate(events):
        if by_name:
            of = {entry["key"]: entry["value"] for entry in event.pop("args") or ()}
            if batch.args is not None:
                of = {name: _texts(column[row]) for name, column in batch.args.items()}
            event["needed"] = {name: of.get(name) for name in NEEDED}
    return events


def _texts(value: Any) -> list[str] | None:
    return [value] if isinstance(value, str) else None if value is None else list(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="corpora of up to four recordings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop at the latest")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:

        @seed(options.seed)
        @settings(
            max_examples=options.count,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(corpora, st.sampled_from((1, 60, 150, 1 << 20)), st.sampled_from((1, 2)))
        def agree(contents: list[bytes], block: int, jobs: int) -> None:
            if time.monotonic() - begun < options.seconds:
                counts.update(compare(Path(folder), contents, block, jobs))
                counts["corpora"] += 1

        try:
            agree()
        finally:
            for name, count in sorted(counts.items()):
                print(f"{name:>20} {count:>9,}")


if __name__ == "__main__":
    main()
