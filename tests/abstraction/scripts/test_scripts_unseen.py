"""What a script does is told by a step, or the script is marked: no way of writing it passes in silence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.abstraction.scripts import parsed, read_script
from vigil_lang.abstraction.step import ScriptReading, Spawn, Step
from vigil_lang.trace.unseen import leaves_open

HERE = Path(__file__).parent
NO_EFFECT = {"code.call", "system.read"}


def ways(name: str) -> list[str]:
    """The scripts of a file, one a line, with ``\\n`` for the end of a line."""
    return [line.replace("\\n", "\n") for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line]


def read(language: str, text: str) -> ScriptReading:
    return read_script(language, text, cwd="/repo", name="-c")


def has_effect(reading: ScriptReading) -> bool:
    return any(isinstance(s, Spawn) or not set(s.kinds) <= NO_EFFECT for s in reading.steps)


def is_marked(reading: ScriptReading) -> bool:
    return bool(reading.unseen) or any(isinstance(s, Step) and leaves_open(s.unresolved) for s in reading.steps)


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_no_way_to_do_something_is_silent(language: str) -> None:
    found = ways(f"ways_{language}.txt")
    assert len(found) > 350
    readings = [(text, read(language, text)) for text in found]
    assert [text for text, reading in readings if not has_effect(reading) and not is_marked(reading)] == []


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_nothing_that_depends_on_the_name_of_a_file_that_was_found_is_silent(language: str) -> None:
    for text in ways(f"searched_{language}.txt"):
        reading = read(language, text)
        assert is_marked(reading) or any("file.delete" in getattr(s, "kinds", ()) for s in reading.steps), text


PURE = [
    "import json, re; print(json.dumps(re.findall('a', 'b')))",
    "import numpy as np; a = np.array([1, 2]).reshape(2, 1); print(a.mean(), np.sqrt(a).tolist())",
    "import pandas as pd; d = pd.DataFrame({'a': [1]}); print(d.groupby('a').sum().sort_values('a').head())",
    "import matplotlib.pyplot as plt; fig, ax = plt.subplots(); ax.plot([1]); ax.set_title('a'); plt.tight_layout()",
    "import openpyxl; w = openpyxl.Workbook(); s = w.active; s.cell(1, 1).value = 2; s.append([1]); s['A1'].font",
    "from collections import Counter, defaultdict; c = Counter('ab'); d = defaultdict(list); d['a'].append(c)",
    "from datetime import datetime, timedelta; print((datetime.now() - timedelta(days=1)).strftime('%Y'))",
    "import itertools, functools, math; print(functools.reduce(lambda a, b: a + b, itertools.chain([1], [2])))",
    "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nprint(A(1).x)",
    "class A:\n    def go(self): return 1\nprint([a.go() for a in [A(), A()]])",
    "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nprint(f(5), sorted([3, 1], key=lambda x: -x))",
    "import sys\ntry:\n    print(int(sys.argv[1]))\nexcept ValueError as e:\n    print(f'no: {e!r}')\n    sys.exit(1)",
    "f = int if x else float\nprint(f('1'))",
]
PURE_JS = [
    "const a = [1, 2].map(x => x * 2).filter(Boolean); console.log(JSON.stringify({ a }), a.join(','))",
    "const path = require('path'); console.log(path.join('a', 'b'), Object.keys({ a: 1 }), Math.max(1, 2))",
    "class A { constructor(x) { this.x = x } go() { return this.x.trim().split(',') } } console.log(new A('a').go())",
    "import * as THREE from 'three'; const m = new THREE.Matrix4(); m.multiply(m).invert(); console.log(m.elements)",
]


@pytest.mark.parametrize(
    ("language", "text"), [("python", t) for t in PURE] + [("javascript", t) for t in PURE_JS], ids=str
)
def test_what_only_computes_is_not_marked(language: str, text: str) -> None:
    reading = read(language, text.replace("if x else", "if input() else"))
    assert reading.unseen == ()
    assert not is_marked(reading)


def test_ordinary_scripts_are_not_marked() -> None:
    found = ways("ordinary_python.txt")
    assert len(found) > 80
    readings = [(text, read("python", text)) for text in found]
    assert [(text, reading.unseen) for text, reading in readings if reading.unseen] == []


@pytest.mark.parametrize(
    "text", ["/p/x", "~/x", "./x", "../x/y", "http://h/x", "module://evil", "a.__class__", "open('x')"]
)
def test_what_only_computes_has_no_use_for_a_file_an_address_or_code(text: str) -> None:
    assert is_marked(read("python", f"import sympy; sympy.anything({text!r})"))
    assert not is_marked(read("python", "import sympy; sympy.anything('x/y and a/b')"))


NAMES = ["read_x", "write_x", "loadx", "save_x", "tofile", "from_file", "XFile", "openX", "dump", "export_x", "fetch_x"]


@pytest.mark.parametrize(
    "name", [*NAMES, "downloadX", "imread_x", "load_xFromY", "print_svg", "from_x_path", "main", "test"]
)
def test_a_function_of_a_package_that_is_called_after_what_it_does_is_not_passed_over(name: str) -> None:
    assert is_marked(read("python", f"import scipy.stats; scipy.stats.{name}(x)"))


EFFECTS = {
    "python": [
        "__import__('os').remove('/p/x')",
        "__import__('subprocess').run(['rm', '/p/x'])",
        "open('/p/.env').read()",
        "unknown('/p/x')",
        "eval(text)",
    ],
    "javascript": [
        "require('fs').rmSync('/p/x')",
        "require('child_process').execSync('rm /p/x')",
        "require('fs').readFileSync('/p/.env')",
        "unknown('/p/x')",
        "eval(text)",
    ],
}
WRAPPERS = {
    "python": [
        "def f{n}():\n{inner}\nf{n}()",
        "def f{n}(g=lambda: {expr}):\n    g()\nf{n}()",
        "for i{n} in range(2):\n{inner}",
        "for i{n} in things:\n{inner}",
        "while more():\n{inner}",
        "if maybe{n}:\n{inner}",
        "try:\n{inner}\nexcept Exception:\n    pass",
        "try:\n    pass\nfinally:\n{inner}",
        "with context() as c{n}:\n{inner}",
        "class C{n}:\n    def go(self):\n        return {expr}\nC{n}().go()",
        "class C{n}:\n    def __del__(self):\n        {expr}\nC{n}()",
        "x{n} = [lambda: {expr}]\nx{n}[0]()",
        "x{n} = {{'a': lambda: {expr}}}\nx{n}[key]()",
        "import functools\nfunctools.partial(lambda: {expr})()",
        "list(map(lambda _: {expr}, [1]))",
        "sorted([1], key=lambda _: {expr})",
        "def g{n}():\n    yield {expr}\nlist(g{n}())",
        "x{n} = 1 and ({expr})",
        "pad = 1\n" * 300 + "{expr}",
        "h{n} = (lambda k: k())(lambda: {expr})",
        "import json\njson.loads('{{}}', object_hook=lambda d: {expr})",
    ],
    "javascript": [
        "function f{n}() {{ {expr} }} f{n}()",
        "const f{n} = () => {expr}; f{n}()",
        "(async () => {{ {expr} }})()",
        "for (const i of [1, 2]) {{ {expr} }}",
        "while (more()) {{ {expr} }}",
        "if (maybe) {{ {expr} }}",
        "try {{ {expr} }} catch (e) {{ }}",
        "[1].forEach(() => {expr})",
        "setTimeout(() => {{ {expr} }}, 1)",
        "class C{n} {{ go() {{ {expr} }} }} new C{n}().go()",
        "const o{n} = {{ get x() {{ {expr} }} }}; o{n}.x",
        "const o{n} = {{ a: () => {expr} }}; o{n}[key]()",
        "Promise.resolve(1).then(() => {expr})",
        "const x{n} = `${{{expr}}}`",
        "let pad = 1;\n" * 300 + "{expr}",
    ],
}


@st.composite
def wrapped(draw: st.DrawFn, language: str) -> str:
    """A call with an effect inside any number of functions, loops, containers and padding."""
    expr = draw(st.sampled_from(EFFECTS[language]))
    text = expr
    for n in range(draw(st.integers(0, 20))):
        wrapper = draw(st.sampled_from(WRAPPERS[language]))
        if "{inner}" in wrapper:
            text = wrapper.format(n=n, inner="\n".join("    " + line for line in text.split("\n")), expr=expr)
        elif text == expr or "\n" not in text:
            text = wrapper.format(n=n, inner="", expr=text)
        else:
            name = f"w{n}"
            inner = "\n".join("    " + line for line in text.split("\n"))
            text = f"def {name}():\n{inner}\n" + wrapper.format(n=n, inner="", expr=f"{name}()")
    return text


@settings(max_examples=60, deadline=None)
@given(wrapped("python"))
def test_a_wrapped_effect_of_python_is_seen_or_marked(text: str) -> None:
    reading = read("python", text)
    assert has_effect(reading) or is_marked(reading)


@st.composite
def wrapped_javascript(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(EFFECTS["javascript"]))
    for n in range(draw(st.integers(0, 20))):
        wrapper = draw(st.sampled_from(WRAPPERS["javascript"]))
        if "\n" in text or ";" in text or text.startswith(("for", "while", "if", "try", "class", "const", "function")):
            text = f"(() => {{ {text} }})()"
        text = wrapper.format(n=n, expr=text)
    return text


@settings(max_examples=60, deadline=None)
@given(wrapped_javascript())
def test_a_wrapped_effect_of_javascript_is_seen_or_marked(text: str) -> None:
    reading = read("javascript", text)
    assert has_effect(reading) or is_marked(reading)


@pytest.mark.parametrize("depth", [1, 5, 11, 12, 13, 30, 90])
def test_functions_that_call_each_other_however_deep(depth: int) -> None:
    text = "import os\ndef f0():\n    os.remove('/p/x')\n"
    text += "".join(f"def f{i}():\n    f{i - 1}()\n" for i in range(1, depth)) + f"f{depth - 1}()"
    reading = read("python", text)
    assert has_effect(reading) or is_marked(reading)


@pytest.mark.parametrize("count", [1, 500, 4000, 70_000])
def test_an_effect_behind_any_number_of_statements(count: int) -> None:
    reading = read("python", "x = 1\n" * count + "import os\nos.remove('/p/x')")
    assert has_effect(reading) or is_marked(reading)


SPREADS = {
    "python list": ("python", "a = [1]\n" + "a = [*a, *a]\n" * 60 + "open(a[0])"),
    "python arguments": ("python", "def f(*a): return a\nx = f(1)\n" + "x = f(*x, *x)\n" * 60),
    "python mapping": ("python", "a = {}\n" + "".join(f"a = {{**a, 'k{i}': 1}}\n" for i in range(4000))),
    "python nested": ("python", "x = [[]] * 256\n" + "x = [x] * 256\n" * 8 + "import a\na.f(x)"),
    "python joined": ("python", "x=[1]*99;y=[2]*99\n" + "x=[x]*99;y=[y]*99\n" * 30 + "z = x if q else y\n" * 40),
    "python texts": ("python", "a = 'x' * 60000\n" + "".join(f"b{i} = a + '{i}'\n" for i in range(3000))),
    "python dicts": ("python", "d = {}\n" + "d = {'a': d, 'b': d}\n" * 20000 + "import a\na.f(d)\n" * 400),
    "python lists": ("python", "x = [1]\n" + "x = [x, x]\n" * 40000),
    "python zip": ("python", "a = list(range(256))\n" + "b = list(zip(" + "a," * 200 + "))\n" * 100),
    "javascript array": ("javascript", "let a = [1];" + "a = [...a, ...a];" * 60),
    "javascript arguments": ("javascript", "let a = [1];" + "a = [...a, ...a];" * 9 + "Math.max(...a, ...a);" * 900),
    "javascript object": ("javascript", "let a = {};" + "".join(f"a = {{...a, k{i}: 1}};" for i in range(4000))),
    "javascript push": ("javascript", "let x = [];" + "x.push(...x, 1);" * 3000),
}


@pytest.mark.unmeasured
@pytest.mark.unmeasured
@pytest.mark.parametrize("name", SPREADS)
def test_what_a_script_builds_is_bounded(name: str) -> None:
    start = time.process_time()
    read(*SPREADS[name])
    assert time.process_time() - start < 10


def test_a_script_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[str] = []
    translate = parsed._translated
    monkeypatch.setattr(parsed, "_translated", lambda language, text: times.append(text) or translate(language, text))
    text = "print('a script that no other test has')"
    assert [read("python", text) for _ in range(300)] == [read("python", text)] * 300
    assert times == [text]


def test_the_trees_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MAX_KEPT", 100)
    for n in range(20):
        read("python", f"x = {n}" + " " * 20)
    assert sum(len(text) for _, text in parsed._kept) <= 100


def test_the_environment_as_a_whole_is_read() -> None:
    for language, text in (("python", "import os; print(os.environ)"), ("javascript", "console.log(process.env)")):
        assert any("env.read" in s.kinds for s in read(language, text).steps if isinstance(s, Step))


def test_a_class_that_is_made_of_too_many_others() -> None:
    text = "import os\nclass C0:\n    def go(self): os.remove('/p/x')\n"
    text += "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 200)) + "C199().go()"
    reading = read("python", text)
    assert has_effect(reading) or is_marked(reading)
