// The Test Explorer shows what the server says of tests, and runs what is asked for.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { bundled, Emitter, Position, Range, Uri } from "./bundled.mjs";

class Items {
  items = new Map();
  get = (id) => this.items.get(id);
  add = (item) => this.items.set(item.id, item);
  get size() {
    return this.items.size;
  }
  replace(items) {
    this.items = new Map(items.map((item) => [item.id, item]));
    for (const item of items) {
      item.parent = this.owner;
    }
  }
  [Symbol.iterator]() {
    return this.items[Symbol.iterator]();
  }
}

const happens = Object.fromEntries(["serving", "open", "save", "created", "deleted", "changed"].map((name) => [name, new Emitter()]));
let controller, profiles, log, server, cancelled;

class Message {
  constructor(message) {
    this.message = message;
  }
  static diff(message, expected, actual) {
    return Object.assign(new Message(message), { expected, actual });
  }
}

const { TestExplorer } = await bundled("src/testing.ts", {
  Uri,
  Range,
  Position,
  TestMessage: Message,
  Location: class {
    constructor(uri, range) {
      Object.assign(this, { uri, range });
    }
  },
  TestRunProfileKind: { Run: 1, Coverage: 3 },
  TestCoverageCount: class {
    constructor(covered, total) {
      Object.assign(this, { covered, total });
    }
  },
  FileCoverage: class {
    constructor(uri, statements, branches, declarations) {
      Object.assign(this, { uri, statements, branches, declarations });
    }
  },
  StatementCoverage: class {
    constructor(executed, location, branches) {
      Object.assign(this, { executed, location, branches });
    }
  },
  BranchCoverage: class {
    constructor(executed, location, label) {
      Object.assign(this, { executed, label });
    }
  },
  DeclarationCoverage: class {
    constructor(name, executed) {
      Object.assign(this, { name, executed });
    }
  },
  Disposable: { from: () => ({ dispose: () => {} }) },
  tests: {
    createTestController: () => {
      profiles = {};
      controller = {
        items: new Items(),
        createTestItem: (id, label, uri) => {
          const item = { id, label, uri, children: new Items() };
          item.children.owner = item;
          return item;
        },
        createRunProfile: (name, kind, run) => (profiles[name] = { run }),
        createTestRun: () => {
          const told = (what) => (item, ...more) => log.push([what, item.id, ...more]);
          return {
            ...Object.fromEntries(["started", "passed", "failed", "errored", "skipped"].map((what) => [what, told(what)])),
            enqueued: () => {},
            addCoverage: (coverage) => log.push(["coverage", coverage]),
            end: () => log.push(["end"]),
          };
        },
        dispose: () => {},
      };
      return controller;
    },
  },
  workspace: {
    textDocuments: [],
    asRelativePath: (uri) => uri.path.slice(1),
    onDidOpenTextDocument: happens.open.event,
    onDidSaveTextDocument: happens.save.event,
    createFileSystemWatcher: () => ({ onDidCreate: happens.created.event, onDidDelete: happens.deleted.event, onDidChange: happens.changed.event }),
  },
});

const A = "file:///a_test.vgl", B = "file:///b_test.vgl", POLICY = "file:///a.vgl";
const place = (uri, line) => ({ uri, range: { start: { line, character: 0 }, end: { line, character: 3 } } });
const settled = () => new Promise((done) => setTimeout(done, 5));

beforeEach(async () => {
  for (const emitter of Object.values(happens)) {
    emitter.listeners.length = 0;
  }
  log = [];
  cancelled = { isCancellationRequested: false };
  const suite = {
    [A]: { tests: [{ name: "one", location: place(A, 1) }, { name: "two", location: place(A, 5) }], errors: [] },
    [B]: { tests: [{ name: "odd", location: place(B, 2) }], errors: [{ message: "VGL610: no", location: place(B, 3) }] },
  };
  const results = {
    [A]: [
      { name: "one", outcome: "passed", seconds: 0.5, location: place(A, 1), failures: [] },
      {
        name: "two", outcome: "failed", seconds: 0.25, location: place(A, 5),
        failures: [{ message: "`S` is satisfied, not violated", wanted: "violated", found: "satisfied", location: place(A, 6) }],
      },
    ],
    [B]: [],
  };
  const errors = [{ message: "there is no statement `S`", location: place(B, 3), of: [place(B, 0)] }];
  server = {
    asked: [],
    output: { error: (text) => log.push(["error", text]) },
    onServing: happens.serving.event,
    ask: async (command, argument) => {
      server.asked.push([command, argument]);
      switch (command) {
        case "vigil.testFiles":
          return [A, B];
        case "vigil.testsIn":
          return suite[argument];
        default: {
          const uris = argument.files.map((file) => file.uri);
          const wanted = (uri, name) => argument.files.some((file) => file.uri === uri && (file.tests ?? [name]).includes(name));
          const parts = [
            { kind: "statement", text: "S", location: place(POLICY, 0), wanted: ["satisfied", "violated"], seen: ["violated"] },
            { kind: "condition", text: "c", location: place(POLICY, 1), wanted: ["true"], seen: [] },
          ];
          return {
            tests: uris.flatMap((uri) => results[uri].filter((one) => wanted(uri, one.name))),
            errors: uris.includes(B) ? errors : [],
            ...(argument.coverage ? { coverage: { files: [{ parts }] } } : {}),
          };
        }
      }
    },
  };
  new TestExplorer(server);
  await happens.serving.fire(true);
  await settled();
});

const file = (uri) => controller.items.get(uri);
const named = (uri, name) => file(uri).children.get(name);
const told = (what) => log.filter(([one]) => one === what);

test("files are listed when the server is there, and their tests when they are looked at", async () => {
  assert.deepEqual([...controller.items].map(([, item]) => item.label), ["a_test.vgl", "b_test.vgl"]);
  assert.equal(file(A).children.size, 0);
  await controller.resolveHandler(file(A));
  assert.deepEqual([...file(A).children].map(([id, item]) => [id, item.range.start.line]), [["one", 1], ["two", 5]]);
  assert.equal(file(A).error, undefined);
});

test("what is wrong stands at the test", async () => {
  await controller.resolveHandler(file(B));
  assert.equal(named(B, "odd").error, "VGL610: no");
  assert.equal(file(B).error, undefined);
});

test("an open file, and one that is saved, is looked at", async () => {
  await happens.open.fire({ uri: Uri.parse(A) });
  await settled();
  assert.equal(file(A).children.size, 2);
  server.asked.length = 0;
  await happens.save.fire({ uri: Uri.parse(POLICY) });
  assert.deepEqual(server.asked, [["vigil.testsIn", A]]);
});

test("all tests are run, each file by itself; failures have what was expected and what came", async () => {
  await profiles.Run.run({}, cancelled);
  assert.deepEqual(server.asked.filter(([command]) => command === "vigil.testResults").map(([, { files }]) => files), [[{ uri: A }], [{ uri: B }]]);
  assert.deepEqual(told("passed"), [["passed", "one", 500]]);
  const [[, id, [message], time]] = told("failed");
  assert.deepEqual([id, message.message, message.expected, message.actual, message.location.range.start.line, time], [
    "two", "`S` is satisfied, not violated", "violated", "satisfied", 6, 250,
  ]);
  const [[, odd, [why]]] = told("errored");
  assert.deepEqual([odd, why.message, why.location.range.start.line], ["odd", "there is no statement `S`", 3]);
  assert.deepEqual(log.at(-1), ["end"]);
});

test("one test alone, and all but one", async () => {
  await controller.resolveHandler(file(A));
  await profiles.Run.run({ include: [named(A, "two")] }, cancelled);
  assert.deepEqual(server.asked.at(-1)[1].files, [{ uri: A, tests: ["two"] }]);
  assert.deepEqual(told("started").map(([, id]) => id), ["two"]);
  await profiles.Run.run({ include: [file(A)], exclude: [named(A, "two")] }, cancelled);
  assert.deepEqual(server.asked.at(-1)[1].files, [{ uri: A, tests: ["one"] }]);
});

test("coverage is that of all tests together", async () => {
  await profiles.Coverage.run({}, cancelled);
  assert.deepEqual(server.asked.at(-1), ["vigil.testResults", { files: [{ uri: A }, { uri: B }], coverage: true }]);
  const [[, coverage]] = told("coverage");
  assert.equal(coverage.uri.toString(), POLICY);
  const counts = [coverage.statements, coverage.branches, coverage.declarations].map(({ covered, total }) => [covered, total]);
  assert.deepEqual(counts, [[1, 2], [1, 3], [1, 1]]);
  const details = await profiles.Coverage.loadDetailedCoverage(undefined, coverage);
  assert.deepEqual(details.flatMap(({ branches }) => branches ?? []).map(({ label, executed }) => [label, executed]), [
    ["satisfied by a run that puts it to the test", false], ["violated", true], ["true", false],
  ]);
});

test("what is cancelled is not shown as run", async () => {
  await controller.resolveHandler(file(A));
  const ask = server.ask;
  server.ask = async (command, argument, token) => {
    if (command === "vigil.testResults") {
      assert.equal(token, cancelled);
      cancelled.isCancellationRequested = true;
      throw new Error("cancelled");
    }
    return ask(command, argument);
  };
  await profiles.Run.run({}, cancelled);
  assert.deepEqual(told("skipped").map(([, id]) => id), ["one", "two"]);
  assert.deepEqual([...told("passed"), ...told("failed"), ...told("errored")], []);
});

test("a server that fails is told at the tests", async () => {
  await controller.resolveHandler(file(A));
  server.ask = async () => {
    throw new Error("it ended");
  };
  await profiles.Run.run({ include: [file(A)] }, cancelled);
  assert.deepEqual(told("errored").map(([, id, message]) => [id, message.message]), [
    ["one", "Error: it ended"], ["two", "Error: it ended"],
  ]);
});
