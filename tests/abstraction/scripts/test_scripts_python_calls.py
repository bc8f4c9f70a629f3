"""Calls of libraries: qualified names, arguments, and where they come from."""

from __future__ import annotations

import pytest

from vigil_lang.abstraction.scripts import read_script
from vigil_lang.abstraction.step import Step


def calls(text: str, language: str = "python") -> list[Step]:
    """The steps of a script that has no commands."""
    found = read_script(language, text, cwd="/repo", name="-").steps
    assert all(isinstance(s, Step) for s in found)
    return [s for s in found if isinstance(s, Step)]


def functions(text: str) -> list[str]:
    """The qualified names of what a script calls."""
    return [s.roles["function"][0] for s in calls(text)]


def test_a_call_without_its_flux_errors() -> None:
    (call,) = calls("from transitleastsquares import transitleastsquares\nmodel = transitleastsquares(time, flux)\n")
    assert call == Step(
        "transitleastsquares",
        ("code.call",),
        {
            "function": ("transitleastsquares.transitleastsquares",),
            "nargs": ("2",),
            "arg1.name": ("time",),
            "arg2.name": ("flux",),
            "result.name": ("model",),
        },
        ("arg1", "arg2"),
        inferred=True,
        if_ok="ok",
        excerpt="model = transitleastsquares(time, flux)",
        line=2,
    )


def test_a_call_with_its_flux_errors() -> None:
    (call,) = calls("from astropy.timeseries import BoxLeastSquares\nBoxLeastSquares(t, f, dy=fe)")
    assert (call.action, call.roles["nargs"], call.roles["keyword"]) == ("BoxLeastSquares", ("3",), ("dy",))
    assert call.roles["dy.name"] == ("fe",)
    assert "dy" not in call.roles
    assert call.unresolved == ("arg1", "arg2", "dy")


def test_where_an_argument_comes_from() -> None:
    text = """import cv2
M, inliers = cv2.estimateAffinePartial2D(a, b)
cv2.warpAffine(prev, M[:2], (w, 480), flags=cv2.LINEAR)
"""
    estimate, warp = calls(text)
    assert estimate.roles["result.name"] == ("M", "inliers")
    assert warp.roles["arg2.from"] == ("cv2.estimateAffinePartial2D",)
    assert warp.roles["arg1.name"] == ("prev",)
    assert warp.roles["arg3"] == ("480",)
    assert warp.roles["flags.name"] == ("cv2.LINEAR",)
    assert warp.unresolved == ("arg1", "arg2", "arg3", "flags")


def test_through_a_function_of_the_script() -> None:
    text = "import cv2\ndef estimate(a):\n    M, _ = cv2.est(a)\n    return M, 1\nM, n = estimate(x)\ncv2.warp(M)\n"
    assert calls(text)[-1].roles["arg1.from"] == ("estimate", "cv2.est")
    either = "import cv2\ndef f():\n    if x:\n        return cv2.a()\n    return cv2.b()\ncv2.warp(f())"
    assert calls(either)[-1].roles["arg1.from"] == ("f", "cv2.a", "cv2.b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy as np\nnp.linalg.norm(x)", ["numpy.linalg.norm"]),
        ("import a.b.c\na.b.c.d()", ["a.b.c.d"]),
        ("from a import *\nf()", ["a.f"]),
        ("from a.b import Thing\nThing(1).go().stop()", ["a.b.Thing", "a.b.Thing.go", "a.b.Thing.go().stop"]),
        ("import a\nx = a.f()\nx.y.go()", ["a.f", "a.f().y.go"]),
        ("import a\na.f()['k'].go()", ["a.f", "a.f()[].go"]),
        ("import a\nfor x in a.f():\n    x.go()", ["a.f", "a.f()[].go"]),
        ("import a\nm = a.Model()\nm(1)", ["a.Model", "a.Model"]),
        ("try:\n    import a\nexcept ImportError:\n    a = None\na.f()", ["a.f"]),
        ("import importlib\nimportlib.import_module('a').f()", ["a.f"]),
        ("import a\ngetattr(a, 'f')()", ["a.f"]),
        ("from . import sibling\nsibling.f()", ["sibling.f"]),
        ("import a\n[x.go() for x in a.f()]", ["a.f", "a.f()[].go"]),
        ("import a\nxs = []\nfor x in y:\n    xs.append(a.f(x))\nfor x in xs:\n    x.go()", ["a.f", "a.f().go"]),
        ("import a\nd = {}\nfor x in y:\n    d[x] = a.f()\nfor k, v in d.items():\n    v.go()", ["a.f", "a.f().go"]),
    ],
)
def test_qualified_names(text: str, expected: list[str]) -> None:
    assert functions(text) == expected


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("'x'", "x"),
        ("6.0", "6"),
        ("-1", "-1"),
        ("True", "true"),
        ("b'x'", "x"),
        ("'a' + 'b' + str(1)", "ab1"),
        ("f'{N}.csv'", "5.csv"),
        ("'%s-%d' % ('a', N)", "a-5"),
        ("'{}/{k}'.format('a', k=N)", "a/5"),
        ("'{0}{0}'.format('a')", "aa"),
        ("'-' * 3", "---"),
        ("'/'.join(['a', 'b'])", "a/b"),
        ("' A '.strip().lower()", "a"),
        ("'a.b'.split('.')[1]", "b"),
        ("os.path.join('a', 'b')", "a/b"),
        ("os.path.basename('/a/b.c')", "b.c"),
        ("os.path.splitext('a.b')[0]", "a"),
        ("os.path.dirname(os.path.abspath('x/y'))", "/repo/x"),
        ("Path('a') / 'b'", "a/b"),
        ("Path('a/b.c').stem", "b"),
        ("Path('a/b.c').name", "b.c"),
        ("Path('a/b.c').suffix", ".c"),
        ("Path('a/b/c').parents[1]", "a"),
        ("Path('a').resolve()", "/repo/a"),
        ("Path.cwd() / 'a'", "/repo/a"),
        ("Path.home() / 'a'", "~/a"),
        ("Path('a/b').with_name('c')", "a/c"),
        ("str(Path('a'))", "a"),
        ("N - 1", "4"),
        ("N // 2", "2"),
        ("N % 2", "1"),
        ("N / 2", "2.5"),
        ("N * 2 + 1", "11"),
        ("int('3') + 1", "4"),
        ("float('2.50')", "2.5"),
        ("len('abc')", "3"),
        ("'y' if N > 3 else 'n'", "y"),
        ("None or 'd'", "d"),
        ("'a' and 'b'", "b"),
        ("(x := 'w')", "w"),
        ("{'k': 'v'}['k']", "v"),
        ("{'k': 'v'}.get('z', 'd')", "d"),
        ("dict(k='v')['k']", "v"),
        ("['a', 'b'][-1]", "b"),
        ("sorted(['b', 'a'])[0]", "a"),
        ("list(reversed(['b', 'a']))[0]", "a"),
        ("[i for i, c in enumerate('ab')][1]", "1"),
        ("[b for a, b in zip('ab', 'cd')][1]", "d"),
        ("[*['a'], 'b'][0]", "a"),
        ("{**{'a': 'x'}}['a']", "x"),
        ("{k: v for k, v in [('a', 'b')]}['a']", "b"),
        ("'a' in ['a']", "true"),
        ("'a' not in 'abc'", "false"),
        ("not N", "false"),
        ("shlex.quote('a b')", "'a b'"),
        ("shlex.split('a b')[1]", "b"),
        ("textwrap.dedent('  a')", "a"),
        ("(lambda q: q)('z')", "z"),
        ("os.sep", "/"),
        ("sys.argv[0]", "-"),
        ("__name__", "__main__"),
    ],
)
def test_the_value_of_an_argument(argument: str, expected: str) -> None:
    text = f"import a, os, sys, shlex, textwrap\nfrom pathlib import Path\nN = 5\na.f({argument})"
    step = calls(text)[-1]
    assert step.roles["arg1"] == (expected,)
    assert step.unresolved == ("effects",)


@pytest.mark.parametrize(
    "argument",
    [
        "x", "x + 'a'", "f'{x}.csv'", "'%5d' % 1", "'{:>5}'.format(1)", "x['a']", "1 < 2 < 3", "2 ** 3",
        "open", "1j", "1 / 0", "'a' * 10**6", "{'a': 1, 'b': 2}[k]", "sorted([2, x])[0]", "Path(x) / 'a'",
        "os.path.join(x, 'a')", "x is None", "int('x')", "range(x)", 'shlex.split(\'"\')', "'a'.join(x)",
        "str(x)", "input()", "'a' if x else 'b'",
    ],
)  # fmt: skip
def test_what_is_not_known_is_absent(argument: str) -> None:
    step = calls(f"import a, os, shlex\nfrom pathlib import Path\na.f({argument})")[-1]
    assert "arg1" not in step.roles
    assert step.unresolved == ("arg1", "effects")


def test_lists_and_mappings_are_flattened() -> None:
    (step,) = calls("import a\na.f(['x', ('y', 2)], {'k': {'l': 1}}, [p, 'q'], None, c=[])")
    assert step.roles["arg1"] == ("x", "y", "2")
    assert step.roles["arg2.k.l"] == ("1",)
    assert step.roles["arg3"] == ("q",)
    assert step.unresolved == ("arg3", "effects")


def test_arguments_that_are_spread() -> None:
    (step,) = calls("import a\na.f(*['x'], **{'k': 'v'})")
    assert (step.roles["arg1"], step.roles["k"], step.roles["nargs"]) == (("x",), ("v",), ("2",))
    (step,) = calls("import a\na.f(*xs, **kw)")
    assert "nargs" not in step.roles
    assert step.unresolved == ("nargs", "effects")


def test_names_of_arguments_and_results() -> None:
    text = "import a\nself.x = a.f(self.y.z, k=self.w)\nwith a.g() as h:\n    pass\nif (n := a.i()):\n    pass"
    first, second, third = calls(text)
    assert first.roles["arg1.name"] == ("self.y.z",)
    assert first.roles["k.name"] == ("self.w",)
    assert first.roles["result.name"] == ("self.x",)
    assert second.roles["result.name"] == ("h",)
    assert third.roles["result.name"] == ("n",)


def test_calls_of_functions_of_the_script() -> None:
    (step,) = calls(
        "def validate_output(target, schema=None):\n    return True\nvalidate_output('mask.csr', schema='csr')"
    )
    assert step.action == "validate_output"
    assert step.roles["target"] == step.roles["arg1"] == ("mask.csr",)
    assert step.roles["schema"] == ("csr",)
    made, method = calls("class Net:\n    def fit(self, epochs):\n        pass\nNet().fit(3)")
    assert (made.action, method.action) == ("Net", "fit")
    assert method.roles["function"] == ("Net.fit",)
    assert method.roles["epochs"] == ("3",)


def test_an_async_function_runs_where_it_is_awaited() -> None:
    text = "import asyncio, a\nasync def main():\n    x = await a.get('u')\n    a.use(x)\nasyncio.run(main())"
    assert functions(text) == ["main", "a.get", "a.use"]
    assert calls(text)[-1].roles["arg1.from"] == ("a.get",)
    assert [s.if_ok for s in calls(text)] == ["ok", "unknown", "unknown"]
