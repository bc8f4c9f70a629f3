"""What Python scripts do to files, the network and processes."""

from __future__ import annotations

import pytest

from vigil_lang.abstraction.scripts import read_script
from vigil_lang.abstraction.step import Spawn, Step, Word


def steps(
    text: str, *, name: str = "/repo/run.py", arguments: tuple[Word, ...] = (), files: dict[str, str] | None = None
):
    """The steps of a script that runs in /repo."""
    return read_script("python", text, cwd="/repo", name=name, arguments=arguments, files=(files or {}).get).steps


def effects(text: str, **given) -> list[str]:
    """Each effect as ``kind path``, with ``?`` for what is not known; commands as ``$ word word``."""
    found = []
    for step in steps(text, **given):
        if isinstance(step, Spawn):
            found.append("$ " + (step.shell or " ".join(w.text if w.known else f"<{w.text}>" for w in step.argv)))
            continue
        for kind in step.kinds:
            if kind != "code.call":
                subject = next((step.roles[r] for r in ("path", "archive", "target", "url") if r in step.roles), ("?",))
                found.append(f"{kind} {' '.join(subject)}")
    return found


def one(text: str) -> Step:
    """The last step of a script."""
    found = steps(text)[-1]
    assert isinstance(found, Step)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open('a.txt').read()", ["file.read /repo/a.txt"]),
        ("open('a.txt', 'w')", ["file.write /repo/a.txt"]),
        ("open('a.txt', mode='wb')", ["file.write /repo/a.txt"]),
        ("open('a.txt', 'a')", ["file.append /repo/a.txt"]),
        ("open('a.txt', 'r+')", ["file.edit /repo/a.txt"]),
        ("open('a.txt', how)", []),
        ("open('/dev/null', 'w')", []),
        ("open(p)", ["file.read ?"]),
        ("import io\nio.open('a', 'x')", ["file.write /repo/a"]),
        ("import gzip\ngzip.open('a.gz')", ["file.read /repo/a.gz"]),
        ("from pathlib import Path\nPath('a').unlink()", ["file.delete /repo/a"]),
        ("from pathlib import Path\n(Path('d') / 'a.txt').write_text('x')", ["file.write /repo/d/a.txt"]),
        ("from pathlib import Path\nPath('d', 'a').with_suffix('.md').read_text()", ["file.read /repo/d/a.md"]),
        ("from pathlib import Path\nPath(__file__).parent.joinpath('x').open('w')", ["file.write /repo/x"]),
        (
            "from pathlib import Path\nfor p in Path('d').glob('*.txt'):\n    p.unlink()",
            ["file.search /repo/d", "file.delete /repo/d/*.txt"],
        ),
        (
            "from pathlib import Path\nPath('a').rename('b')",
            ["file.move /repo/b", "file.delete /repo/a", "file.write /repo/b"],
        ),
        ("import os\nos.remove('../x')", ["file.delete /x"]),
        ("import os\nos.makedirs(os.path.join('a', 'b'))", ["dir.create /repo/a/b"]),
        ("import os\nos.path.exists('a')", ["file.stat /repo/a"]),
        ("import os\nos.chdir('sub')\nopen('f')", ["dir.change /repo/sub", "file.read /repo/sub/f"]),
        ("import os\nif x:\n    os.chdir('sub')\nopen('f')", ["dir.change /repo/sub", "file.read ?"]),
        (
            "import shutil\nshutil.copy('a', 'b')",
            ["file.copy /repo/b", "file.read /repo/a", "file.write /repo/b"],
        ),
        ("import shutil as s\ns.rmtree('build')", ["file.delete /repo/build"]),
        (
            "from shutil import move as mv\nmv('a', dst='b')",
            ["file.move /repo/b", "file.delete /repo/a", "file.write /repo/b"],
        ),
        ("import zipfile\nzipfile.ZipFile('a.zip', 'w')", ["archive.create /repo/a.zip", "file.write /repo/a.zip"]),
        (
            "import tarfile\nwith tarfile.open('a.tgz') as t:\n    t.extractall('out')",
            [
                "archive.list /repo/a.tgz",
                "file.read /repo/a.tgz",
                "archive.extract /repo/a.tgz",
                "file.write /repo/out",
            ],
        ),
        ("import subprocess\nsubprocess.run(['git', 'push', '-f'])", ["$ git push -f"]),
        ("import subprocess\nsubprocess.run('ls | wc', shell=True)", ["$ ls | wc"]),
        ("import subprocess as sp\nsp.check_call(['cp', src, 'b'])", ["$ cp <${__src}> b"]),
        ("import subprocess\nsubprocess.Popen(f'rm {x}/a', shell=True)", ["$ rm ${__x}/a"]),
        ("import subprocess, sys\nsubprocess.run([sys.executable, 'a.py'])", ["$ python3 a.py"]),
        ("import subprocess\nsubprocess.run(['a'] + more)", ["$ a <${__value}>"]),
        ("import subprocess\nsubprocess.run(['ls'], cwd=where)", ['$ cd "${__cwd}" && ls']),
        ("import os\nos.system('make')", ["$ make"]),
        ("import os\nos.execvp('ls', ['ls', '-l'])", ["$ ls -l"]),
        ("import os\nos.execlp('ls', 'ls', '-l')", ["$ ls -l"]),
        ("import requests\nrequests.get('https://a.org/x')", ["net.request https://a.org/x"]),
        ("import requests\ns = requests.Session()\ns.post('https://a.org', data=d)", ["net.upload https://a.org"]),
        (
            "import urllib.request\nurllib.request.urlretrieve('http://a/b', 'c')",
            ["net.download /repo/c", "file.write /repo/c"],
        ),
        ("import pandas as pd\npd.read_csv('https://a.org/x.csv')", ["net.request https://a.org/x.csv"]),
        (
            "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.sort_values('x').to_csv('b.csv')",
            ["file.read /repo/a.csv", "file.write /repo/b.csv"],
        ),
        (
            "import sqlite3\nc = sqlite3.connect('a.db')\nc.cursor().execute('DROP TABLE t')",
            ["file.read /repo/a.db", "db.write ?"],
        ),
        (
            "from pathlib import Path\nx = sorted(Path('d').iterdir())\nx.pop().unlink()",
            ["dir.list /repo/d", "file.delete /repo/d/*"],
        ),
        (
            "from pathlib import Path\nfor i, x in enumerate(sorted(Path('d').iterdir())[:3]):\n    x.unlink()",
            ["dir.list /repo/d", "file.delete /repo/d/*"],
        ),
        ("import os\nlist(map(os.remove, ['a', 'b']))", ["file.delete /repo/a", "file.delete /repo/b"]),
        ("import atexit, os\natexit.register(os.remove, 'a')", ["file.delete /repo/a"]),
        ("import os\nfrom multiprocessing import Pool\nPool().map(os.remove, ['a'])", ["file.delete /repo/a"]),
        ("import smtplib\ns = smtplib.SMTP('h')\ns.sendmail('a', 'b@c', 'hi')", ["net.connect ?", "message.send ?"]),
        ("import sqlite3\nsqlite3.connect('a.db').execute('select 1')", ["file.read /repo/a.db", "db.query ?"]),
        ("import os\nos.environ['TOKEN']", ["env.read ?"]),
        ("import os\nos.environ['A'] = 'b'", ["env.set ?"]),
        ("import numpy as np\nnp.savez('m.npz', a=b)", ["file.write /repo/m.npz"]),
        (
            "from PIL import Image\nImage.open('a.png').convert('L').save('b.png')",
            ["file.read /repo/a.png", "file.write /repo/b.png"],
        ),
        ("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig.savefig('f.png')", ["file.write /repo/f.png"]),
        ("from dotenv import load_dotenv\nload_dotenv('.env')", ["secret.read /repo/.env", "file.read /repo/.env"]),
        ("exec(\"import os\\nos.remove('a')\")", ["code.run ?", "file.delete /repo/a"]),
        ("!rm -rf build\n%cd src\nopen('a')", ["$ rm -rf build", "dir.change /repo/src", "file.read /repo/src/a"]),
        ("%%bash\nls\n", ["$ ls\n"]),
        ("import json\nwith open('a.json') as f:\n    d = json.load(f)", ["file.read /repo/a.json"]),
        ("import pandas as pd\npd.read_csv(open('a.csv'))", ["file.read /repo/a.csv"]),
        ("import tempfile\nd = tempfile.mkdtemp()\nopen(d + '/x', 'w')", ["file.write ?"]),
    ],
)
def test_an_effect(text: str, expected: list[str]) -> None:
    assert effects(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "import math, re, json, datetime, collections\nmath.sqrt(2)\nre.sub('a', 'b', x)\njson.dumps(x)\n"
        "datetime.datetime.now().isoformat()\ncollections.Counter(x).most_common(3)\nprint(len(x), sorted(y))",
        "'a,b'.split(',')\n[1].append(2)\n{}.update(a=1)\nx.foo()\n",
        "def edit(p):\n    open(p, 'w').write('x')\n",
        "class A:\n    def edit(self):\n        open('x', 'w')\n",
        "import os\nif False:\n    os.remove('a')",
        "if __name__ != '__main__':\n    open('a', 'w')",
        "'''open('a', 'w')'''",
    ],
)
def test_nothing_happens(text: str) -> None:
    assert steps(text) == ()


def test_a_function_that_edits_is_no_edit_until_it_is_called() -> None:
    text = """
def modify_nml(nml_path, params):
    with open(nml_path, 'r') as f:
        content = f.read()
    with open(nml_path, 'w') as f:
        f.write(content.replace('a', 'b'))
"""
    assert effects(text) == []
    called = text + "\nmodify_nml('glm3.nml', {'Kw': 0.5, 'ch': '0.0013'})\n"
    assert effects(called) == ["file.read /repo/glm3.nml", "file.write /repo/glm3.nml"]
    call = steps(called)[0]
    assert call == Step(
        "modify_nml",
        ("code.call",),
        {
            "function": ("modify_nml",),
            "nargs": ("2",),
            "arg1": ("glm3.nml",),
            "arg2.Kw": ("0.5",),
            "arg2.ch": ("0.0013",),
            "nml_path": ("glm3.nml",),
            "params.Kw": ("0.5",),
            "params.ch": ("0.0013",),
            "from_script": ("/repo/run.py",),
        },
        inferred=True,
        if_ok="ok",
        excerpt="modify_nml('glm3.nml', {'Kw': 0.5, 'ch': '0.0013'})",
        line=8,
    )


def test_an_archive_is_made_and_its_source_deleted() -> None:
    text = """
import sys
import zipfile
from pathlib import Path

def secure(name, password):
    source = Path(name)
    target = source.with_suffix(".zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zf:
        zf.setpassword(password.encode())
        zf.write(source, arcname=source.name)
    source.unlink()
    print("done")

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(2)
    secure(sys.argv[1], "secret")
"""
    assert effects(text, arguments=(Word("numbers.xlsx"),)) == [
        "archive.create /repo/numbers.zip",
        "file.write /repo/numbers.zip",
        "archive.create /repo/numbers.xlsx",
        "file.read /repo/numbers.xlsx",
        "file.delete /repo/numbers.xlsx",
    ]
    assert {s.if_ok for s in steps(text, arguments=(Word("numbers.xlsx"),))} == {"ok"}
    assert effects(text) == []
    unknown = effects(text, arguments=(Word("$FILE", known=False),))
    assert unknown[0] == "archive.create ?"
    assert unknown[-1] == "file.delete ?"


def test_what_is_written_is_known_only_if_all_of_it_is() -> None:
    assert steps("with open('a', 'w') as f:\n    f.write('x')\n    f.write('y')")[0].content == "xy"
    assert steps("open('a', 'w').close()")[0].content == ""
    assert steps("with open('a', 'w') as f:\n    f.write('x')\n    f.write(y)")[0].content is None
    assert steps("with open('a', 'w') as f:\n    if c:\n        f.write('x')")[0].content is None
    assert steps("import json\nwith open('a', 'w') as f:\n    json.dump(d, f)")[0].content is None
    assert steps("open('a', 'a').write('x')")[0].content is None
    assert one("from pathlib import Path\nPath('a').write_text('x')").content == "x"


def test_what_a_saved_workbook_was_opened_as() -> None:
    save = one("import openpyxl\nwb = openpyxl.load_workbook('a.xlsx', data_only=True)\nwb.save('b.xlsx')")
    assert save.roles["of.data_only"] == ("true",)
    assert save.roles["source"] == save.roles["of.path"] == ("/repo/a.xlsx",)
    assert save.roles["path"] == ("/repo/b.xlsx",)
    assert save.roles["function"] == ("openpyxl.Workbook.save",)
    apart = """from openpyxl import load_workbook as lw
values = lw('a.xlsx', data_only=True)
wb = lw('a.xlsx')
wb.save('a.xlsx')
"""
    assert "of.data_only" not in one(apart).roles
    new = one("from openpyxl.workbook import Workbook\nwb = Workbook()\nwb.save('n.xlsx')")
    assert "source" not in new.roles
    assert new.kinds == ("code.call", "file.write")


def test_the_environment() -> None:
    assert one("import os\nos.getenv('HOME')").roles["variable"] == ("HOME",)
    assert one("import os\nx = os.environ['HOME']").line == 2
    assert effects("import os, subprocess\nsubprocess.run(['ls', os.environ['DATA']])") == [
        "env.read ?",
        "$ ls <${DATA}>",
    ]


def test_a_command_line_of_argparse() -> None:
    text = """
import argparse
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("-o", "--out-file", default="out.csv", type=Path)
parser.add_argument("--force", action="store_true")
args = parser.parse_args()
open(args.source)
if args.force:
    args.out_file.write_text("x")
"""
    words = tuple(map(Word, ("in.csv", "--force")))
    assert effects(text, arguments=(*words, Word("-o"), Word("b.csv")))[-1] == "file.write /repo/b.csv"
    assert effects(text, arguments=words[:1]) == ["file.read /repo/in.csv"]
    assert effects(text, arguments=(Word("$X", known=False),)) == ["file.read ?", "file.write ?"]
    assert effects(text, arguments=(Word("--odd"),)) == ["file.read ?", "file.write ?"]


def test_a_module_of_its_own_is_followed() -> None:
    files = {"/repo/helpers.py": "import os\nos.remove('old')\ndef save(p):\n    open(p, 'w')\n"}
    text = "from helpers import save\nimport helpers\nsave('a')\nhelpers.save('b')"
    assert effects(text, files=files) == ["file.delete /repo/old", "file.write /repo/a", "file.write /repo/b"]
    assert steps(text, files=files)[0].excerpt == "helpers.py:2: os.remove('old')"
    assert steps(text, files=files)[0].line is None
    assert effects("import sys\nsys.path.insert(0, 'lib')\nimport m", files={"/repo/lib/m.py": "open('z')"}) == [
        "file.read /repo/z"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open('a')", "ok"),
        ("if x:\n    open('a')", "unknown"),
        ("if True:\n    open('a')", "ok"),
        ("try:\n    open('a')\nexcept OSError:\n    pass", "unknown"),
        ("import sys\ntry:\n    open('a')\nexcept OSError:\n    sys.exit(1)", "ok"),
        ("try:\n    pass\nfinally:\n    open('a')", "ok"),
        ("for x in y:\n    open('a')", "unknown"),
        ("for x in ['a']:\n    open(x)", "ok"),
        ("while x:\n    open('a')", "unknown"),
        ("x and open('a')", "unknown"),
        ("open('a') if x else None", "unknown"),
        ("[open('a') for x in y]", "unknown"),
        ("def f():\n    if x:\n        return\n    open('a')\nf()", "unknown"),
        ("import sys\nif x:\n    sys.exit(1)\nopen('a')", "ok"),
        ("import sys\nif x:\n    sys.exit()\nopen('a')", "unknown"),
        ("if x:\n    raise ValueError\nopen('a')", "ok"),
        ("def f():\n    if x:\n        return\nf()\nopen('a')", "ok"),
        ("import sys\ndef f():\n    if x:\n        sys.exit(0)\nf()\nopen('a')", "unknown"),
        ("import contextlib\nwith contextlib.suppress(OSError):\n    open('a')", "unknown"),
        ("async def main():\n    open('a')\nimport asyncio\nasyncio.run(main())", "unknown"),
        ("def f(p):\n    open(p)\nlist(map(f, ['a']))", "unknown"),
    ],
)
def test_what_happens_whenever_the_script_ends_well(text: str, expected: str) -> None:
    found = [s for s in steps(text) if isinstance(s, Step) and "file.read" in s.kinds]
    assert [s.if_ok for s in found] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "def f(p):\n    open(p)\n",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as e:\n    e.submit(f, 'a')",
        "import threading\nthreading.Thread(target=f, args=('a',)).start()",
        "list(map(f, ['a']))",
        "[f(p) for p in ('a',)]",
        "g = lambda: f('a')\ng()",
        "from functools import partial\npartial(f, 'a')()",
        "{'x': f}['x']('a')",
        "class C:\n    def __init__(self, p):\n        self.p = p\n    def go(self):\n        f(self.p)\nC('a').go()",
        "class C:\n    @property\n    def p(self):\n        return 'a'\nf(C().p)",
        "class B:\n    def go(self):\n        f(self.where)\nclass C(B):\n    where = 'a'\nC().go()",
        "class C:\n    @staticmethod\n    def go(p):\n        f(p)\nC.go('a')",
        "def g(*args, **kw):\n    f(*args, **kw)\ng('a')",
        "def g(p='a'):\n    f(p)\ng()",
    ][1:],
)
def test_ways_of_calling(text: str) -> None:
    assert effects("def f(p):\n    open(p)\n" + text) == ["file.read /repo/a"]


def test_code_after_the_end_does_not_run() -> None:
    assert effects("import sys\nsys.exit()\nopen('a')") == []
    assert effects("def f():\n    return\n    open('a')\nf()") == []
    assert effects("raise SystemExit\nopen('a')") == []


def test_a_loop_over_known_items_is_unrolled() -> None:
    assert effects("for n in ['a', 'b']:\n    open(f'{n}.txt', 'w')") == [
        "file.write /repo/a.txt",
        "file.write /repo/b.txt",
    ]
    assert effects("for i in range(3):\n    open('same')") == ["file.read /repo/same"]
    assert effects("for n in ['a', 'b', 'c']:\n    if n == 'b':\n        break\n    open(n)") == ["file.read /repo/a"]
    assert effects("import os\nfor n in os.listdir('d'):\n    os.remove(n)") == [
        "dir.list /repo/d",
        "file.delete /repo/*",
    ]


def test_a_variable_that_a_loop_changes_is_not_known() -> None:
    assert effects("p = 'a'\nfor x in y:\n    open(p)\n    p = x") == ["file.read ?"]
    assert effects("p = 'a'\nif x:\n    p = 'b'\nopen(p)") == ["file.read ?"]
    assert effects("p = 'a'\nif x:\n    q = 'b'\nopen(p)") == ["file.read /repo/a"]
    assert effects("last = None\nfor x in y:\n    if last is not None:\n        open('a')\n    last = x") == [
        "file.read /repo/a"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fileinput.input('f', inplace=True)", ["file.edit /repo/f"]),
        ("fileinput.input('f', True)", ["file.edit /repo/f"]),
        ("fileinput.FileInput(['f', 'g'], inplace=1)", ["file.edit /repo/f /repo/g"]),
        ("fileinput.input('f', inplace=False)", ["file.read /repo/f"]),
        ("fileinput.input('f')", ["file.read /repo/f"]),
    ],
)
def test_files_edited_in_place(text: str, expected: list[str]) -> None:
    assert effects("import fileinput\n" + text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shutil.rmtree(os.environ['HOME'])", ["env.read ?", "file.delete ~"]),
        ("shutil.rmtree(os.environ.get('HOME', '/root'))", ["env.read ?", "file.delete ~"]),
        ("os.remove(os.getenv('HOME') + '/x')", ["env.read ?", "file.delete ~/x"]),
        ("os.remove(f'{os.environ[\"HOME\"]}/x')", ["env.read ?", "file.delete ~/x"]),
        ("os.remove(os.path.join(os.getenv('HOME'), 'x'))", ["env.read ?", "file.delete ~/x"]),
        ("(Path(os.getenv('HOME')) / 'x').unlink()", ["env.read ?", "file.delete ~/x"]),
        ("(Path.home() / 'x').unlink()", ["file.delete ~/x"]),
        ("os.remove(os.path.expanduser('~/x'))", ["file.delete ~/x"]),
        ("os.remove(os.getenv('OUT'))", ["env.read ?", "file.delete ?"]),
    ],
)
def test_the_home_directory(text: str, expected: list[str]) -> None:
    assert effects("import os, shutil\nfrom pathlib import Path\n" + text) == expected


def test_the_home_directory_as_a_word_of_a_command() -> None:
    (_, found) = steps("import os, subprocess\nsubprocess.run(['rm', '-rf', os.environ['HOME']])")
    assert isinstance(found, Spawn)
    assert found.argv == (Word("rm", quoted=True), Word("-rf", quoted=True), Word("~"))


@pytest.mark.parametrize(
    ("given", "expected"), [("input='abc'", "abc"), ("input=b'abc'", "abc"), ("input=x", None), ("text=True", None)]
)
def test_what_a_command_is_given_to_read(given: str, expected: str | None) -> None:
    (found,) = steps(f"import subprocess\nsubprocess.run(['cat'], {given})")
    assert isinstance(found, Spawn)
    assert found.stdin == expected


@pytest.mark.parametrize(
    "filling",
    [
        "for k in names():\n    items[k].append(k)",
        "for k in names():\n    items['a'].append(k)",
        "library.fill(items)",
        "library.fill(items['a'])",
        "fill(items=[items])",
        "heapq.heappush(items['a'], x)",
        "library.fill(Holder(items))",
    ],
)
def test_a_list_that_begins_empty_and_is_filled_elsewhere_is_gone_through(filling: str) -> None:
    text = f"""
import os, heapq, library
class Holder:
    def __init__(self, items):
        self.items = items
items = {{"a": []}}
{filling}
for x in items["a"]:
    os.remove(x)
"""
    last = one(text)
    assert (last.action, last.unresolved, last.if_ok) == ("remove", ("arg1", "path"), "unknown")


@pytest.mark.parametrize("between", ["", "print(items)", "json.dumps(items)", "shutil.rmtree(items)"])
def test_a_list_that_stays_empty_is_not(between: str) -> None:
    text = f"import os, json, shutil\nitems = []\n{between}\nfor x in items:\n    os.remove(x)"
    assert [s.action for s in steps(text) if isinstance(s, Step) and s.action == "remove"] == []


def test_a_method_of_something_of_which_nothing_is_known() -> None:
    found = steps("import torch\nfor m in models:\n    m.encoder.load_state(path)\n    m.name.strip().append(1)")
    assert [s.roles["function"] for s in found if isinstance(s, Step)] == [("?.load_state",)]
    assert steps("import os\nfor m in models:\n    m.encoder.load_state(path)") == ()
