"""Places of keys and values agree with what tomllib reads."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.project.positions import NoTomlError, Place, TooDeepError, locate

DOCUMENTS = [
    "",
    "a = 1",
    "# only a comment",
    "title = \"TOML\" # end\r\n[owner]\r\nname.first = 'x'\r\ndob = 1979-05-27T07:32:00-08:00\r\n",
    'a = """one "quoted" ""two"" \\\n  three"""""\nb = \'\'\'it\'s \'\'two\'\'\'\'\'\n',
    '"" = 1\n\'quoted "key"\' = 2\n"esc\\u0061ped" = 3\n1234 = 4\n3.14 = 5\n',
    "a = [1, [2, [3, {x = 4}]], # five\n 'six',\n]\nb = []\nc = {}\n",
    "p = {x = 1, y.z = [2], 'w' = {v = 3}}\n",
    "[[a]]\nb = 1\n[a.c]\nd = 2\n[[a.e]]\nf = 3\n[[a.e]]\n[[a]]\nb = 4\n",
    "[ a . 'b' ]\nc . \"d\" = 1\n[a]\ne = 2\n",
    "a = 1979-05-27 07:32:00.5\nb = 07:32:00\nc = -0.1e-5\nd = +inf\ne = 0xdead_beef\nf = true\n",
    "a = 'x' # ] } = [\nb = '#' # x\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_a_document(text: str) -> None:
    agree(text, tomllib.loads(text), locate(text))


def agree(text: str, value: object, place: Place) -> None:
    """The place has the members of the value, and what is written at a scalar's place is that scalar."""
    match value:
        case dict():
            assert list(place.members) == list(value)
            for name, member in value.items():
                inner = place.members[name]
                written = text[slice(*inner.key)]
                assert tomllib.loads(f"{written} = 1") == {name: 1}
                agree(text, member, inner)
        case list():
            assert len(place.items) == len(value)
            for item, inner in zip(value, place.items, strict=True):
                agree(text, item, inner)
        case _:
            assert tomllib.loads(f"x = {text[slice(*place.value)]}")["x"] == value


scalars = st.one_of(
    st.integers(-(10**6), 10**6), st.booleans(), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
)
names = st.text(st.sampled_from("ab-_1 .\"'#é"), max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)


def written(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return quoted(value)
        case list():
            return "[" + ",\n ".join(map(written, value)) + (", # ]\n]" if value else "]")
        case dict():
            return "{" + ", ".join(f"{quoted(name)} = {written(inner)}" for name, inner in value.items()) + "}"
    raise AssertionError(value)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.dictionaries(names, values, max_size=3), st.dictionaries(names, values, max_size=3))
def test_any_document(top: dict[str, Any], inner: dict[str, Any]) -> None:
    lines = [f"{quoted(name)} = {written(value)}" for name, value in top.items()]
    lines += ["[table.'x']", *(f"\t{quoted(name)}={written(value)} # {{" for name, value in inner.items())]
    text = "\n".join(lines)
    agree(text, tomllib.loads(text), locate(text))


@given(st.text(st.sampled_from("a1.=[]{}\"'\\#,\n \r\t-"), max_size=40))
def test_what_tomllib_reads_is_located(text: str) -> None:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with suppress(NoTomlError, TooDeepError):
            locate(text)
    else:
        agree(text, value, locate(text))
