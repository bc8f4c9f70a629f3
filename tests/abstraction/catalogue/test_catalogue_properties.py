"""Whatever the words, a command is read: no exception, every known word accounted for, the same twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.abstraction.catalogue import names, read_command
from vigil_lang.abstraction.step import Word

_ODD = (
    "- -- --help --version -rf -xzf -i -e -c -m -o -C -t --x=1 a.txt dir/ ../up /abs ~/h . .. ; + {} ::: A=b x= = @f"
    " push commit clone -exec -delete https://h.example/p u@h.example:p *.py user host: +x -1 -n5 [ ] ! ( )"
)
_TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(_ODD.split()))
_WORDS = st.builds(Word, _TEXTS, st.booleans() | st.just(True), st.booleans(), st.booleans())
_HEADS = st.one_of(st.deferred(lambda: st.sampled_from(names())).map(Word), _WORDS)
_CWD = st.sampled_from([None, "/repo", "~", "."])


@given(_HEADS, st.lists(_WORDS, max_size=8), _CWD, st.booleans())
def test_any_words(head: Word, rest: list[Word], cwd: str | None, piped: bool) -> None:
    words = (head, *rest)
    invocation = read_command(words, cwd, piped)
    step = invocation.step
    assert step.kinds[0] == "process.run"
    assert len(set(step.kinds)) == len(step.kinds)
    assert step.roles["argv"] == tuple(word.text for word in words if word.known)
    assert all(isinstance(text, str) for texts in step.roles.values() for text in texts)
    assert all(step.roles.values()) or step.roles["argv"] == ()
    assert read_command(words, cwd, piped) == invocation


@given(st.sampled_from(["cat", "rm", "no-such-program", "ls", "touch"]), st.lists(_WORDS, max_size=8))
def test_every_known_operand_is_an_argument(name: str, rest: list[Word]) -> None:
    plain = [word for word in rest if word.known and word.text[:1] not in ("-", "/", "~", ".", "+", "$")]
    arguments = read_command((Word(name), Word("--"), *rest), "/repo").step.roles.get("argument", ())
    assert [text for text in arguments if text in {word.text for word in plain}] == [word.text for word in plain]


@given(st.lists(_WORDS, min_size=1, max_size=8))
def test_unknown_words_are_told(rest: list[Word]) -> None:
    step = read_command((Word("rm"), Word("--"), *rest), "/repo").step
    assert ("path" in step.unresolved) == any(not word.known or "\0" in word.text or not word.text for word in rest)


def test_no_words() -> None:
    assert read_command((), "/repo").step.kinds == ("process.run",)


@pytest.mark.slow
@pytest.mark.unmeasured
def test_long_commands_are_read_in_time() -> None:
    many = tuple(Word(f"-{n % 7}{n}=" if n % 3 else f"a{n}/b.c") for n in range(50_000))
    for name in ("cp", "git", "no-such-program", "find", "bash", "xargs", "python"):
        read_command((Word(name), *many), "/repo")
