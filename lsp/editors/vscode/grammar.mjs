// The tests of the TextMate grammar: cases with the scopes they claim, and snapshots of shipped policies.
// `npm run grammar -- --update` writes the snapshots anew; look at what changed in them.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { HERE, ROOT, copy } from "./copies.mjs";

const SHIPPED = [
  "examples/dashcam/dashcam.vgl",
  "examples/dashcam/dashcam_test.vgl",
  "examples/skills/secure-archive/secure-archive.vgl",
  "stdlib/std/artifacts.vgl",
];

copy();
// A snapshot stands beside its text, so the texts are copied to where the snapshots are.
for (const file of SHIPPED) {
  fs.copyFileSync(path.join(ROOT, file), path.join(HERE, "tests/snapshots", path.basename(file)));
}

const update = process.argv.includes("--update") ? ["--updateSnapshot"] : [];
const tools = [
  ["unit.js", "tests/cases/*"],
  ["snapshot.js", "--scope", "source.vigil", ...update, "tests/snapshots/*.vgl"],
];
for (const [tool, ...rest] of tools) {
  const program = path.join(HERE, "node_modules/vscode-tmgrammar-test/dist", tool);
  const done = spawnSync(process.execPath, [program, ...rest], { cwd: HERE, stdio: "inherit" });
  if (done.status !== 0) {
    process.exit(done.status ?? 1);
  }
}
