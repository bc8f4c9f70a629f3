// What goes into the package: the bundle, and copies of what the repository keeps elsewhere.

import * as fs from "node:fs";
import * as path from "node:path";
import { build } from "esbuild";
import { HERE, copy } from "./copies.mjs";

copy();

const made = await build({
  absWorkingDir: HERE,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  metafile: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  legalComments: "none",
});

// The licences of what was bundled, which ask to be handed on.
const packages = new Set(Object.keys(made.metafile.inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
const notices = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(HERE, folder, "package.json"), "utf8"));
  const file = fs.readdirSync(path.join(HERE, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? fs.readFileSync(path.join(HERE, folder, file), "utf8").trim() : license;
  return `${name} ${version}\n\n${text}\n`;
});
fs.writeFileSync(path.join(HERE, "dist/NOTICES.txt"), notices.join("\n---\n\n"));
