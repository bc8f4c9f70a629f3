// Verdicts are drawn of the very text that is shown, and of no other.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { bundled, Emitter, Range, Uri } from "./bundled.mjs";

const happens = {
  change: new Emitter(),
  close: new Emitter(),
  visible: new Emitter(),
  configured: new Emitter(),
  verdicts: new Emitter(),
  serving: new Emitter(),
};
const settings = {};
const workspace = {
  textDocuments: [],
  getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
  onDidChangeTextDocument: happens.change.event,
  onDidCloseTextDocument: happens.close.event,
  onDidChangeConfiguration: happens.configured.event,
};
const window = {
  visibleTextEditors: [],
  onDidChangeVisibleTextEditors: happens.visible.event,
  createTextEditorDecorationType: (options) => ({ options, dispose: () => {} }),
};
const { Verdicts, moved } = await bundled("src/verdicts.ts", {
  workspace,
  window,
  Uri,
  Range,
  Disposable: { from: () => ({ dispose: () => {} }) },
  DecorationRangeBehavior: { ClosedClosed: 1 },
  ThemeColor: class {
    constructor(id) {
      this.id = id;
    }
  },
  MarkdownString: class {
    appendText(text) {
      this.value = text;
      return this;
    }
  },
});

const NAME = "file:///w/p.vgl";
let document, editor;

beforeEach(() => {
  for (const emitter of Object.values(happens)) {
    emitter.listeners.length = 0;
  }
  for (const name of Object.keys(settings)) {
    delete settings[name];
  }
  document = { uri: Uri.parse(NAME), version: 1, lineCount: 9, lineAt: (line) => ({ range: new Range(line, 0, line, 20) }) };
  editor = { document, shown: new Map(), setDecorations: (type, options) => editor.shown.set(type, options) };
  workspace.textDocuments = [document];
  window.visibleTextEditors = [editor];
  new Verdicts({ onVerdicts: happens.verdicts.event, onServing: happens.serving.event }, Uri.parse("file:///x"));
});

/** What the editor shows: colour, line, text at its end. */
function shown() {
  return [...editor.shown].flatMap(([type, options]) =>
    options.map(({ range, renderOptions }) => [type.options.after.color.id, range.start.line, renderOptions?.after.contentText]),
  );
}

function say(version, ...verdicts) {
  const made = verdicts.map(([line, state, text]) => ({ range: { start: { line } }, statement: "S", state, text }));
  return happens.verdicts.fire({ uri: NAME, version, verdicts: made });
}

function edit(...changes) {
  document.version += 1;
  const contentChanges = changes.map(([range, text]) => ({ range: new Range(...range), text }));
  return happens.change.fire({ document, contentChanges });
}

test("what the server says is shown at the ends of the lines", async () => {
  await say(1, [1, "holds", "holds in 2 runs"], [4, "violated", "violated in 1 of 2 runs"]);
  assert.deepEqual(shown(), [
    ["vigil.verdict.holds", 1, "✓ holds in 2 runs"],
    ["vigil.verdict.violated", 4, "✗ violated in 1 of 2 runs"],
  ]);
});

test("an edit takes away what was known, and what is of an older text is not shown", async () => {
  await say(1, [1, "holds", "holds in 2 runs"], [4, "unreadable", "holds in 1 of 2 runs, 1 unreadable"]);
  await edit([[0, 0, 0, 0], "x"]);
  const unknown = [["vigil.verdict.unknown", 1, "? …"], ["vigil.verdict.unknown", 4, "? …"]];
  assert.deepEqual(shown(), unknown);
  await say(1, [1, "holds", "holds in 2 runs"]);
  assert.deepEqual(shown(), unknown);
  await say(2, [1, "violated", "violated in 2 of 2 runs"]);
  assert.deepEqual(shown(), [["vigil.verdict.violated", 1, "✗ violated in 2 of 2 runs"]]);
});

test("without a server, and where the runs are gone, nothing is shown", async () => {
  await say(1, [1, "holds", "holds in 2 runs"]);
  await say(1);
  assert.deepEqual(shown(), []);
  await say(1, [1, "holds", "holds in 2 runs"]);
  await happens.serving.fire(false);
  assert.deepEqual(shown(), []);
});

test("what an editor shows that is opened later is known already", async () => {
  window.visibleTextEditors = [];
  await say(1, [1, "holds", "holds in 2 runs"]);
  assert.deepEqual(shown(), []);
  await happens.visible.fire([editor]);
  assert.deepEqual(shown(), [["vigil.verdict.holds", 1, "✓ holds in 2 runs"]]);
});

test("settings leave out the words or the marks", async () => {
  await say(1, [1, "holds", "holds in 2 runs"]);
  settings.lineEnd = false;
  settings.gutter = false;
  editor.shown.clear();
  await happens.configured.fire({ affectsConfiguration: (name) => name === "vigil.verdicts" });
  assert.deepEqual(shown(), [["vigil.verdict.holds", 1, undefined]]);
  assert.equal([...editor.shown][0][0].options.light, undefined);
});

test("marks move with the lines that they stand in", () => {
  const at = (line, ...changes) => {
    const made = changes.map(([range, text]) => ({ range: new Range(...range), text }));
    return moved([{ line, statement: "S", state: "holds", text: "holds" }], made).map((mark) => mark.line);
  };
  assert.deepEqual(at(3, [[3, 5, 3, 5], "x"]), [3]);
  assert.deepEqual(at(3, [[1, 0, 1, 0], "a\nb\n"]), [5]);
  assert.deepEqual(at(3, [[3, 0, 3, 0], "\n"]), [4]);
  assert.deepEqual(at(3, [[3, 9, 3, 9], "\n"]), [3]);
  assert.deepEqual(at(3, [[1, 4, 2, 0], ""]), [2]);
  assert.deepEqual(at(3, [[2, 0, 3, 0], ""]), [2]);
  assert.deepEqual(at(3, [[2, 0, 4, 0], ""]), []);
  assert.deepEqual(at(3, [[5, 0, 6, 0], ""], [[0, 0, 0, 0], "\n"]), [4]);
});
