"""What names refer to is what they refer to when policies are given their meaning, whatever hides what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from written import Project, shared

from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.meanings import Scope, Values
from vigil_lang.syntax import tree
from vigil_lsp.mentions import Symbol, path_of

if TYPE_CHECKING:
    import pytest

    from vigil_lsp.names import Names

WORDS = ("a", "b", "c", "d", "x")
words = st.sampled_from(WORDS)


@st.composite
def sets(draw: st.DrawFn) -> str:
    parts = draw(
        st.lists(words | st.lists(words, max_size=2).map(lambda e: f"{{{', '.join(e)}}}"), min_size=1, max_size=2)
    )
    return " | ".join(parts)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> str:
    inner = conditions(depth - 1) if depth else words
    match draw(st.integers(0, 9 if depth else 6)):
        case 0 | 1:
            return f"f {draw(st.sampled_from(('=', '=', 'contains', '!=', '~', '<')))} {draw(words)}"
        case 2:
            return f"f in {draw(sets())}"
        case 3:
            return f"action in {draw(sets())}"
        case 4:
            return f"action = {draw(words)}"
        case 5:
            return f"action ~ {draw(words)}"
        case 6:
            return draw(words)
        case 7:
            return f"({draw(inner)} and {draw(inner)})"
        case _:
            return f"{draw(words)}({', '.join(draw(st.lists(words | inner, max_size=2)))})"


@st.composite
def declarations(draw: st.DrawFn, name: str) -> str:
    match draw(st.integers(0, 5)):
        case 0:
            return f"let {name} = {draw(sets())}"
        case 1:
            return f"let {name} = {draw(st.sampled_from(('3', chr(34) * 2)))}"
        case 2:
            return f"param {name}: set = {draw(sets())}"
        case _:
            params = draw(st.lists(words, max_size=2, unique=True))
            return f"pattern {name}{f'({chr(44).join(params)})' if params else ''} = {draw(conditions())}"


@st.composite
def projects(draw: st.DrawFn) -> dict[str, str]:
    own, used = draw(st.lists(words, max_size=3, unique=True)), draw(st.lists(words, max_size=3, unique=True))
    lib = [draw(declarations(name)) for name in used]
    main = [draw(declarations(name)) for name in own if name not in used]
    wanted = draw(st.lists(st.sampled_from(used), unique=True)) if used else []
    head = ["use .lib: " + ", ".join(wanted) if wanted else "use .lib"]
    statements = [f"statement S{i}: abs({draw(conditions())})" for i in range(3)]
    return {"lib.vgl": "\n".join(lib), "main.vgl": "\n".join([*head, *main, *statements])}


@settings(deadline=None, max_examples=400)
@given(texts=projects())
def test_statements_look_up_what_they_mention(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    project = Project(shared(tmp_path_factory), texts)
    names, module = project.names, project["main.vgl"].module
    for item in module.file.items:
        if isinstance(item, tree.Statement):
            found: list[object] = []
            looks = Conditions(Values({}), found.append)
            looks.start()
            try:
                condition = looks.condition(item.form.args[0], Scope(module))
            except Failed:
                continue
            looked_up = {(path_of(where), name) for where, name in looks.terms.used}
            declared, variables, ignores = _mentioned(names, Symbol("statement", item.name.text, path_of(module)))
            assert declared == looked_up, texts
            required = set(core.variables_of(condition))
            # A variable may be given to a pattern that does nothing with it.
            assert required <= variables if ignores else required == variables, texts


def _mentioned(names: Names, statement: Symbol) -> tuple[set[tuple[str, str]], set[str], bool]:
    """What a statement, and what it rests on, mentions: declared names by the file they stand in, and variables.

    Third: whether some pattern among them does not mention one of its parameters.
    """
    declared: set[tuple[str, str]] = set()
    variables: set[str] = set()
    parameters: dict[Symbol, int] = {}
    pending, seen = [statement], {statement}
    while pending:
        owner = pending.pop()
        for module, mention in names.everywhere():
            if mention.owner != owner:
                continue
            if mention.symbol.kind == "parameter":
                parameters[mention.symbol] = parameters.get(mention.symbol, 0) + 1
            if mention.role == "declaration":
                continue
            if mention.symbol.kind == "variable":
                variables.add(mention.symbol.name)
            elif mention.symbol.kind in ("pattern", "let", "param"):
                declared.add((path_of(module), mention.symbol.name))
                if mention.symbol not in seen:
                    seen.add(mention.symbol)
                    pending.append(mention.symbol)
    return declared, variables, 1 in parameters.values()
