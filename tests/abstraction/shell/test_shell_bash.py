"""Words held against Bash itself, which is given nothing but `printf`, `set` and assignments to run."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.abstraction.shell import ShellState, read_shell

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")

SETUP = "A=abc.tar.gz; B='x y'; C=; D=/usr/lib/a.so; E=(p 'q r' s); F='a*b'; unset U; set -- one 'two 2' three; "

ATOMS = (
    "a", "b.c", "-x", "/", ",", ".", "=", ":", "%", "+", "#", "{", "}", "[", "]", "!", "^", "@", "'q q'", "'$A'",
    '"d d"', '"$A"', '"$B"', '"a\\"b\\$c\\d"', "\\ ", "\\$", "\\\\", "\\a", "\\\n", "$'a\\tb\\x41\\'\\u00e9'",
    "$A", "$B", "$C", "$D", "$U", "${A}", "${#A}", "${#E[@]}", "$#", "$1", "$2", '"$2"', "${A%.*}", "${A%%.*}",
    "${A#*.}", "${A##*.}", "${D##*/}", "${D%/*}", "${A/b/X}", "${A//[a-c]/_}", "${A/#a/Z}", "${A/%gz/Z}", "${A^^}",
    "${A^}", "${A,,}", "${A:1:2}", "${A:2}", "${A: -2}", "${A:1:-2}", "${U:-def}", "${C:-e f}", '"${C:-e f}"',
    "${C-x}", "${U:+y}", "${A:+y}", '"${A:+$B}"', "${E[0]}", "${E[1]}", '"${E[1]}"', "${E[@]}", '"${E[@]}"',
    '"x${E[@]}y"', '"${E[*]}"', '"$@"', "$@", '"$*"', "${E[@]:1:1}", '"${@:2}"', "${E[-1]}", "${A#'a'}", "{x,y}",
    "{x,$A}", "{1..3}", "{01..3}", "{c..a}", "{1..6..2}", "{a,{b,c}d}", "{a}", "{,z}", "{3..1}", "{-1..1}",
    "$((1+2*3))", "$(( (5 - 7) % 3 ))", "$((2**5))", "$((0x1f & 017))", '"$((10/3))"', "$((1<2?5:6))",
    "$(echo hi there)", '"$(echo hi there)"', "$(printf '%s-%s' a b)", "`echo x`", "$(basename /a/b.c .c)",
    "$(dirname /a/b)", "$(seq 1 3)", '\'a\'"b"c', '""', "''", "${A//./\\/}", '"${A//b/$B}"', "${U:-$A}",
    '"${U:-"$B"}"',
)  # fmt: skip


def words_of_bash(text: str) -> list[str]:
    script = f"set -f\n{SETUP}\nprintf '%s\\0' start {text} end"
    environment = {"LC_ALL": "C.UTF-8"}
    done = subprocess.run([str(BASH), "-c", script], capture_output=True, timeout=60, check=False, env=environment)
    return done.stdout.decode("utf-8", "replace").split("\0")[:-1] if done.returncode == 0 and not done.stderr else []


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map("".join), min_size=1, max_size=6))
def test_known_words_are_those_of_bash(words: list[str]) -> None:
    expected = words_of_bash(" ".join(words))
    if not expected:
        return  # Bash refuses it
    reading = read_shell(f"{SETUP}\nprintf '%s\\0' start {' '.join(words)} end", ShellState(cwd="/r"))
    found = reading.commands[-1].words[2:]
    if all(word.known for word in found):
        assert [word.text for word in found] == expected


@pytest.mark.parametrize("atom", ATOMS)
def test_each_of_them_alone(atom: str) -> None:
    expected = words_of_bash(atom)
    if not expected:
        return
    reading = read_shell(f"{SETUP}\nprintf '%s\\0' start {atom} end", ShellState(cwd="/r"))
    assert [word.text for word in reading.commands[-1].words[2:] if word.known] == expected
