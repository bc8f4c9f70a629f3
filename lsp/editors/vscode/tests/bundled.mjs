// A module of the extension, with what it asks VS Code for as a test says it is.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { createRequire } from "node:module";
import { build } from "esbuild";
import { HERE } from "../copies.mjs";

/** What a module exports, where `vscode` is the given object. */
export async function bundled(source, vscode) {
  const place = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "vigil-")));
  process.on("exit", () => fs.rmSync(place, { recursive: true, force: true }));
  globalThis.vscodeOfThisTest = vscode;
  await build({
    absWorkingDir: HERE,
    entryPoints: [source],
    outfile: path.join(place, "module.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    plugins: [{
      name: "vscode",
      setup: (made) => {
        made.onResolve({ filter: /^vscode$/ }, () => ({ path: "vscode", namespace: "test" }));
        made.onLoad({ filter: /.*/, namespace: "test" }, () => ({ contents: "module.exports = globalThis.vscodeOfThisTest" }));
      },
    }],
  });
  return createRequire(import.meta.url)(path.join(place, "module.cjs"));
}

export class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }

  compareTo(other) {
    return this.line - other.line || this.character - other.character;
  }

  isAfter(other) {
    return this.compareTo(other) > 0;
  }
}

export class Range {
  constructor(a, b, c, d) {
    this.start = typeof a === "number" ? new Position(a, b) : a;
    this.end = typeof a === "number" ? new Position(c, d) : b;
  }
}

export class Emitter {
  listeners = [];
  event = (listener) => {
    this.listeners.push(listener);
    return { dispose: () => {} };
  };

  fire(value) {
    return Promise.all(this.listeners.map((listener) => listener(value)));
  }
}

export const Uri = {
  parse: (text) => {
    const [, scheme, at] = /^(\w+):(?:\/\/)?(.*)$/.exec(text);
    return { scheme, path: at, toString: () => text, with: (part) => Uri.parse(`${scheme}://${part.path}`) };
  },
  joinPath: (uri, ...parts) => Uri.parse([uri.toString(), ...parts].join("/")),
};
