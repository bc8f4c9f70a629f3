"""What stays known of values: through containers, branches, classes and modules."""

from __future__ import annotations

import pytest

from vigil_lang.abstraction.scripts import read_script
from vigil_lang.abstraction.step import Spawn, Step, Word


def shown(text: str, language: str = "python", **given) -> tuple[str, ...]:
    """The texts of the first argument of the last call of `a.f`; ``?`` is added where there may be others."""
    name = "/repo/run.py" if language == "python" else "/repo/run.js"
    found = [
        s
        for s in read_script(language, text, cwd="/repo", name=name, **given).steps
        if isinstance(s, Step) and s.roles.get("function") == ("a.f",)
    ]
    step = found[-1]
    return (*step.roles.get("arg1", ()), *(["?"] if "arg1" in step.unresolved else []))


PYTHON = [
    ("x = []\nx.append('p')\nx.extend(['q'])\na.f(x)", ["p", "q"]),
    ("x = []\nfor i in y:\n    x.append('p')\na.f(x)", ["p", "?"]),
    ("x = ['q']\nx.insert(0, 'p')\na.f(x)", ["q", "p", "?"]),
    ("x = ['p']\nx.pop()\na.f(x)", ["p", "?"]),
    ("x = ['p', 'q']\nx[1] = 'r'\na.f(x)", ["p", "r"]),
    ("x = ['p', 'q'][::2]\na.f(x)", ["p", "q", "?"]),
    ("x = ['p'].copy()\na.f(x)", ["p"]),
    ("x = ['p']\nx.foo()\na.f(x)", ["p"]),
    ("x = ['p'] + ['q']\na.f(x)", ["p", "q"]),
    ("x = ['p'] + y\na.f(x)", ["p", "?"]),
    ("x = ['p'] * 2\na.f(x)", ["p", "p"]),
    ("x = ['p'] * 1000000000\na.f(x)", ["p", "?"]),
    ("x = set()\nx.add('p')\na.f(x)", ["p"]),
    ("x = {}\nx['k'] = 'p'\na.f(x['k'])", ["p"]),
    ("x = {'k': 'p'}\nx.update({'k': 'q'})\na.f(x['k'])", ["q"]),
    ("x = {'k': 'p'}\nx.update(y)\na.f(x.get('z', 'd'))", ["?"]),
    ("x = {'k': 'p'}.copy()\na.f(x.get('k'))", ["p"]),
    ("x = {'k': 'p'}\nx.popitem()\na.f(x.pop('k'))", ["p"]),
    ("x = {'k': 'p'}\na.f(list(x.values()))", ["p"]),
    ("x = {'k': 'p'}\na.f(list(x.keys()))", ["k"]),
    ("x = {'k': 'p'} | {'l': 'q'}\na.f(x['l'])", ["q"]),
    ("x = {'k': lambda: 'p'}\na.f(x.k())", ["p"]),
    ("x = {y: 'p'}\na.f(x[z])", ["p"]),
    ("x = {'k': 'p'}\nif y:\n    x['k'] = 'q'\na.f(x['k'])", ["?"]),
    ("x = {'a': 'p', **y}\na.f(x['a'])", ["p"]),
    ("x = [i for i in ['p', 'q'] if i != 'p']\na.f(x)", ["q"]),
    ("x = [i for i in ['p', 'q'] if y]\na.f(x)", ["p", "q", "?"]),
    ("x = [i + j for i in 'pq' for j in 'rs']\na.f(x)", ["?"]),
    ("x = {i: 'v' for i in ['p'] if y}\na.f(x['p'])", ["v"]),
    ("def g():\n    yield 'p'\na.f(g())", ["?"]),
    ("def g(n):\n    if n:\n        return 'p'\na.f(g(y))", ["?"]),
    ("def g(n):\n    if n:\n        return 'p'\n    return 'q'\na.f(g(1))", ["p"]),
    ("def g():\n    return ('p', 'q')\nx, y = g()\na.f(y)", ["q"]),
    ("x, *y = 'p', 'q', 'r'\na.f(y)", ["q", "r"]),
    ("x, y = z\na.f(y)", ["?"]),
    ("(x, y), z = ('p', 'q'), 'r'\na.f(y)", ["q"]),
    ("x = y = 'p'\na.f(y)", ["p"]),
    ("x: str = 'p'\na.f(x)", ["p"]),
    ("x = 1\nx += 2\na.f(x)", ["3"]),
    ("x = 'p'\nx -= y\na.f(x)", ["?"]),
    ("x = 'p'\ndef g():\n    global x\n    x = 'q'\ng()\na.f(x)", ["q"]),
    ("x = 'p'\ndef g():\n    global x\n    x = 'q'\nif y:\n    g()\na.f(x)", ["?"]),
    ("def g():\n    x = 'p'\n    def h():\n        nonlocal x\n        x = 'q'\n    h()\n    a.f(x)\ng()", ["q"]),
    ("x = 'p' if y else 'p'\na.f(x)", ["p"]),
    ("x = ('p', 'q') if y else ('p', 'r')\na.f(x)", ["p", "?"]),
    ("x = ['p'] if y else ['p', 'q']\na.f(x)", ["?"]),
    ("x = y or 'p'\na.f(x)", ["?"]),
    ("x = y and 'p'\na.f(x)", ["?"]),
    ("match y:\n    case 1:\n        x = 'p'\n    case _:\n        x = 'p'\na.f(x)", ["p"]),
    ("for x in ['p', 'q']:\n    pass\nelse:\n    y = x\na.f(y)", ["q"]),
    ("for x in ['p', 'q']:\n    if z:\n        break\na.f(x)", ["?"]),
    ("while False:\n    pass\nelse:\n    x = 'p'\na.f(x)", ["p"]),
    ("while z:\n    x = 'p'\nelse:\n    x = 'q'\na.f(x)", ["q"]),
    ("while True:\n    x = 'p'\n    break\na.f(x)", ["p"]),
    ("for x in z:\n    continue\n    y = 1\na.f('p')", ["p"]),
    ("try:\n    x = 'p'\nexcept OSError as e:\n    x = 'q'\nelse:\n    x = 'r'\na.f(x)", ["?"]),
    ("try:\n    x = 'p'\nfinally:\n    x = 'q'\na.f(x)", ["q"]),
    ("class C:\n    def __enter__(self):\n        return 'p'\n    def __exit__(self, *e):\n        pass\n"
     "with C() as x:\n    a.f(x)", ["p"]),
    ("class C:\n    def __call__(self, x):\n        return x\na.f(C()('p'))", ["p"]),
    ("class C:\n    @classmethod\n    def g(cls, x):\n        return x\na.f(C.g('p'))", ["p"]),
    ("class B:\n    def __init__(self, x):\n        self.x = x\nclass C(B):\n    def __init__(self):\n"
     "        super().__init__('p')\na.f(C().x)", ["p"]),
    ("from dataclasses import dataclass\n@dataclass\nclass C:\n    x: str = 'p'\na.f(C(x='q').x)", ["q"]),
    ("class C(a.Base):\n    pass\nC().go()\na.f(C().x)", ["?"]),
    ("class C:\n    x = 'p'\nC.x = 'q'\na.f(C.x)", ["q"]),
    ("class C:\n    pass\nc = C()\nsetattr(c, 'x', 'p')\na.f(c.x)", ["p"]),
    ("a.f(list(map(lambda x: x + '!', ['p', 'q'])))", ["p!", "q!"]),
    ("a.f(list(filter(lambda x: x, ['p'])))", ["p", "?"]),
    ("a.f(sorted(['p'], key=lambda x: x))", ["p", "?"]),
    ("a.f(list(reversed(y)))", ["?"]),
    ("a.f([i for i, _ in enumerate(y)])", ["?"]),
    ("a.f([i for i, _ in zip(y, z)])", ["?"]),
    ("a.f(dict([('k', 'p')]))", ["?"]),
    ("a.f(list())", []),
    ("a.f(len(y))", ["?"]),
    ("a.f(len({'k': 1}) + len(['p']))", ["2"]),
    ("a.f(list(range(1, 6, 2)))", ["1", "3", "5"]),
    ("a.f(list(range(1000000))[0])", ["?"]),
    ("a.f(int('x') if y else float('z'))", ["?"]),
    ("a.f('a b'.split())", ["a", "b"]),
    ("a.f('a\\nb'.splitlines())", ["a", "b"]),
    ("a.f('a-b'.split('-', 1))", ["?"]),
    ("a.f('x'.encode())", ["x"]),
    ("a.f('x'.index('y'))", ["?"]),
    ("a.f('x'.strip(1))", ["?"]),
    ("a.f('x'.startswith('x', 0, 1, 2))", ["?"]),
    ("a.f('%s%%' % 'p')", ["p%"]),
    ("a.f('p' < 'q')", ["true"]),
    ("a.f(2 >= 3)", ["false"]),
    ("a.f('p' < 3)", ["?"]),
    ("a.f('k' in {'k': 1})", ["true"]),
    ("a.f(y in 'p')", ["?"]),
    ("a.f(None is None)", ["true"]),
    ("a.f([] is not None)", ["true"]),
    ("a.f('p' != 'q')", ["true"]),
    ("a.f(1.5 - 0.5)", ["1"]),
    ("a.f(10**30 - 1)", ["?"]),
    ("a.f(1e400)", ["inf"]),
    ("a.f(not [])", ["true"]),
    ("a.f(not {})", ["true"]),
    ("a.f(Path('x').exists)", ["?"]),
    ("a.f(Path('p/q').parts)", ["p", "q"]),
    ("a.f(Path('p').relative_to('q'))", ["?"]),
    ("a.f(Path(y).parent)", ["?"]),
    ("a.f(Path('p').expanduser().as_posix())", ["p"]),
    ("a.f(str(Path(y)))", ["?"]),
    ("a.f('p' / Path('q'))", ["p/q"]),
    ("a.f(Path('p') / y)", ["?"]),
    ("a.f(os.path.abspath(y))", ["?"]),
    ("a.f(os.path.basename(y))", ["?"]),
    ("a.f(os.getcwd())", ["/repo"]),
    ("a.f(shlex.quote(y))", ["?"]),
    ("a.f(shlex.split(y))", ["?"]),
    ("a.f(__file__)", ["/repo/run.py"]),
    ("a.f((yield_ for yield_ in ['p']))", ["p"]),
    ("from tqdm import tqdm\nfor x in tqdm(['p']):\n    a.f(x)", ["p"]),
    ("import runpy\nrunpy.run_path('other.py')\na.f('p')", ["p"]),
    ("import runpy\nm = runpy.run_path('m.py')\na.f('p')", ["p"]),
    ("from m import *\na.f(x)", ["from m"]),
    ("from pkg import m as n\na.f(n.x)", ["from pkg.m"]),
    ("import pkg.m\na.f(pkg)", ["?"]),
    ("from os.path import *\na.f(join('p', 'q'))", ["p/q"]),
    ("del x\nassert y, 'z'\na.f('p')", ["p"]),
    ("x = 'p'\ndef g(x=x):\n    return x\na.f(g())", ["p"]),
    ("def g(x):\n    return x\na.f(g(*['p']))", ["p"]),
    ("def g(**k):\n    return k['x']\na.f(g(x='p'))", ["p"]),
    ("def g(*, x='p'):\n    return x\na.f(g())", ["p"]),
    ("def g(x):\n    return x\na.f(g())", ["?"]),
    ("from functools import partial\nf = partial(y)\na.f(f())", ["?"]),
    ("x = {'k': 'p'}\nfor k, v in x.items():\n    a.f(v)", ["p"]),
    ("x = sorted(Path('d').glob('*'))\nx.sort()\nx.index(1)\na.f(x[0])", ["d/*"]),
    ("x = 'p'\nx.join(y)\na.f(','.join(['p', f'{y}']))", ["?"]),
    ("a.f('{'.format())", ["?"]),
    ("a.f(('p' * 60000).replace('p', 'q' * 9))", ["?"]),
    ("a.f('p'.replace('p'))", ["?"]),
    ("x = [y]\nx[0].go()\na.f(*z, 'p')", ["p"]),
    ("x = getattr(y, z)\na.f('p')", ["p"]),
    ("[f'{y}', 'p'][0].split('/')\na.f(f'{y}/x'.strip())", ["?"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PYTHON)
def test_python(text: str, expected: list[str]) -> None:
    files = {"/repo/m.py": "x = 'from m'", "/repo/pkg/m.py": "x = 'from pkg.m'", "/repo/pkg/__init__.py": ""}
    start = "import a, os, shlex\nfrom pathlib import Path\n"
    assert shown(start + text, files=files.get) == tuple(expected)


JAVASCRIPT = [
    ("const x = ['p']; x.push('q'); a.f(x)", ["p", "q"]),
    ("const x = ['q']; x.unshift('p'); a.f(x)", ["q", "p", "?"]),
    ("const x = ['p'].concat(['q']); a.f(x)", ["p", "?"]),
    ("a.f(['p', 'q'].map(x => x + '!'))", ["p!", "q!"]),
    ("a.f(['p', 'q'].find(x => y))", ["?"]),
    ("a.f(['p'].find(x => y))", ["p"]),
    ("a.f(['p', 'q'].includes('p'))", ["true"]),
    ("a.f(['p', 'q'].filter(x => y))", ["p", "q", "?"]),
    ("a.f(['p'].sort())", ["p", "?"]),
    ("a.f(['p'].join(y))", ["?"]),
    ("const m = new Map(); m.set('k', 'p'); a.f(m.get('k'))", ["p"]),
    ("const m = new Map(); m.set('k', 'p'); m.delete('k'); a.f([...m.values()])", ["p", "?"]),
    ("const m = new Map(); m.set(y, 'p'); a.f(m.get(z))", ["p"]),
    ("a.f(Array.from(new Set(['p'])))", ["p"]),
    ("for (const [k, v] of Object.entries({p: 'q'})) a.f(k + v)", ["pq"]),
    ("const o = {k: 'p', ...{l: 'q'}}; a.f(o.l)", ["q"]),
    ("const o = {k: 'p', ...y}; a.f(o.k)", ["p"]),
    ("const o = {'k-l': 'p', m() { return 'q' }}; a.f(o['k-l'] + o.m())", ["pq"]),
    ("const o = {k: 'p'}; o.k = 'q'; o.l = 'r'; a.f(o.k)", ["q"]),
    ("function g(x, y = 'p', ...z) { return y + z[0] } a.f(g(1, undefined, 'q'))", ["?"]),
    ("function g(x, y = 'p') { return y } a.f(g(1))", ["p"]),
    ("const g = function () { return this }; a.f(g.call(null))", ["?"]),
    ("const g = x => x; a.f(g.bind(null)('p'))", ["p"]),
    ("const g = (x) => { return x }; a.f(g('p'))", ["p"]),
    ("let x = 'p'; if (y) { x = 'q' } else { x = 'q' } a.f(x)", ["q"]),
    ("let x; if (y) x = 'p'; a.f(x)", ["?"]),
    ("let x = 0; x++; a.f(x)", ["?"]),
    ("let x = 1; x += 2; a.f(x)", ["3"]),
    ("let [x = 'p', y] = []; a.f(x)", ["?"]),
    ("a.f(null ?? 'p')", ["p"]),
    ("a.f(false || 'p')", ["p"]),
    ("a.f('x' && 'p')", ["p"]),
    ("a.f(y?.z)", ["?"]),
    ("a.f(await Promise.resolve('p'))", ["p"]),
    ("a.f(parseInt('7'))", ["7"]),
    ("a.f(`${1.0}${true}${null}`)", ["1truenull"]),
    ("a.f('p'.toString())", ["p"]),
    ("a.f(/x/.test('x'))", ["?"]),
    ("a.f(typeof x)", ["?"]),
    ("a.f((1, 'p'))", ["?"]),
    ("label: for (;;) { break } a.f('p')", ["p"]),
    ("while (true) { if (x) { break } } a.f('p')", ["p"]),
    ("class A { static s = 'p'; get g() { return 1 } } a.f(A.s)", ["p"]),
    (
        "class B { constructor(x) { this.x = x } } class A extends B { constructor() { super('p') } } a.f(new A().x)",
        ["p"],
    ),
    ("export const x = 'p'; export default class A {} ; a.f(x)", ["p"]),
    ("export default 'p'; export * from './y'; a.f('q')", ["q"]),
    ("import './side.js'; a.f('p')", ["p"]),
    ("import * as m from './m.js'; a.f(m.x)", ["from m"]),
    ("import m from './m.js'; a.f(m)", ["default of m"]),
    ("const {x} = require('./m'); a.f(x)", ["from m"]),
    ("function* g() { yield 1 } a.f(g())", ["?"]),
    ("a.f(String.raw`p`)", ["?"]),
    ("a.f(process.cwd())", ["/repo"]),
    ("a.f(new URL('https://a.org'))", ["https://a.org/"]),
    ("a.f(__dirname)", ["/repo"]),
    ("throw new Error('x')\n", []),
]


@pytest.mark.parametrize(("text", "expected"), JAVASCRIPT[:-1])
def test_javascript(text: str, expected: list[str]) -> None:
    files = {"/repo/m.js": "export const x = 'from m'; export default 'default of m'"}
    assert shown("import a from 'a';\n" + text, "javascript", files=files.get) == tuple(expected)


def test_places_of_argparse() -> None:
    text = (
        "import argparse, a\np = argparse.ArgumentParser()\ng = p.add_argument_group('x')\n"
        "g.add_argument('--n', type=int, dest='count')\np.add_argument('--many', nargs='+')\n"
        "p.add_argument('first')\np.add_argument('rest', nargs='*')\n"
        "args, _ = p.parse_known_args()\na.f([args.count, args.first, args.rest, args.many])"
    )

    def given(line: str) -> tuple[str, ...]:
        return shown(text, arguments=tuple(map(Word, line.split())))

    assert given("--n 3 one two") == ("3", "one", "two")
    assert given("--n=4 one --many a b") == ("4", "one", "?")
    assert given("--n") == ("?",)
    assert given("--n x one") == ("one", "?")
    assert given("") == ("?",)
    assert shown("import argparse, a\np = argparse.ArgumentParser()\np.add_argument('x', nargs='?', default='d')\n"
                 "a.f(p.parse_args(['e']).x)") == ("e",)  # fmt: skip


def test_commands_of_javascript_and_python_with_a_directory() -> None:
    def spawns(language: str, text: str) -> list[Spawn]:
        return [s for s in read_script(language, text, cwd="/repo", name="x").steps if isinstance(s, Spawn)]

    (found,) = spawns("python", "import subprocess\nsubprocess.run(['ls'], cwd='sub')")
    excerpt, scripts = "subprocess.run(['ls'], cwd='sub')", ("/repo/x",)
    assert found == Spawn((Word("ls", quoted=True),), None, "/repo/sub", True, excerpt, 2, scripts=scripts)
    (found,) = spawns("javascript", "require('child_process').execSync('ls', {cwd: 'sub'})")
    assert (found.shell, found.cwd, found.line) == ("ls", "/repo/sub", 1)
    (found,) = spawns("python", "import os, subprocess\nos.chdir('d')\nsubprocess.run(['ls'])")
    assert found.cwd == "/repo/d"
    assert spawns("python", "import subprocess\nsubprocess.run()") == []
    (found,) = spawns("python", "import subprocess\nsubprocess.run(args=['ls', *x], shell=False)")
    assert [w.text for w in found.argv] == ["ls", "${__value}"]
    (found,) = spawns("python", "import subprocess\nsubprocess.run(cmd, shell=True)")
    assert found.shell == "${__cmd}"
    (found,) = spawns("python", "import subprocess\nsubprocess.run(['a', x], shell=True)")
    assert found.shell == "a ${__x}"
