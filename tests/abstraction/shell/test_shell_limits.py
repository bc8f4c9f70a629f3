"""Whatever the text: an answer within its limits, soon, and a word on what was left out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.abstraction.shell import ShellState, limits, read_shell

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 20
"""What each may take: they take well under one, but not where coverage is measured."""

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (lambda: "echo hi\n" * 1_250_000, "longer than 1,000,000 characters"),
        (lambda: "a;" * 100_000, "operators and keywords"),
        (lambda: "a " * 400_000, "words and pieces of words"),
        (lambda: "$(" * DEEP, "nested more than 40 deep"),
        (lambda: "(" * DEEP, "nested more than 40 deep"),
        (lambda: "(a;" * DEEP, "nested more than 40 deep"),
        (lambda: "$((" * DEEP, "nested more than 40 deep"),
        (lambda: "(( " * DEEP, "nested more than 40 deep"),
        (lambda: '"$(' * DEEP, "nested more than 40 deep"),
        (lambda: "${a:-" * DEEP, "nested more than 40 deep"),
        (lambda: "{ " * 2000, "not understood"),
        (lambda: "if a; then " * 60 + "b" + "; fi" * 60, "nested more than 40 deep"),
        (lambda: "`" * DEEP, "words and pieces of words"),
        (lambda: ")" * DEEP, "closes nothing"),
        (lambda: "(a) " * DEEP, "operators and keywords"),
        (lambda: "a <<E " * DEEP, "words and pieces of words"),
        (lambda: "echo {1..999999999}", "braces make more than 10,000 words"),
        (lambda: "for i in {1..999999999}; do a; done", "braces make more than 10,000 words"),
        (lambda: "echo a" + "{,}" * 30, "braces make more than 10,000 words"),
        (lambda: "echo " + "{a," * 5000 + "}" * 5000, "braces make more than 10,000 words"),
        (lambda: "echo " + "x" * 100_000 + "{1..9999}", "braces make more than 10,000 words"),
        (
            lambda: "".join(f"for {n} in {{1..10}}; do " for n in "abcde") + "x $a" + "; done" * 5,
            "loops of more than 1,000 turns",
        ),
        (lambda: "for ((i=0;i<1000000000;i++)); do x=$i; done", "loops of more than 1,000 turns"),
        (lambda: "a=xx;" + "a=$a$a;" * 100 + "echo $a", "a variable has more than 200,000 characters"),
        (lambda: "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }};" for i in range(40)) + "f0", "not followed more than 8"),
        (lambda: "f() { f; f; }; f", "is not followed more than 8 calls deep"),
        (lambda: "a=(" + "x " * 9000 + '); a=("${a[@]}" "${a[@]}")', "an array has more than 10,000 words"),
        (lambda: "a=" + "x" * 150_000 + "; " + "b $a;" * 50, "words expand to more than 1,000,000 characters"),
        (lambda: "a=" + "x" * 1900 + "; " + "b=${a//x*y/z};" * 500, "words expand to more than 1,000,000 characters"),
        (lambda: "for i in {1..900}; do a; b; c; done", "more than 2,000 commands"),
        (lambda: "f() { " + ": x;" * 1_500 + "}; f; f; f; f; f; f", "more than 2,000 commands"),
        (lambda: "for i in {1..900}; do " + "x=1;" * 50 + "done", "more than 10,000 statements"),
        (lambda: "f() {\n# " + "x" * 300_000 + "\n:\n}\n" + "f\n" * 8, "come to more than"),
        (lambda: "a=" + "x" * 100_000 + ";" + ("b=${a##*" + "*a" * 100 + "};") * 2, None),
        (lambda: "echo $((" + "(" * 1000 + "1" + ")" * 1000 + "))", "nested more than 40 deep"),
        (lambda: "echo $((" + "1+" * 100_000 + "1))", None),
        (lambda: "while a; do " * 30 + "b;" + " done;" * 30, None),
        (lambda: "trap a EXIT;" * 1000, "more than 20 traps"),
        (lambda: "cat <<'E' > f\n" + "line of text $x\n" * 60_000 + "E\n", None),
        (lambda: "".join(map(chr, range(1, 128))) * 3000, "not"),
    ],
)  # fmt: skip
def test_limits(text: Callable[[], str], trouble: str | None) -> None:
    written = text()
    started = time.process_time()
    reading = read_shell(written, ShellState(cwd="/r"))
    assert time.process_time() - started < SECONDS
    assert len(reading.commands) <= limits.MAX_COMMANDS
    assert len(reading.trouble) <= limits.MAX_TROUBLE
    if trouble is None:
        assert reading.trouble == ()
    else:
        assert any(trouble in told for told in reading.trouble), reading.trouble


def test_what_stands_before_a_limit_is_told_without_statuses() -> None:
    reading = read_shell("rm x; " + "$(" * DEEP, ShellState(cwd="/r"))
    assert [word.text for word in reading.commands[0].words] == ["rm", "x"]
    assert (reading.commands[0].if_ok, reading.commands[0].certain, reading.after.cwd) == ("unknown", False, None)
    assert len(reading.trouble) == 1


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("(a; ", ")"),
        ("a $(", ")"),
        ("{ a; ", "; }"),
        ("if a; then ", "; fi"),
        ("for i in 1; do a && ", "; done"),
        ('a "$(', ')"'),
    ],
)
def test_nesting_up_to_the_limit_is_read(opening: str, closing: str) -> None:
    times = 18 if '"' in opening else 35
    text = opening * times + "b" + closing * times
    reading = read_shell(text, ShellState(cwd="/r"))
    assert reading.trouble == ()
    assert len(reading.commands) > 10


SNIPPETS = st.sampled_from(
    [
        "a",
        "b",
        ";",
        "&",
        "&&",
        "\n",
        "(",
        ")",
        "{ ",
        " }",
        "if ",
        "then ",
        "fi",
        "else ",
        "for i in ",
        "do ",
        "done",
        "while ",
        "case x in ",
        "esac",
        ";;",
        "$(",
        "`",
        '"',
        "'",
        "\\",
        "${",
        "}",
        "$((",
        "))",
        "((",
        "<<E",
        "\nE\n",
        "<",
        ">",
        ">>",
        "2>&1",
        "<(",
        "[[ ",
        "]]",
        "f() ",
        "function ",
        "x=",
        "x=(",
        "$x",
        "*",
        "{1..3}",
        "{a,b}",
        "!",
        "time ",
        "coproc ",
        "eval ",
        "cd ",
        "#",
        "~",
        "é",
        "�",
        "select ",
        "until ",
        "in ",
        "elif ",
        "break",
        "continue",
        "return",
        "exit",
        "set -e",
        "read x",
        "trap ",
        "unset ",
        "export ",
        "local ",
        "%",
        ":",
        "-",
        "=",
        "/",
        "1",
        "[",
        "]",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(SNIPPETS, max_size=25).map("".join))
def test_any_text_is_read(text: str) -> None:
    reading = read_shell(text, ShellState(cwd="/r"))
    assert read_shell(text, ShellState(cwd="/r")) == reading
    for index, command in enumerate(reading.commands):
        assert command.words or command.redirects
        assert len(command.excerpt) <= 200
        assert command.piped_from is None or 0 <= command.piped_from < len(reading.commands)
        assert command.piped_from != index


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_characters_are_read(text: str) -> None:
    read_shell(text, ShellState(cwd=None))
