// The scopes that the grammar gives to texts: a JSON list of texts on standard input, and for each of them on standard
// output its tokens as [start, end, scopes], offsets in UTF-16 units.

import * as fs from "node:fs";
import * as path from "node:path";
import { createRequire } from "node:module";
import { ROOT } from "../copies.mjs";

const require = createRequire(import.meta.url);
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

await loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const file = path.join(ROOT, "grammar/vigil.tmLanguage.json");
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new OnigScanner(sources),
    createOnigString: (text) => new OnigString(text),
  }),
  loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
});
const grammar = await registry.loadGrammar("source.vigil");

function tokens(text) {
  const found = [];
  let state = INITIAL;
  let start = 0;
  for (const line of text.split("\n")) {
    const read = grammar.tokenizeLine(line, state);
    found.push(...read.tokens.map((token) => [start + token.startIndex, start + token.endIndex, token.scopes.slice(1)]));
    state = read.ruleStack;
    start += line.length + 1;
  }
  return found;
}

console.log(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(tokens)));
