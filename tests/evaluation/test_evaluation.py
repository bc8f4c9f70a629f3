"""A corpus evaluated: each run counts once or is named with a reason, and verdicts are those of `vigil verify`.

RC.7-2 of spec.md.
"""

from __future__ import annotations

import json
import runpy
from collections import Counter
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from evaluation_support import BASIC, corpus_in, evaluated, run_of
from hypothesis import given, settings
from hypothesis import strategies as st

import vigil_lang as vigil
from vigil_lang.diagnostics import InputError, TooCostly
from vigil_lang.engines.smt.solve import SolverDisagrees
from vigil_lang.evaluation import evaluate as evaluating
from vigil_lang.evaluation import judging
from vigil_lang.evaluation.ablation import parts_of
from vigil_lang.evaluation.corpus import read_corpus
from vigil_lang.evaluation.evaluate import evaluate
from vigil_lang.evaluation.figures import Counts, macro
from vigil_lang.evaluation.published import to_json
from vigil_lang.ingest.canonical import dump_trace

if TYPE_CHECKING:
    from vigil_lang.evaluation.evaluate import Evaluation

ROOT = Path(__file__).parents[2]
SAFE, UNSAFE = run_of("make", "use"), run_of("use", "bad")
BROKEN = '{"action": "a"}\n{"action":\n'


def reasons(found: Evaluation) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for each in found.omissions:
        told.setdefault(each.reason, []).append(Path(each.what).name)
    return told


def test_runs_are_counted_by_label_and_verdict(tmp_path: Path) -> None:
    runs = {"tp.jsonl": UNSAFE, "fp.jsonl": UNSAFE, "fn.jsonl": SAFE, "tn.jsonl": SAFE, "tn2.jsonl": SAFE}
    labels = [("tp", "violating"), ("fp", "benign"), ("fn", "harmful"), ("runs/tn.jsonl", "benign"), ("tn2", "benign")]
    found = evaluated(corpus_in(tmp_path, runs, labels))
    assert found.systems["vigil"].micro.counts == Counts(1, 1, 1, 2)
    miss, alarm = found.disagreements
    assert (Path(miss.run).name, miss.label, miss.verdict, miss.witnesses) == ("fn.jsonl", "violating", "safe", ())
    assert [name for _, name in miss.exercised] == ["S", "T"]
    assert (Path(alarm.run).name, alarm.label, [(w.statement, w.event, w.events) for w in alarm.witnesses]) == (
        "fp.jsonl",
        "benign",
        [("S", "e2", 1), ("T", "e1", 1)],
    )
    assert [(s.name, s.exercised, s.violated, s.rightly) for s in found.statements] == [("S", 5, 2, 1), ("T", 5, 2, 1)]
    assert (found.omissions, found.at_fault) == ((), False)


def test_what_counts_for_no_figure_is_named(tmp_path: Path) -> None:
    runs = {
        "a.jsonl": SAFE,
        "broken.jsonl": BROKEN,
        "unlabelled.jsonl": UNSAFE,
        "contradicted.jsonl": UNSAFE,
        "excluded.jsonl": UNSAFE,
        "empty.jsonl": '{"vigil_trace": 1}\n',
    }
    labels = [
        ("a", "benign"),
        ("broken", "benign"),
        ("contradicted", "benign"),
        ("contradicted", "violating"),
        ("excluded", "excluded"),
        ("nobody", "benign"),
        {"run": "a", "label": "violating", "rule": "other"},
    ]
    text = f'{BASIC}[[group]]\nname = "g"\nwhere-labels = {{ rule = "mine" }}\n'
    rows = [
        row | {"rule": "mine"} if isinstance(row, dict) else {"run": row[0], "label": row[1], "rule": "mine"}
        for row in labels[:-1]
    ]
    found = evaluated(corpus_in(tmp_path, runs, [*rows, labels[-1]], text))
    assert reasons(found) == {
        "unreadable": ["broken.jsonl", "empty.jsonl"],
        "unlabelled": ["contradicted.jsonl", "unlabelled.jsonl"],
        "excluded": ["excluded.jsonl"],
        "unused label": ["broken", "nobody"],
        "left out": ["a"],
    }
    assert found.systems["vigil"].micro.counts == Counts(tn=1)
    assert found.at_fault
    (contradicted,) = [each for each in found.of("unlabelled") if each.why]
    assert contradicted.why.startswith("its labels contradict each other: benign (")
    assert [(found.code, Path(found.source.path).name) for found in found.broken] == [
        ("VGL601", "broken.jsonl"),
        ("VGL605", "empty.jsonl"),
    ]


def test_runs_that_no_group_takes_are_named(tmp_path: Path) -> None:
    text = (
        'policies = ["p.vgl"]\nruns = ["runs"]\nlayout = "agentdojo"\n[[group]]\nname = "s"\nwhere = { suite = "s*" }\n'
    )
    rows = [
        {"id": f"r{n}", "suite": suite, "events": [{"tool": "bad", "args": {"x": "1"}}]} for n, suite in enumerate("st")
    ]
    found = evaluated(corpus_in(tmp_path, {"r.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}, (), text))
    assert found.systems["vigil"].micro.counts == Counts(fp=1)
    assert [(each.reason, each.what.partition("#")[2]) for each in found.omissions] == [("without group", "r1")]
    assert [case.run.partition("#")[2] for case in found.cases] == ["r0"]


def test_a_file_that_breaks_off_is_judged_up_to_there_and_named(tmp_path: Path) -> None:
    row = json.dumps({"suite": "s", "events": [{"tool": "bad", "args": {"x": "1"}}]})
    text = 'policies = ["p.vgl"]\nruns = ["runs"]\nlayout = "agentdojo"\n'
    found = evaluated(corpus_in(tmp_path, {"r.jsonl": f'{row}\n{{"suite":\n'}, (), text))
    assert [case.verdict for case in found.cases] == ["unsafe"]
    assert [(each.reason, Path(each.what).name) for each in found.omissions] == [("unreadable", "r.jsonl")]
    assert found.at_fault


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """As trials of one task are, in a result of tau-bench."""
    call = {"id": "c", "type": "function", "function": {"name": "bad", "arguments": '{"x": "1"}'}}
    traj = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    rows = [{"task_id": 0, "reward": 1.0, "info": {}, "traj": traj, "trial": trial} for trial in range(2)]
    text = 'policies = ["p.vgl"]\nruns = ["runs"]\nlayout = "tau-bench"\n'
    found = evaluated(corpus_in(tmp_path, {"r.json": json.dumps(rows, indent=2)}, (), text))
    assert [Path(case.run).name for case in found.cases] == ["r.json#0", "r.json#0#2"]
    assert [(each.name, Path(each.run).name) for each in found.disagreements] == [
        ("0", "r.json#0"),
        ("0#2", "r.json#0#2"),
    ]


def test_a_run_may_be_of_several_groups_with_a_label_in_each(tmp_path: Path) -> None:
    text = f'{BASIC}[[group]]\nname = "s"\nstatements = ["S"]\nwhere-labels = {{ rule = "s" }}\n'
    text += '[[group]]\nname = "t"\nstatements = ["T"]\nwhere-labels = { rule = "t" }\n'
    labels = [{"run": "a", "label": "violating", "rule": "s"}, {"run": "a", "label": "benign", "rule": "t"}]
    found = evaluated(corpus_in(tmp_path, {"a.jsonl": run_of("make", "use", "bad")}, labels, text))
    assert {name: row.counts for name, row in found.systems["vigil"].groups.items()} == {
        "s": Counts(tp=1),
        "t": Counts(tn=1),
    }
    assert (found.runs, len(found.cases)) == (1, 2)


def test_a_statement_that_is_asked_for_is_all_that_judges(tmp_path: Path) -> None:
    (tmp_path / "q.vgl").write_text("statement Q: abs(q())\n", encoding="utf-8")
    text = f'{BASIC}[[group]]\nname = "p"\n[[group]]\nname = "q"\npolicies = ["q.vgl"]\n'
    path = corpus_in(tmp_path, {"a.jsonl": run_of("use")}, [("a", "violating")], text)
    found = evaluated(path, only=["S"])
    assert {name: row.counts for name, row in found.systems["vigil"].groups.items()} == {"p": Counts(fn=1)}
    assert [(each.reason, each.what) for each in found.omissions] == [("left out", "q")]
    with pytest.raises(InputError, match="no policy has a statement `X`"):
        evaluated(path, only=["S", "X"])


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ('statements = ["X"]', "names the statement `X`, which is in none of its policies"),
        ("params = { y = 1 }", "names the param `y`, which is in none of its policies"),
        ('policies = ["q.vgl"]', "have no statement to judge by"),
        ('policies = ["none.vgl"]', "there is no file or folder"),
        ('runs = ["none/"]', "there is no file or folder"),
        ('labels = ["none.jsonl"]', "there is no file or folder"),
        ('labels = ["p.vgl"]', "not valid JSON"),
    ],
)
def test_a_group_that_cannot_be_used_is_refused_before_anything_is_judged(
    group: str, message: str, tmp_path: Path
) -> None:
    path = corpus_in(tmp_path, {"a.jsonl": SAFE}, [("a", "benign")], f'{BASIC}[[group]]\nname = "g"\n{group}\n')
    (tmp_path / "q.vgl").write_text("policy q\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        evaluated(path)
    assert message in refused.value.diagnostics[0].message


def test_labels_are_of_runs_and_say_what_is_known(tmp_path: Path) -> None:
    for row in (
        {"run": "", "label": "benign"},
        {"run": "a", "label": "bad"},
        {"run": 1, "label": "benign"},
        {"run": "a"},
    ):
        with pytest.raises(InputError) as refused:
            evaluated(corpus_in(tmp_path, {"a.jsonl": SAFE}, [row]))
        assert refused.value.diagnostics[0].code == "VGL601"


def test_what_cannot_be_judged_is_in_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vigil_lang.diagnostics import Diagnostic, Source

    path = corpus_in(tmp_path, {"a.jsonl": SAFE, "b.jsonl": UNSAFE}, [("a", "benign"), ("b", "violating")])

    def costly(*_: object) -> object:
        raise TooCostly([Diagnostic.of("VGL003", "too much", Source("a", ""))])

    monkeypatch.setattr(judging, "verify", costly)
    found = evaluated(path)
    assert found.systems["vigil"].micro.counts == Counts(unjudged=2)
    assert reasons(found) == {"unjudged": ["a.jsonl", "b.jsonl"]}
    assert (found.at_fault, found.fault, found.disagreements) == (True, False, ())

    def disagrees(*_: object) -> object:
        raise SolverDisagrees("x")

    monkeypatch.setattr(judging, "verify", disagrees)
    assert evaluated(path).fault


def test_what_only_an_ablation_cannot_judge_is_counted_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Costly:
        def judge(self, *_: object) -> object:
            raise TooCostly([])

    monkeypatch.setattr(judging, "SmtEngine", Costly)
    path = corpus_in(tmp_path, {"b.jsonl": UNSAFE}, [("b", "violating")])
    found = evaluated(path, without=parts_of(["steps"]))
    assert found.systems["vigil"].micro.counts == Counts(tp=1)
    assert found.systems["without steps"].micro.counts == Counts(unjudged=1)


def test_ablations_and_baselines_are_systems_of_their_own(tmp_path: Path) -> None:
    baseline = (
        '[[baseline]]\nname = "never"\ncommand = ["echo", "safe"]\n[[baseline]]\nname = "mute"\ncommand = ["true"]\n'
    )
    path = corpus_in(
        tmp_path,
        {"a.jsonl": run_of("make", "use"), "b.jsonl": UNSAFE},
        [("a", "benign"), ("b", "violating")],
        f"{BASIC}{baseline}",
    )
    found = evaluated(path, without=parts_of(["structure", "arguments", "steps"]), baselines=True)
    assert {name: table.micro.counts for name, table in found.systems.items()} == {
        "vigil": Counts(tp=1, tn=1),
        "without structure": Counts(tp=1, fp=1),
        "without arguments": Counts(tp=1, tn=1),
        "without steps": Counts(tp=1, tn=1),
        "never": Counts(fn=1, tn=1),
        "mute": Counts(unjudged=2),
    }
    assert [(each.why, Path(each.what).name) for each in found.unanswered["mute"]] == [
        ("it said nothing", "a.jsonl"),
        ("it said nothing", "b.jsonl"),
    ]
    assert {*evaluated(path).systems} == {"vigil"}, "programs run only where that is asked for"


def test_the_vocabulary_grows_by_powers_of_two_and_ends_with_the_longest_run(tmp_path: Path) -> None:
    runs = {"a.jsonl": run_of(*"abcde"), "b.jsonl": run_of("a", "a"), "c.jsonl": run_of(*"ab")}
    found = evaluated(corpus_in(tmp_path, runs, [(name, "benign") for name in "abc"]), vocabulary=True)
    assert [(point.events, point.runs) for point in found.growth] == [(1, 3), (2, 3), (4, 1), (5, 1)]
    assert [round(point.names, 2) for point in found.growth] == [1, 1.67, 4, 5]
    assert found.growth[0].characters > 0


# --- generated ---------------------------------------------------------------------------------------------

RUNS = st.sampled_from([SAFE, UNSAFE, run_of("x"), BROKEN, '{"vigil_trace": 1}\n'])
SAID = st.sampled_from(["violating", "benign", "excluded"])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(RUNS, st.lists(SAID, max_size=2)), min_size=1, max_size=6), st.integers(0, 2))
def test_no_run_and_no_label_is_left_out_without_a_word(cases: list[tuple[str, list[str]]], stray: int) -> None:
    """Every file is a case or unreadable; every case has a label, or is named; counts are of the labelled ones."""
    with TemporaryDirectory() as folder:
        runs = {f"r{n}.jsonl": text for n, (text, _) in enumerate(cases)}
        labels = [(f"r{n}", label) for n, (_, said) in enumerate(cases) for label in said]
        labels += [(f"nobody{n}", "benign") for n in range(stray)]
        found = evaluated(corpus_in(Path(folder), runs, labels))
        told = reasons(found)
        names = [Path(case.run).name for case in found.cases]
        assert sorted([*names, *told.get("unreadable", [])]) == sorted(runs)
        assert found.runs == len(names)
        counted = [case for case in found.cases if case.label in ("violating", "benign") and case.verdict]
        assert found.systems["vigil"].micro.counts.labelled == len(counted)
        assert len(counted) + sum(len(told.get(why, [])) for why in ("unlabelled", "excluded")) == len(names)
        unread = {name.partition(".")[0] for name in told.get("unreadable", [])}
        lost = [run for run, _ in labels if run in unread or run.startswith("nobody")]
        assert sorted(told.get("unused label", [])) == sorted(lost)
        wrong = [c for c in counted if (c.label == "violating") != (c.verdict == "unsafe")]
        assert [(each.group, each.run) for each in found.disagreements] == [(c.group, c.run) for c in wrong]
        published = to_json(found, times=False)
        assert sum(len(each) for each in published["omissions"].values()) == len(found.omissions)


# --- against verify ----------------------------------------------------------------------------------------


@pytest.mark.unmeasured
@pytest.mark.slow
def test_verdicts_and_witnesses_are_those_of_verify_run_by_run() -> None:
    """The corpus of the examples, and by it every policy of examples/skills."""
    corpus = read_corpus(str(ROOT / "examples" / "eval" / "corpus.toml"))
    found = evaluate(corpus, without=parts_of(["arguments", "steps", "structure"]))
    policies = {
        group.name: [vigil.load_policy(path) for path in judging.policy_files(group)] for group in corpus.groups
    }
    counted = Counter[tuple[str, str, str]]()
    said = {group.name: Counts() for group in corpus.groups}
    judge = runpy.run_path(str(ROOT / "examples" / "eval" / "judge.py"))["verdict"]
    for case in found.cases:
        verdict = vigil.verify(policies[case.group], vigil.load_trace(case.run))
        assert case.verdict == verdict.verdict
        counted[case.group, str(case.label), verdict.verdict] += 1
        for each in found.disagreements:
            if (each.group, each.run) == (case.group, case.run):
                offending = [(s.name, s.offending[0].event) for s in verdict.statements if s.offending]
                assert [(w.statement, w.event) for w in each.witnesses] == offending
        lines = BytesIO()
        dump_trace(verdict.trace, lines.write)
        said[case.group] = said[case.group].with_one(
            violating=case.label == "violating", unsafe=judge(lines.getvalue().decode().splitlines()) == "unsafe"
        )
    for name, row in found.systems["vigil"].groups.items():
        assert row.counts == Counts(
            counted[name, "violating", "unsafe"],
            counted[name, "benign", "unsafe"],
            counted[name, "violating", "safe"],
            counted[name, "benign", "safe"],
        )
    assert len(found.cases) == 46
    bees = [found.systems["vigil"].macro["bee"].value, macro(list(said.values()), "bee")[0]]
    recall = [table.micro.counts.value("recall") for table in found.systems.values()]
    precision = found.systems["without structure"].micro.counts.value("precision")
    told = [f"{100 * value:.1f} %" for value in [*bees, *recall, precision] if value is not None]
    assert told == ["6.9 %", "48.6 %", "95.5 %", "13.6 %", "18.2 %", "95.5 %", "52.5 %"]  # as docs/eval.md says
    assert [(Path(each.run).name, each.verdict) for each in found.disagreements] == [
        ("archive-opaque.json", "safe"),
        ("calendar-one.json", "unsafe"),
    ]


@pytest.mark.slow
def test_other_processes_come_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {f"{n}.jsonl": (SAFE, UNSAFE, BROKEN)[n % 3] for n in range(12)}
    path = corpus_in(tmp_path, runs, [(str(n), ("benign", "violating")[n % 2]) for n in range(10)])
    alone = evaluated(path, without=parts_of(["structure"]))
    monkeypatch.setattr(evaluating, "WORTH_A_PROCESS", 2)
    monkeypatch.setattr(evaluating, "_TOGETHER", 3)
    monkeypatch.setattr(evaluating, "_AHEAD", 1)
    spread = evaluate(read_corpus(str(path)), jobs=2, without=parts_of(["structure"]))
    assert to_json(spread, times=False) == to_json(alone, times=False)


def test_every_run_of_the_examples_has_its_label() -> None:
    """A run that is added to a folder of the corpus needs a row."""
    found = evaluate(read_corpus(str(ROOT / "examples" / "eval" / "corpus.toml")), only=["calendar_kept"], jobs=1)
    rows = [json.loads(line) for line in (ROOT / "examples" / "eval" / "labels.ndjson").read_text("utf-8").splitlines()]
    skills = {f"{path.parent.name}/{path.name}" for path in (ROOT / "examples" / "skills").glob("*/*.json*")}
    own = {f"runs/{path.name}" for path in (ROOT / "examples" / "eval" / "runs").iterdir()}
    assert {row["run"] for row in rows} == skills | own
    assert found.systems["vigil"].micro.counts == Counts(1, 1, 0, 1)
