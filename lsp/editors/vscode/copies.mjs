// What the package holds of files that the repository keeps elsewhere.

import * as fs from "node:fs";
import * as path from "node:path";

export const HERE = import.meta.dirname;
export const ROOT = path.join(HERE, "../../..");
const COPIES = {
  "grammar/vigil.tmLanguage.json": "syntaxes/vigil.tmLanguage.json",
  "grammar/vigil-markdown.tmLanguage.json": "syntaxes/vigil-markdown.tmLanguage.json",
  "examples/dashcam": "example/dashcam",
  LICENSE: "LICENSE",
};

/** Copies anew; what was copied before is gone. */
export function copy() {
  for (const [from, to] of Object.entries(COPIES)) {
    fs.rmSync(path.join(HERE, to), { recursive: true, force: true });
    fs.cpSync(path.join(ROOT, from), path.join(HERE, to), { recursive: true });
  }
}
