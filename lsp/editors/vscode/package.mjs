// Builds vigil-<version>.vsix; the version is that of the Python package.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { HERE, ROOT } from "./copies.mjs";

const source = fs.readFileSync(path.join(ROOT, "vigil_lang/version.py"), "utf8");
const version = /^__version__ = "(\d+\.\d+\.\d+)/m.exec(source)?.[1];
if (version === undefined) {
  throw new Error("vigil_lang/version.py says no version");
}
const out = process.argv[2] ?? `vigil-${version}.vsix`;
const vsce = path.join(HERE, "node_modules/@vscode/vsce/vsce");
const options = ["--no-dependencies", "--no-git-tag-version", "--no-update-package-json", "--allow-missing-repository"];
const done = spawnSync(process.execPath, [vsce, "package", version, ...options, "--out", out], { cwd: HERE, stdio: "inherit" });
process.exit(done.status ?? 1);
