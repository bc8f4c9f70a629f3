"""The text of a file that runs is known only where nothing may have given it another."""

from __future__ import annotations

import pytest
from abstraction_support import abstracted, bash, ok

_FOLLOWED = [
    "f.write('echo a\\n')",
    "f.writelines(['echo', ' a\\n'])",
    "print('echo', 'a', file=f)",
    "print('echo a', end='\\n', file=f)",
    "f.write('echo a'); f.flush(); f.write('\\n')",
    "f.write('echo a\\n'); print(f.name)",
]
_ESCAPES = [
    "subprocess.run(['curl', 'https://x.io'], stdout=f)",
    "subprocess.Popen('curl https://x.io', shell=True, stdout=f)",
    "subprocess.run(['curl', 'https://x.io'], **{'stdout': f})",
    "f.buffer.write(b'rm a')",
    "w = f.write; w('rm a')",
    "getattr(f, 'write')('rm a')",
    "list(map(f.write, ['rm a']))",
    "[*map(f.write, ['rm a'])]",
    "g = f; g.write('rm a')",
    "[f][0].write('rm a')",
    "g = f if sys.argv else None; g.write('rm a')",
    "(f or sys.stdout).write('rm a')",
    "d = {}; d['f'] = f; d['f'].write('rm a')",
    "os.write(f.fileno(), b'rm a')",
    "os.dup2(f.fileno(), 1); print('rm a')",
    "os.fdopen(f.fileno(), 'w').write('rm a')",
    "shutil.copyfileobj(sys.stdin, f)",
    "json.dump(sys.argv, f)",
    "sys.stdout = f; print('rm a')",
    "contextlib.redirect_stdout(f).__enter__(); print('rm a')",
    "f.writelines(input())",
    "f.writelines(['rm a', input()])",
    "print(*input(), file=f)",
    "print('rm', input(), file=f)",
    "print('rm a', end=input(), file=f)",
    "print(True, file=f)",
    "f.write(input())",
    "f.seek(0)",
    "f.truncate(1)",
    "threading.Thread(target=f.write, args=('rm a',)).start()",
    "logging.StreamHandler(f)",
]
_IMPORTS = "import contextlib, json, logging, os, shutil, subprocess, sys, threading\n"


def _run(script: str, then: str, program: str = "python3") -> dict[str, tuple[str, ...]]:
    """The arguments of the last program of a run that runs a script, and then a line."""
    command = f"{program} - <<'X'\n{script}\nX\n{then}"
    events = abstracted([bash("t", command), ok("t")])
    return next(dict(e.args) for e in events if e.args.get("argv", ("",))[-1] == "a.sh")


@pytest.mark.parametrize("use", _FOLLOWED)
def test_what_is_written_into_an_open_file_is_its_text(use: str) -> None:
    assert "unresolved" not in _run(f"{_IMPORTS}with open('a.sh', 'w') as f:\n    {use}", "bash a.sh")


@pytest.mark.parametrize("opened", ["with open('a.sh', 'w') as f:\n    ", "f = open('a.sh', 'w')\n"])
@pytest.mark.parametrize("use", _ESCAPES)
def test_an_open_file_that_is_used_otherwise_may_have_any_text(use: str, opened: str) -> None:
    assert "script" in _run(f"{_IMPORTS}{opened}{use}", "bash a.sh")["unresolved"]


@pytest.mark.parametrize(
    "script",
    [
        "import subprocess\nsubprocess.run('curl x.io', shell=True, stdout=open('a.sh', 'w'))",
        "import subprocess\nsubprocess.Popen(['curl', 'x.io'], stdout=open('a.sh', 'w'))",
        "import os\nfd = os.open('a.sh', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\nos.write(fd, b'rm a')",
        "import pathlib\npathlib.Path('a.sh').open('w').buffer.write(b'rm a')",
    ],
)
def test_a_file_that_is_opened_for_others_may_have_any_text(script: str) -> None:
    assert "script" in _run(script, "bash a.sh")["unresolved"]


@pytest.mark.parametrize(
    "script",
    [
        "const fd = fs.openSync('a.sh', 'w'); cp.execSync('curl x.io', {stdio: [0, fd, 2]})",
        "const fd = fs.openSync('a.sh', 'w'); fs.writeSync(fd, 'rm a')",
        "fs.createWriteStream('a.sh').write('rm a')",
    ],
)
def test_so_may_one_that_javascript_opens(script: str) -> None:
    script = f"const fs = require('fs'), cp = require('child_process')\n{script}"
    assert "script" in _run(script, "bash a.sh", "node")["unresolved"]


_REPLACES = """
gh run download 1
gh release download v1
python3 -c "from huggingface_hub import hf_hub_download; hf_hub_download('a/b', 'a.sh', local_dir='.')"
python3 -c "from huggingface_hub import snapshot_download; snapshot_download('a/b', local_dir='/repo')"
python3 -c "import shutil; shutil.unpack_archive('x.zip')"
python3 -c "import tarfile; tarfile.open('x.tar').extractall()"
python3 -c "import zipfile; zipfile.ZipFile('x.zip').extract('a.sh')"
node -e "require('tar').x({file: 'x.tar'})"
huggingface-cli download a/b --local-dir .
code --wait a.sh
vim a.sh
pip install -t . x
pip download x
helm pull x
apt-get download x
dvc pull
mount --bind /e .
cookiecutter x
cookiecutter x -o .
wget -r https://x.io
wget -i list.txt
wget https://x.io/a.sh
aria2c https://x.io/a.sh
http --download x.io/a.sh
yt-dlp x.io
git clone https://h.io/r .
git pull
git restore .
git checkout main
git stash pop
tar xf x.tar
unzip -o x.zip
7z x x.7z
jar xf x.jar
rsync -a x/ .
cp -r x/. .
mv x/* .
aws s3 sync s3://b .
scp h:a.sh .
patch -p1 -i x.diff
curl -O https://x.io/a.sh
sed -i s/a/b/ *.sh
make
some-unknown-program
""".strip().splitlines()
_KEEPS = """
ls -la
cat a.sh
chmod +x a.sh
pip install requests
pip install -t lib requests
mkdir -p out
pip download x -d dl
wget -r -P mirror https://x.io
wget https://x.io/b.sh
gh run download 1 -D dl
git clone https://h.io/r
git clone https://h.io/r /srv/r
docker pull x
git push
rsync -a x/ out
""".strip().splitlines()


def _marks(between: str) -> tuple[str, ...]:
    events = abstracted([bash("a", f"echo 'echo hi' > a.sh; {between}; bash a.sh"), ok("a")])
    return next(e.args.get("unresolved", ()) for e in events if e.args.get("argv") == ("bash", "a.sh"))


@pytest.mark.parametrize("between", _REPLACES)
def test_a_text_is_not_known_once_something_may_have_replaced_it(between: str) -> None:
    assert "script" in _marks(between)


@pytest.mark.parametrize("between", _KEEPS)
def test_a_text_stays_known_where_nothing_touches_its_folder(between: str) -> None:
    assert _marks(between) == ()
