"""What JavaScript does: files, commands, calls of packages."""

from __future__ import annotations

import pytest

from vigil_lang.abstraction.scripts import read_script
from vigil_lang.abstraction.step import Spawn, Step, Word


def steps(text: str, *, files: dict[str, str] | None = None, arguments: tuple[Word, ...] = ()):
    """The steps of a script that runs in /repo."""
    return read_script(
        "javascript", text, cwd="/repo", name="/repo/run.mjs", arguments=arguments, files=(files or {}).get
    ).steps


def effects(text: str, **given) -> list[str]:
    """Each effect as ``kind path``, with ``?`` for what is not known; commands as ``$ word word``."""
    found = []
    for step in steps(text, **given):
        if isinstance(step, Spawn):
            found.append("$ " + (step.shell or " ".join(w.text if w.known else f"<{w.text}>" for w in step.argv)))
            continue
        for kind in step.kinds:
            if kind != "code.call":
                subject = next(
                    (step.roles[r] for r in ("path", "target", "url", "variable") if r in step.roles), ("?",)
                )
                found.append(f"{kind} {' '.join(subject)}")
    return found


def functions(text: str, **given) -> list[str]:
    """The qualified names of what a script calls."""
    return [s.roles["function"][0] for s in steps(text, **given) if isinstance(s, Step)]


FS = "import fs from 'fs'; import path from 'node:path';\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FS + "fs.readFileSync('a', 'utf8')", ["file.read /repo/a"]),
        (FS + "fs.writeFileSync(path.join('d', 'a.txt'), 'x')", ["file.write /repo/d/a.txt"]),
        (FS + "fs.writeFileSync(`${dir}/a`, x)", ["file.write ?"]),
        (FS + "const d = 'out'; fs.mkdirSync(`${d}/b`, {recursive: true})", ["dir.create /repo/out/b"]),
        ("const fs = require('fs'); fs.unlinkSync('a')", ["file.delete /repo/a"]),
        ("const { rmSync: rm } = require('node:fs'); rm('a')", ["file.delete /repo/a"]),
        ("const fs = require('fs').promises; fs.appendFile('a', 'x')", ["file.append /repo/a"]),
        ("import { readFile } from 'fs/promises'; const t = await readFile('a')", ["file.read /repo/a"]),
        (FS + "fs.promises.copyFile('a', 'b')", ["file.copy /repo/b", "file.read /repo/a", "file.write /repo/b"]),
        (FS + "fs.renameSync('a', 'b')", ["file.move /repo/b", "file.delete /repo/a", "file.write /repo/b"]),
        (FS + "fs.openSync('a', 'w')", ["file.write /repo/a"]),
        ("import { execSync } from 'child_process'; execSync('rm -rf x')", ["$ rm -rf x"]),
        ("const cp = require('child_process'); cp.spawn('git', ['push', branch])", ["$ git push <${__branch}>"]),
        ("const cp = require('child_process'); cp.spawn('ls | wc', {shell: true})", ["$ ls | wc"]),
        ("const cp = require('child_process'); cp.execFileSync('ls', {cwd: 'd'})", ["$ ls"]),
        ("await fetch('https://a.org/x')", ["net.request https://a.org/x"]),
        ("import axios from 'axios'; axios.post('https://a.org', {a: 1})", ["net.upload https://a.org"]),
        ("const k = process.env.API_KEY", ["env.read API_KEY"]),
        ("process.env['A'] = 'b'", ["env.set A"]),
        (FS + "process.chdir('d'); fs.readFileSync('a')", ["dir.change /repo/d", "file.read /repo/d/a"]),
        (FS + "fs.readFileSync(path.resolve(__dirname, '..', 'a'))", ["file.read /a"]),
        (FS + "fs.readFileSync(new URL('./a', import.meta.url))", ["file.read /repo/a"]),
        (FS + "fs.readFileSync(process.argv[2])", ["file.read /repo/given"]),
        (FS + "function edit() { fs.writeFileSync('a', '') }", []),
        (FS + "edit(); function edit() { fs.writeFileSync('a', '') }", ["file.write /repo/a"]),
        (FS + "const edit = (p) => fs.writeFileSync(p, ''); edit('a')", ["file.write /repo/a"]),
        (FS + "for (const p of ['a', 'b']) { fs.rmSync(p) }", ["file.delete /repo/a", "file.delete /repo/b"]),
        (FS + "['a', 'b'].forEach(p => fs.rmSync(p))", ["file.delete /repo/a", "file.delete /repo/b"]),
        (FS + "for (const p in {a: 1}) { fs.rmSync(p) }", ["file.delete /repo/a"]),
        (FS + "for (let i = 0; i < n; i++) { fs.rmSync('a' + i) }", ["file.delete ?"]),
        (FS + "const {a, b: {c}, d = 'z', ...e} = {a: 'x', b: {c: 'y'}}; fs.rmSync(a); fs.rmSync(c); fs.rmSync(d)",
         ["file.delete /repo/x", "file.delete /repo/y", "file.delete /repo/z"]),
        (FS + "const [a, ...b] = ['x', 'y']; fs.rmSync(b[0])", ["file.delete /repo/y"]),
        (FS + "class A { p = 'x'; constructor(q) { this.q = q } go() { fs.rmSync(this.q) } }\nnew A('y').go()",
         ["file.delete /repo/y"]),
        (FS + "const o = { go({p = 'x'} = {}) { fs.rmSync(p) } }; o.go({p: 'y'})", ["file.delete /repo/y"]),
        (FS + "switch (x) { case 1: fs.rmSync('a'); break; default: fs.rmSync('b') }",
         ["file.delete /repo/a", "file.delete /repo/b"]),
        (FS + "do { fs.rmSync('a') } while (x)", ["file.delete /repo/a"]),
        (FS + "try { fs.rmSync('a') } catch (e) { fs.rmSync('b') } finally { fs.rmSync('c') }",
         ["file.delete /repo/a", "file.delete /repo/b", "file.delete /repo/c"]),
        (FS + "const p = x ?? 'a'; const q = null ?? 'b'; fs.rmSync(q)", ["file.delete /repo/b"]),
        (FS + "let p = 'a'; p += '.txt'; fs.rmSync(p)", ["file.delete /repo/a.txt"]),
        (FS + "process.exit(0); fs.rmSync('a')", []),
        ("console.log(JSON.stringify([1].map(x => x + 1))); Math.max(1, 2); 'a'.split('')", []),
    ],
)  # fmt: skip
def test_an_effect(text: str, expected: list[str]) -> None:
    assert effects(text, arguments=(Word("given"),)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import * as T from 'three'; new T.Mesh(g, m).updateMatrix()", ["three.Mesh", "three.Mesh.updateMatrix"]),
        ("import { OBJExporter } from 'three/examples/jsm/OBJExporter.js'; new OBJExporter().parse(mesh)",
         ["three.OBJExporter", "three.OBJExporter.parse"]),
        ("import OBJ from 'three/addons/OBJ.js'; new OBJ()", ["three.OBJ"]),
        ("import x from '@a/b'; x.go()", ["@a/b.go"]),
        ("import { f } from './lib/scene.js'; const r = f(); r.traverse(o => o.clone())",
         ["scene.f", "scene.f().traverse", "scene.f().traverse().clone"]),
        ("const ex = require('exceljs'); const wb = new ex.Workbook(); wb.xlsx.writeFile('a.xlsx')",
         ["exceljs.Workbook", "exceljs.Workbook.xlsx.writeFile"]),
        ("import puppeteer from 'puppeteer'; const b = await puppeteer.launch(); const p = await b.newPage(); "
         "await p.goto('https://a.org')", ["puppeteer.launch", "puppeteer.Browser.newPage", "browser.Page.goto"]),
        ("const m = await import('lib'); m.f()", ["lib.f"]),
        ("import a from 'a'; a.get().then(r => r.save())", ["a.get", "a.get().save"]),
        ("import a from 'a'; const s = new Map(); s.set(k, {v: [a.f()]}); s.forEach(e => e.v.forEach(x => x.go()))",
         ["a.f", "a.f().go"]),
    ],
)  # fmt: skip
def test_qualified_names(text: str, expected: list[str]) -> None:
    assert functions(text) == expected


def test_transforms_are_baked_before_the_export() -> None:
    text = """
import { createScene } from './data/object.js';
import { OBJExporter } from 'three/examples/jsm/exporters/OBJExporter.js';
const root = createScene();
root.updateMatrixWorld(true);
const meshes = [];
root.traverse((o) => { if (o.isMesh) meshes.push(o); });
const exporter = new OBJExporter();
for (const mesh of meshes) {
  const geometry = mesh.geometry.clone();
  geometry.applyMatrix4(mesh.matrixWorld);
  exporter.parse(mesh);
}
"""
    found = [s for s in steps(text) if isinstance(s, Step)]
    assert [s.action for s in found] == [
        "createScene", "updateMatrixWorld", "traverse", "OBJExporter", "clone", "applyMatrix4", "parse",
    ]  # fmt: skip
    assert found[1].roles["arg1"] == ("true",)
    assert (found[1].line, found[1].excerpt) == (5, "root.updateMatrixWorld(true);")
    assert found[-1].roles["function"] == ("three.OBJExporter.parse",)
    assert [s.if_ok for s in found] == ["ok", "ok", "ok", "ok", "unknown", "unknown", "unknown"]


def test_a_module_of_its_own_is_followed() -> None:
    files = {
        "/repo/lib/io.js": "import fs from 'fs';\nexport function save(p) { fs.writeFileSync(p, '') }\n"
        "export default function drop(p) { fs.rmSync(p) }\nexport const where = 'w';"
    }
    text = "import drop, { save, where } from './lib/io.js';\nsave(where); drop('b')"
    assert effects(text, files=files) == ["file.write /repo/w", "file.delete /repo/b"]
    assert effects("const io = require('./lib/io'); io.save('c')", files=files) == ["file.write /repo/c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs.rmSync('a')", "ok"),
        ("if (x) fs.rmSync('a')", "unknown"),
        ("if (x) { } else if (y) { fs.rmSync('a') }", "unknown"),
        ("x && fs.rmSync('a')", "unknown"),
        ("x.forEach(y => fs.rmSync('a'))", "unknown"),
        ("async function main() { fs.rmSync('a') }\nmain()", "ok"),
        ("async function main() { fs.rmSync('a') }\nmain().catch(console.error)", "unknown"),
        ("async function main() { fs.rmSync('a') }\nmain().catch(e => { process.exit(1) })", "ok"),
        ("if (x) process.exit(1)\nfs.rmSync('a')", "ok"),
        ("if (x) process.exit(0)\nfs.rmSync('a')", "unknown"),
    ],
)
def test_what_happens_whenever_the_script_ends_well(text: str, expected: str) -> None:
    (found,) = [s for s in steps(FS + text) if isinstance(s, Step) and "file.delete" in s.kinds]
    assert found.if_ok == expected


def test_an_error_is_told_with_its_line() -> None:
    reading = read_script("javascript", FS + "fs.rmSync('a');\nlet = = 3;", cwd="/repo", name="x.js")
    assert reading.trouble == ("line 3: this is no JavaScript",)
    assert [s.if_ok for s in reading.steps if isinstance(s, Step)] == ["unknown"]


@pytest.mark.parametrize(
    ("literal", "expected"),
    [("'a\\n\\x41\\u0042\\u{43}'", "a\nABC"), (r"'a\\nb'", r"a\nb"), ("0x1f", "31"), ("1_000", "1000"), ("1e3", "1000"),
     ("10n", "10"), ("-2", "-2"), ("`a${1}b${'c'}`", "a1bc"), ("1 + 'a'", "1a"), ("'a'.toUpperCase()", "A"),
     ("'a-b'.replace('-', '+')", "a+b"), ("[1, 2].join('-')", "1-2"), ("String(5)", "5"), ("true ? 'a' : 'b'", "a"),
     ("Object.keys({a: 1})[0]", "a"), ("Object.values({a: 'v'})[0]", "v"), ("'abc'.length", "3"), ("!1", "false"),
     ("(x = 'y')", "y"), ("((a) => a)('q')", "q"), ("path.basename('/a/b')", "b"), ("path.extname('a.b')", ".b"),
     ("'a' === 'a'", "true"), ("process.argv.length", "3"), ("[...['a'], 'b'][1]", "b"), ("'a'.concat('b')", "ab")],
)  # fmt: skip
def test_the_value_of_an_argument(literal: str, expected: str) -> None:
    found = steps(f"import a from 'a'; import path from 'path';\na.f({literal})", arguments=(Word("x"),))[-1]
    assert isinstance(found, Step)
    assert found.roles["arg1"] == (expected,)


FILLED_ELSEWHERE = """
import { OBJExporter } from "three/examples/jsm/exporters/OBJExporter.js";
import { createScene } from "./object.js";
const root = createScene(), parts = new Map(), exporter = new OBJExporter();
root.traverse((obj) => { parts.set(obj.name, { meshes: [] }); });
root.traverse((obj) => { parts.get(obj.name).meshes.push(obj); });
Array.from(parts.values()).filter((p) => p.meshes.length > 0).forEach((part) => {
  part.meshes.forEach((mesh) => { exporter.parse(mesh); });
});
"""


def test_a_list_that_begins_empty_and_is_filled_elsewhere_is_gone_through() -> None:
    last = steps(FILLED_ELSEWHERE)[-1]
    assert last.roles["function"] == ("three.OBJExporter.parse",)
    assert last.if_ok == "unknown"


@pytest.mark.parametrize("call", ["fill(parts)", "library.fill(parts)", "fill([parts])"])
def test_what_is_empty_may_be_filled_by_what_it_is_given_to(call: str) -> None:
    text = f"import library from 'library'; const parts = {{a: []}}; {call}; for (const x of parts.a) library.use(x)"
    assert functions(text)[-1] == "library.use"


def test_what_is_empty_and_given_to_nothing_stays_so() -> None:
    assert functions("import library from 'library'; for (const x of []) library.use(x); library.end()") == [
        "library.end"
    ]


def test_a_method_of_something_of_which_nothing_is_known() -> None:
    text = "import three from 'three'; for (const g of all) { g.geometry.applyMatrix4(m); g.name.trim().split('a') }"
    (step,) = steps(text)
    assert (step.action, step.kinds, step.roles, step.unresolved, step.if_ok) == (
        "applyMatrix4",
        ("code.call",),
        {"function": ("?.applyMatrix4",), "nargs": ("1",), "arg1.name": ("m",), "from_script": ("/repo/run.mjs",)},
        ("arg1",),
        "unknown",
    )


@pytest.mark.parametrize("head", ["", "import fs from 'fs';", "import path from 'node:path';"])
def test_without_a_library_such_a_method_is_no_step(head: str) -> None:
    assert steps(head + "for (const g of all) g.applyMatrix4(m)") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fs.rmSync(process.env.HOME, {recursive: true})", ["env.read HOME", "file.delete ~"]),
        ("fs.rmSync(`${process.env['HOME']}/x`)", ["env.read HOME", "file.delete ~/x"]),
        ("fs.rmSync(path.join(process.env.HOME, 'x'))", ["env.read HOME", "file.delete ~/x"]),
        ("import os from 'os'; fs.rmSync(os.homedir())", ["file.delete ~"]),
        ("fs.rmSync(process.env.OUT)", ["env.read OUT", "file.delete ?"]),
    ],
)
def test_the_home_directory(text: str, expected: list[str]) -> None:
    assert effects(FS + text) == expected


@pytest.mark.parametrize(
    "call",
    ["execSync('cat', {input: 'abc'})", "spawnSync('cat', [], {input: 'abc'})", "execFileSync('cat', {input: 'abc'})"],
)
def test_what_a_command_is_given_to_read(call: str) -> None:
    (found,) = steps(f"const cp = require('child_process'); cp.{call}")
    assert isinstance(found, Spawn)
    assert found.stdin == "abc"
