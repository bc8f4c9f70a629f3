"""Several runs in one recording told apart and chosen by `--run`, and what the user asked for (`--prompt`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Vigil, Write

MANY = (
    '{"vigil_trace":1,"run":"0"}\n{"event":"e1","action":"a"}\n'
    '{"vigil_trace":1,"run":"0"}\n{"event":"e1","action":"b"}\n'
    '{"vigil_trace":1,"run":"7"}\n{"event":"e1","action":"b"}\n'
    '{"vigil_trace":1}\n{"event":"e1","action":"b"}\n'
)
POLICY = """policy p
statement s: abs(b())
statement asked: prec(b(), user.message(text contains "do b"))
"""


@pytest.fixture
def many(write: Write) -> tuple[Path, Path]:
    return write("p.vgl", POLICY), write("many.jsonl", MANY)


def judged(vigil: Vigil, *words: str | Path) -> list[tuple[str, str, list[str]]]:
    """Of each run its label, its verdict, and the statements that it violates."""
    found = [json.loads(line) for line in vigil("verify", *words, "--format", "json", "--no-check").out.splitlines()]
    return [
        (
            each["trace"]["path"].partition("#")[2],
            each["verdict"],
            [one["name"] for one in each["statements"] if one["verdict"] == "violated"],
        )
        for each in found
    ]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ([], ["0", "0#2", "7", "4"]),
        (["0"], ["0", "0#2"]),  # a name means all that are called so
        (["0#2"], ["0#2"]),
        (["3"], ["7"]),  # a number, where no run is called so
        (["4", "7"], ["7", "4"]),
        (["1", "0#2"], ["0#2", "0"]),
    ],
)
def test_runs_of_one_name_are_told_apart_and_chosen(
    vigil: Vigil, many: tuple[Path, Path], names: list[str], labels: list[str]
) -> None:
    chosen = [word for name in names for word in ("--run", name)]
    assert [label for label, _, _ in judged(vigil, *many, *chosen)] == labels


def test_a_run_that_is_not_there(vigil: Vigil, many: tuple[Path, Path]) -> None:
    result = vigil("verify", *many, "--run", "0", "--run", "nine")
    assert result.status == 2
    assert "no recording has a run 'nine'. There is '0', '0#2'" in " ".join(result.err.split())
    assert vigil("verify", *many, "--follow", "--run", "0").status == 2


def test_a_chosen_run_is_found_again_after_it_was_abstracted(
    vigil: Vigil, many: tuple[Path, Path], tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    assert vigil("abstract", many[1], "--run", "0#2", "--run", "4", "-o", kept).status == 0
    assert [label for label, _, _ in judged(vigil, many[0], kept)] == ["0", "2"]
    lines = vigil("verify", *many, "--format", "concise", "--statement", "s", "--no-check").out.splitlines()
    assert [line.rpartition("many.jsonl")[2].partition(": ")[0] for line in lines] == [
        ":4:#0#2:e1", ":6:#7:e1", ":8:#4:e1",
    ]  # fmt: skip


def test_the_prompt_is_the_first_thing_that_the_user_says(vigil: Vigil, many: tuple[Path, Path], write: Write) -> None:
    prompt = write("prompt.txt", "Please do b now.\n")
    assert [broken for _, _, broken in judged(vigil, *many, "--prompt", prompt)] == [[], ["s"], ["s"], ["s"]]
    shown = vigil("abstract", many[1], "--prompt", prompt, "--explain", "--run", "7").out.splitlines()
    assert shown[1:] == ["m0    user: Please do b now.", "e1    b() → unknown"]
    assert vigil("replay", *many, "--prompt", prompt, "--statement", "asked").status == 0


def test_a_prompt_that_the_recording_has_is_not_said_twice(vigil: Vigil, write: Write) -> None:
    message = {"role": "user", "content": "go"}
    run = write("run.jsonl", json.dumps(message) + "\n" + json.dumps({"role": "assistant", "content": "done"}) + "\n")
    for text, said in (("go", ["m1    user: go"]), ("first", ["m1    user: first", "m2    user: go"])):
        prompt = write("prompt.txt", text)
        lines = vigil("abstract", run, "--explain", "--prompt", prompt).out.splitlines()
        assert lines[1:-1] == said
    kept = write("kept.jsonl", "")
    vigil("abstract", run, "--prompt", prompt, "-o", kept)
    again = vigil("abstract", kept, "--prompt", prompt, "--show-secrets").out
    assert again == kept.read_text(encoding="utf-8")


def test_a_header_can_have_it(vigil: Vigil, write: Write) -> None:
    policy = write("p.vgl", POLICY)
    run = write("run.jsonl", '{"vigil_trace":1,"prompt":"do b"}\n{"action":"b"}\n{"action":"b"}\n')
    assert judged(vigil, policy, run) == [("", "unsafe", ["s"])]
    alone = write("alone.jsonl", '{"vigil_trace":1,"prompt":"do b"}\n')
    assert "m1    user: do b" in vigil("abstract", alone, "--explain").out


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"vigil_trace":1,"prompt":1}\n{"action":"b"}\n', "VGL601"),
        ('{"vigil_trace":1,"prompt":"x"}\n{"action":"b"}\n{"event":"m0","action":"b"}\n', "VGL602"),
    ],
)
def test_a_header_that_cannot_have_it(vigil: Vigil, write: Write, text: str, code: str) -> None:
    result = vigil("abstract", write("run.jsonl", text))
    assert result.status == 2
    assert code in result.err


def test_a_prompt_that_cannot_be_read(vigil: Vigil, many: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, code in (("none", "VGL001"), ("bytes", "VGL002")):
        result = vigil("verify", *many, "--prompt", tmp_path / name)
        assert (result.status, code in result.err) == (2, True)


def test_many_clean_runs_are_told_in_a_line(vigil: Vigil, write: Write, tmp_path: Path) -> None:
    policy = write("p.vgl", POLICY)
    folder = tmp_path / "runs"
    folder.mkdir()
    for at in range(12):
        action = "b" if at == 6 else "a"
        (folder / f"{at:02}.jsonl").write_text(f'{{"action":"{action}"}}\n' * (at + 1), encoding="utf-8")

    def shown(name: str, *runs: Path) -> str:
        return vigil("verify", policy, *runs, "--no-check", "--statement", name).out

    lines = [line for line in shown("s", folder).splitlines() if line.startswith(("safe", "unsafe"))]
    heads = [line.split(" · ")[0] for line in lines]
    assert heads == ["safe    6 runs", f"unsafe  {folder}/06.jsonl", "safe    5 runs"]
    assert "21 events" in lines[0]
    assert shown("s", folder).splitlines()[-1] == "12 runs: 1 unsafe, 11 safe"
    assert len(judged(vigil, policy, folder)) == 12
    few = shown("s", folder / "00.jsonl", folder / "01.jsonl").splitlines()
    assert [line.startswith("safe ") for line in few[:2]] == [True, True]
    # What the verdicts rest on is told of all of them.
    assert "in 6 nothing the policies speak of happened" in " ".join(shown("asked", folder).split())
