"""`vigil eval` as a program: statuses, formats, and what is written where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from evaluation_support import BASIC, corpus_in, run_of

from vigil_lang.engines.smt.solve import SolverDisagrees
from vigil_lang.evaluation import judging
from vigil_lang.evaluation.tables import tex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.cli_support import Result

SAFE, UNSAFE = run_of("make", "use"), run_of("use", "bad")
RUNS = {"a.jsonl": SAFE, "b.jsonl": UNSAFE}
AGREE = [("a", "benign"), ("b", "violating")]
WRONG = [("a", "violating"), ("b", "benign")]


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[..., Path]:
    return lambda *args, **more: corpus_in(tmp_path, *args, **more)


@pytest.mark.parametrize(
    ("runs", "labels", "options", "status"),
    [
        (RUNS, AGREE, (), 0),
        (RUNS, WRONG, (), 1),
        (RUNS, WRONG, ("--fail-over", "1"), 0),
        (RUNS, WRONG, ("--fail-over", "0.99"), 1),
        (RUNS, [("a", "benign"), ("b", "benign")], ("--fail-over", "1"), 1),
        (RUNS, [("b", "violating")], ("--fail-over", "0"), 0),
        (RUNS, [*AGREE, ("c", "benign")], ("--fail-over", "1"), 2),
        (RUNS, [*AGREE, ("b", "benign")], (), 2),
        ({**RUNS, "c.jsonl": "{\n"}, AGREE, (), 2),
    ],
)
def test_the_status(
    runs: dict[str, str],
    labels: list[tuple[str, str]],
    options: tuple[str, ...],
    status: int,
    corpus: Callable[..., Path],
    vigil: Callable[..., Result],
) -> None:
    assert vigil("eval", corpus(runs, labels), *options).status == status


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "nowhere"), "--data: there is no folder 'nowhere'"),
        (("--without", "step"), "--without: there is no part 'step': there are arguments, structure, steps"),
        (("--baselines",), "--baselines: the corpus names none; write a table [[baseline]]"),
        (("--statement", "X"), "no policy has a statement `X`"),
        (("--fail-over", "2"), "2.0 is not in the range"),
        (("--jobs", "0"), "0 is not in the range"),
    ],
)
def test_a_call_that_makes_no_sense(
    options: tuple[str, ...], message: str, corpus: Callable[..., Path], vigil: Callable[..., Result]
) -> None:
    result = vigil("eval", corpus(RUNS, AGREE), *options)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_corpus_that_is_not_there_or_not_right(tmp_path: Path, vigil: Callable[..., Result]) -> None:
    assert vigil("eval", tmp_path / "none.toml").status == 2
    (tmp_path / "c.toml").write_text("polices = []\n", encoding="utf-8")
    result = vigil("eval", tmp_path / "c.toml", "-o", tmp_path / "out")
    assert (result.status, (tmp_path / "out").exists()) == (2, False)
    assert "error[VGL006]: there is no setting `polices`" in result.err


def test_no_output_replaces_an_input(corpus: Callable[..., Path], vigil: Callable[..., Result]) -> None:
    path = corpus(RUNS, AGREE)
    for name in ("corpus.toml", "p.vgl", "labels.jsonl", "runs/a.jsonl"):
        target = path.parent / name
        before = target.read_bytes()
        assert vigil("eval", path, "-o", target).status == 2
        assert target.read_bytes() == before


def published(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.out)
    assert found["schema"] == "vigil.eval/1"
    return found


def test_json_is_the_same_each_time_and_has_every_run(
    corpus: Callable[..., Path], vigil: Callable[..., Result]
) -> None:
    """RC.7-1"""
    path = corpus({**RUNS, "c.jsonl": UNSAFE}, WRONG)
    options = ("--format", "json", "--without", "steps", "--vocabulary")
    result = vigil("eval", path, *options)
    assert vigil("eval", path, *options).out == result.out
    found = published(result)
    assert [(case["label"], case["verdict"]) for case in found["cases"]] == [
        ("violating", "safe"),
        ("benign", "unsafe"),
        (None, "unsafe"),
    ]
    row = found["systems"]["vigil"]["micro"]
    assert {key: row[key] for key in ("labelled", "tp", "fp", "fn", "tn", "unjudged", "bee", "f1")} == {
        "labelled": 2, "tp": 0, "fp": 1, "fn": 1, "tn": 0, "unjudged": 0,
        "bee": {"value": 1.0, "low": 1.0, "high": 1.0}, "f1": {"value": 0.0, "low": 0.0, "high": 0.0},
    }  # fmt: skip
    assert found["systems"]["without steps"] == found["systems"]["vigil"]
    assert found["systems"]["vigil"]["macro"]["bee"]["groups"] == 1
    miss, alarm = found["disagreements"]
    assert (miss["witnesses"], [each["statement"] for each in miss["exercised"]]) == ([], ["S", "T"])
    assert [(each["statement"], each["event"]) for each in alarm["witnesses"]] == [("S", "e2"), ("T", "e1")]
    assert [each["what"].rpartition("/")[2] for each in found["omissions"]["unlabelled"]] == ["c.jsonl"]
    assert "seconds" not in found
    timed = published(vigil("eval", path, "--format", "json", "--times"))
    assert {name: stage["number"] for name, stage in timed["seconds"].items()} == {
        "abstract": 3,
        "compile": 1,
        "verify": 3,
    }


def test_people_see_what_is_wrong_and_how_to_look_at_it(
    corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus({**RUNS, "c.jsonl": SAFE}, [*WRONG, ("c", "excluded")])
    monkeypatch.chdir(path.parent)
    out = vigil("eval", "corpus.toml", "--by-statement", "--times", "--vocabulary", "--without", "structure").out
    assert "\n1 false alarm, 1 miss\n" in out
    assert "  runs/b.jsonl\n    S at e2: " in out
    assert "  $ vigil verify p.vgl runs/b.jsonl\n" in out
    assert "  runs/a.jsonl\n    put to the test, and held: S, T\n" in out
    assert "\n1 run has the label `excluded`\n  runs/c.jsonl (corpus)\n" in out
    assert "without structure " in out
    assert {"stages", "vocabulary", "statements", "ablations"} <= set(out.splitlines())


@pytest.mark.parametrize("columns", [80, 160])
def test_a_wide_screen_shows_every_interval(
    columns: int, corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(
        f'[[group]]\nname = "{name}"\n' for name in ("one", "a group with a name that is rather long for it")
    )
    path = corpus(RUNS, AGREE, f"{BASIC}{text}")
    monkeypatch.setenv("COLUMNS", str(columns))
    out = vigil("eval", path).out
    head, *rows = out.splitlines()[2:7]
    assert max(map(len, [head, *rows])) <= columns
    assert rows[0].count("[") == (1 if columns == 80 else 4)
    assert rows[-1].startswith("groups (macro)")
    assert (rows[1].startswith("a group with a name that is rather long for it")) == (columns == 160)


def test_markdown_has_tables_disagreements_and_omissions(
    corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus({**RUNS, "c.jsonl": UNSAFE}, WRONG, f'name = "a|b"\n{BASIC}')
    monkeypatch.chdir(path.parent)
    out = vigil("eval", "corpus.toml", "--format", "markdown").out
    assert out.startswith("## `a|b`\n\n3 runs, 2 labelled (1 violating, 1 benign), 1 group; figures in percent")
    assert "| `a\\|b` | 2 | 0 | 1 | 1 | 0 | 0.0 [0.0, 0.0] |" in out
    assert "- miss in `a|b`: `runs/a.jsonl`\n  - `put to the test, and held: S, T`\n" in out
    assert "### `1 run has no label`\n\n- `runs/c.jsonl (a|b)`\n" in out


def test_of_many_runs_some_are_named_and_of_a_mean_how_many_groups_it_is_over(
    corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[[group]]\nname = "g"\n[[group]]\nname = "h"\nruns = ["runs/a.jsonl"]\n'
    programs = '[[baseline]]\nname = "mute"\ncommand = ["true"]\n[bootstrap]\nresamples = 0\n'
    runs = {**RUNS, **{f"n{n}.jsonl": SAFE for n in range(7)}}
    path = corpus(runs, AGREE, f"{BASIC}{text}{programs}")
    monkeypatch.chdir(path.parent)
    timed = published(vigil("eval", "corpus.toml", "--baselines", "--times", "--format", "json"))
    assert timed["seconds"]["mute"]["number"] == 3
    stages = vigil("eval", "corpus.toml", "--baselines", "--times").out.partition("\nstages\n")[2].splitlines()
    assert [line.split()[0] for line in stages[:6]] == ["stage", "abstract", "compile", "verify", "end", "mute"]
    note = "macro over the groups that have the figure, of 2: precision 1, recall 1, F1 1, BEE 1\n"
    out = vigil("eval", "corpus.toml", "--baselines").out
    means = [line.split() for line in out.splitlines() if line.startswith("groups (macro)")]
    assert means[0] == ["groups", "(macro)", "100.0", "100.0", "100.0", "0.0"]
    assert note in out
    assert "\n7 runs have no label\n  runs/n0.jsonl (g)\n" in out
    assert "\n  and 2 more: --format json has all\n" in out
    assert "\n3 runs of which `mute` says nothing\n  runs/a.jsonl (g): it said nothing\n" in out
    assert "\nfigures in percent\n" in out
    told = vigil("eval", "corpus.toml", "--baselines", "--format", "markdown").out
    assert "### `mute`\n\n| group | runs | TP | FP | FN | TN | unjudged |" in told
    assert note in told
    assert "- and 2 more\n" in told


def test_an_unconfirmed_verdict_is_the_tools_fault(
    corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def disagrees(*_: object) -> object:
        raise SolverDisagrees("it says sat")

    monkeypatch.setattr(judging, "verify", disagrees)
    result = vigil("eval", corpus(RUNS, AGREE))
    assert result.status == 3
    assert "2 runs cannot be judged" in result.out
    assert "the solver did not confirm the verdict: it says sat" in " ".join(result.out.split())


def test_latex_shows_texts_as_they_are(corpus: Callable[..., Path], vigil: Callable[..., Result]) -> None:
    text = BASIC + '[[group]]\nname = "50 % of_x & {y}\\\\"\n[[group]]\nname = "other"\n'
    out = vigil("eval", corpus(RUNS, AGREE, text), "--format", "latex", "--without", "steps").out
    assert "50 \\% of\\_x \\& \\{y\\}\\textbackslash{} & 2 & 1 & 0 & 0 & 1 & 100.0 {[}100.0, 100.0{]}" in out
    assert out.count("\\begin{tabular}") == out.count("\\end{tabular}") == 2
    assert "\\midrule\nall runs (micro) & 4 &" in out
    assert "$\\Delta$ recall" in out


def test_what_tex_would_obey_is_written_out() -> None:
    assert tex("a\\input{x}\n^^M~$<>|#") == (
        "a\\textbackslash{}input\\{x\\}\\textbackslash{}n\\textasciicircum{}\\textasciicircum{}M"
        "\\textasciitilde{}\\$\\textless{}\\textgreater{}\\textbar{}\\#"
    )


def test_names_of_runs_and_messages_are_no_commands(corpus: Callable[..., Path], vigil: Callable[..., Result]) -> None:
    run = '{"vigil_trace":1,"run":"x"}\n{"action":"\\u001b[2Jbad","args":{"x":"\\u202e`$(id)`"}}\n'
    policy = '@message("`{y}` is bad")\nstatement S: abs(action ~ "*bad" and x = y)\n'
    path = corpus({"$(id) '\x1b.jsonl": run}, [("runs", "benign")], policy=policy)
    for form in ("human", "markdown", "latex", "json"):
        out = vigil("eval", path, "--format", form).out
        assert not {"\x1b", "\u202e"} & set(out), form
    assert "'" in vigil("eval", path).out.rpartition("$ vigil verify")[2]


def test_a_recording_of_several_runs_is_explained_one_by_one(
    corpus: Callable[..., Path], vigil: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": f"r {n}", "suite": "s", "events": [{"tool": "bad", "args": {"x": "1"}}]} for n in range(2)]
    text = 'policies = ["p.vgl"]\nruns = ["runs"]\nlayout = "agentdojo"\n[[group]]\nname = "g"\nstatements = ["S"]\n'
    path = corpus({"r.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}, (), text)
    monkeypatch.chdir(path.parent)
    result = vigil("eval", "corpus.toml")
    assert "  $ vigil verify p.vgl runs/r.jsonl --run 'r 1' --statement S\n" in result.out
    assert vigil("verify", "p.vgl", "runs/r.jsonl", "--run", "r 1", "--statement", "S").status == 1


def test_a_plan_of_a_benchmark_has_no_command(corpus: Callable[..., Path], vigil: Callable[..., Result]) -> None:
    text = 'policies = ["p.vgl"]\nruns = ["runs/safe_x.jsonl"]\nlayout = "safeagentbench"\n'
    rows = [{"step": ["turn on Candle"], "instruction": "x"}, {"instruction": "y"}]
    path = corpus(
        {"safe_x.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}, (), text, "statement S: abs(turn_on())\n"
    )
    out = vigil("eval", path).out
    assert "    S at " in out
    assert "$ vigil" not in out
    assert "\n1 left out\n" in out
