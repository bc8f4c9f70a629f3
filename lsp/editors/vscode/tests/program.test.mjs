// Which program is started, and that one of the workspace is not where that is not trusted.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { beforeEach, test } from "node:test";
import { bundled } from "./bundled.mjs";

const NAME = process.platform === "win32" ? "vigil.exe" : "vigil";
const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";
const place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "vigil-")));
process.on("exit", () => fs.rmSync(place, { recursive: true }));

// What the module asks VS Code for, as this test says it is.
const settings = {};
const workspace = {
  getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
};
const { findProgram } = await bundled("src/program.ts", { workspace });

const folder = path.join(place, "project");
const elsewhere = path.join(place, "elsewhere");

function program(...parts) {
  const file = path.join(...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "", { mode: 0o755 });
  return file;
}

beforeEach(() => {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.rmSync(elsewhere, { recursive: true, force: true });
  fs.mkdirSync(folder);
  fs.mkdirSync(elsewhere);
  for (const name of Object.keys(settings)) {
    delete settings[name];
  }
  workspace.isTrusted = true;
  workspace.workspaceFolders = [{ uri: { scheme: "file", fsPath: folder } }];
  process.env.PATH = elsewhere;
});

test("the setting comes first, then the folder's environment, then PATH", () => {
  assert.equal(findProgram(), undefined);
  const onPath = program(elsewhere, NAME);
  assert.deepEqual(findProgram(), { command: onPath, arguments: ["lsp"] });
  const own = program(folder, ".venv", SCRIPTS, NAME);
  assert.equal(findProgram().command, own);
  settings.command = program(place, "elsewhere", "tools", NAME);
  settings.arguments = ["lsp", "--log-level", "debug"];
  assert.deepEqual(findProgram(), { command: settings.command, arguments: settings.arguments });
});

test("a setting names a path from the folder, or a program on PATH", () => {
  const own = program(folder, "tools", NAME);
  settings.command = `\${workspaceFolder}/tools/${NAME}`;
  assert.equal(findProgram().command, own);
  settings.command = path.join("tools", NAME);
  assert.equal(findProgram().command, own);
  settings.command = NAME;
  assert.equal(findProgram(), undefined);
  const onPath = program(elsewhere, NAME);
  assert.equal(findProgram().command, onPath);
});

test("what is named and not there is not replaced by another", () => {
  program(elsewhere, NAME);
  settings.command = path.join(place, "nowhere", NAME);
  assert.equal(findProgram(), undefined);
});

test("what is no program is passed over", { skip: process.platform === "win32" }, () => {
  fs.mkdirSync(path.join(folder, ".venv", SCRIPTS, NAME), { recursive: true });
  fs.writeFileSync(path.join(elsewhere, NAME), "", { mode: 0o644 });
  assert.equal(findProgram(), undefined);
});

test("a folder that is not trusted starts nothing of its own", () => {
  workspace.isTrusted = false;
  const own = program(folder, ".venv", SCRIPTS, NAME);
  assert.equal(findProgram(), undefined);
  settings.command = own;
  assert.equal(findProgram(), undefined);
  settings.command = "";
  process.env.PATH = path.dirname(own);
  assert.equal(findProgram(), undefined);
  fs.symlinkSync(own, path.join(elsewhere, NAME));
  process.env.PATH = [path.dirname(own), elsewhere].join(path.delimiter);
  assert.equal(findProgram(), undefined);
  fs.rmSync(path.join(elsewhere, NAME));
  const onPath = program(elsewhere, NAME);
  assert.equal(findProgram().command, onPath);
});

test("PATH is not looked through from wherever the editor runs", () => {
  program(place, "elsewhere", "sub", NAME);
  process.env.PATH = path.relative(process.cwd(), path.join(elsewhere, "sub"));
  assert.equal(findProgram(), undefined);
});
