// The tests of policies in the Test Explorer: what `vigil test` makes of the files as they are on disk.

import * as vscode from "vscode";
import type { Connection } from "./client";

/** Places as the server sends them. */
interface Location {
  readonly uri: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly character: number;
}

interface Problem {
  readonly message: string;
  readonly location: Location;
}

interface Suite {
  readonly tests: readonly { readonly name: string; readonly location: Location }[];
  readonly errors: readonly Problem[];
}

/** The part of `vigil.test/1` that is shown, with places. */
interface Report {
  readonly tests: readonly {
    readonly name: string;
    readonly outcome: "passed" | "failed";
    readonly seconds: number;
    readonly location: Location;
    readonly failures: readonly (Problem & { readonly wanted: string; readonly found: string })[];
  }[];
  /** `of` are the places of the files whose tests could not be run for it. */
  readonly errors: readonly (Problem & { readonly of: readonly Location[] })[];
  readonly coverage?: { readonly files: readonly FileReport[] };
}

interface FileReport {
  readonly parts: readonly {
    readonly kind: string;
    readonly text: string;
    readonly location: Location;
    readonly wanted: readonly string[];
    readonly seen: readonly string[];
  }[];
}

export class TestExplorer implements vscode.Disposable {
  private readonly tests = vscode.tests.createTestController("vigil", "Vigil");
  private readonly listening: vscode.Disposable;
  private served = false;

  constructor(private readonly server: Connection) {
    const { tests } = this;
    tests.resolveHandler = (item) => (item === undefined ? this.refresh() : this.discover(item));
    tests.refreshHandler = () => this.refresh();
    tests.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token, false), true);
    const measured = tests.createRunProfile(
      "Coverage",
      vscode.TestRunProfileKind.Coverage,
      (request, token) => this.run(request, token, true),
      true,
    );
    measured.loadDetailedCoverage = (_, coverage) => Promise.resolve(coverage instanceof PolicyCoverage ? coverage.details : []);
    const files = vscode.workspace.createFileSystemWatcher("**/*_test.vgl");
    this.listening = vscode.Disposable.from(
      files,
      files.onDidCreate(() => this.refresh()),
      files.onDidDelete(() => this.refresh()),
      files.onDidChange((uri) => this.discoverIn(uri)),
      server.onServing((yes) => {
        this.served = yes;
        void this.refresh();
      }),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        // What a policy declares is what its tests are about.
        this.discoverIn(uri.with({ path: uri.path.replace(/(?<!_test)\.vgl$/, "_test.vgl") }));
      }),
    );
  }

  dispose(): void {
    this.listening.dispose();
    this.tests.dispose();
  }

  /** List the files of tests; what is known of those that are still there stays. */
  private async refresh(): Promise<void> {
    let uris: string[] = [];
    try {
      uris = (await this.server.ask<string[]>("vigil.testFiles")) ?? [];
    } catch (reason) {
      this.server.output.error(String(reason));
    }
    const items = uris.map((text) => {
      const uri = vscode.Uri.parse(text);
      return this.tests.items.get(uri.toString()) ?? this.file(uri);
    });
    this.tests.items.replace(items);
    vscode.workspace.textDocuments.forEach((document) => this.opened(document));
  }

  private file(uri: vscode.Uri): vscode.TestItem {
    const item = this.tests.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    return item;
  }

  private opened(document: vscode.TextDocument): void {
    if (!this.served || document.uri.scheme !== "file" || !document.uri.path.endsWith("_test.vgl")) {
      return;
    }
    const known = this.tests.items.get(document.uri.toString());
    if (known === undefined) {
      this.tests.items.add(this.file(document.uri));
    }
    if (known === undefined || known.children.size === 0) {
      this.discoverIn(document.uri);
    }
  }

  private discoverIn(uri: vscode.Uri): void {
    const item = this.tests.items.get(uri.toString());
    if (item !== undefined) {
      void this.discover(item);
    }
  }

  /** Find the tests of a file. */
  private async discover(file: vscode.TestItem): Promise<void> {
    if (file.parent !== undefined) {
      return;
    }
    file.busy = true;
    try {
      const suite = await this.server.ask<Suite>("vigil.testsIn", file.id);
      if (suite !== undefined) {
        file.children.replace(suite.tests.map(({ name, location }) => this.test(file, name, location)));
        explain(file, suite.errors);
      }
    } catch (reason) {
      file.error = String(reason);
    } finally {
      file.busy = false;
    }
  }

  private test(file: vscode.TestItem, name: string, location: Location): vscode.TestItem {
    const item = file.children.get(name) ?? this.tests.createTestItem(name, name, file.uri);
    item.range = rangeOf(location);
    // In the order of the file.
    item.sortText = String(location.range.start.line).padStart(8, "0");
    return item;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, measured: boolean): Promise<void> {
    const run = this.tests.createTestRun(request);
    try {
      const chosen = this.chosen(request);
      await Promise.all([...chosen.keys()].filter((file) => file.children.size === 0).map((file) => this.discover(file)));
      const without = new Set(request.exclude);
      const wanted = [...chosen].map(([file, tests]) => {
        const all = tests ?? children(file);
        return { file, tests: all.filter((test) => !without.has(test)), whole: tests === undefined && without.size === 0 };
      });
      wanted.forEach(({ tests }) => tests.forEach((test) => run.enqueued(test)));
      // Coverage is that of all tests together. Otherwise each file's results are shown when they are there.
      for (const part of measured ? [wanted] : wanted.map((one) => [one])) {
        if (!token.isCancellationRequested) {
          await this.runPart(part, run, token, measured);
        }
      }
    } finally {
      run.end();
    }
  }

  /** The files that are asked for, each with the tests that are; undefined for all of them. */
  private chosen(request: vscode.TestRunRequest): Map<vscode.TestItem, vscode.TestItem[] | undefined> {
    const chosen = new Map<vscode.TestItem, vscode.TestItem[] | undefined>();
    const without = new Set(request.exclude);
    for (const item of request.include ?? itemsOf(this.tests.items)) {
      const file = item.parent ?? item;
      if (without.has(item) || without.has(file)) {
        continue;
      }
      const before = chosen.get(file);
      chosen.set(file, item === file || (before === undefined && chosen.has(file)) ? undefined : [...(before ?? []), item]);
    }
    return chosen;
  }

  private async runPart(wanted: readonly Wanted[], run: vscode.TestRun, token: vscode.CancellationToken, measured: boolean): Promise<void> {
    const files = wanted.map(({ file, tests, whole }) => ({ uri: file.id, ...(whole ? {} : { tests: tests.map((test) => test.id) }) }));
    wanted.forEach(({ tests }) => tests.forEach((test) => run.started(test)));
    let report: Report | undefined;
    try {
      report = await this.server.ask<Report>("vigil.testResults", { files, coverage: measured }, token);
    } catch (reason) {
      if (!token.isCancellationRequested) {
        const message = new vscode.TestMessage(String(reason));
        wanted.forEach(({ tests, file }) => (tests.length > 0 ? tests : [file]).forEach((test) => run.errored(test, message)));
      }
    }
    if (token.isCancellationRequested || report === undefined) {
      wanted.forEach(({ tests }) => tests.forEach((test) => run.skipped(test)));
      return;
    }
    for (const { file, tests } of wanted) {
      this.show(file, tests, report, run);
    }
    for (const covered of report.coverage?.files ?? []) {
      const [first] = covered.parts;
      if (first !== undefined) {
        run.addCoverage(new PolicyCoverage(vscode.Uri.parse(first.location.uri), covered));
      }
    }
  }

  /** Show what came of the tests of a file; what is wrong with a test, or with what it tests, is said of it. */
  private show(file: vscode.TestItem, wanted: readonly vscode.TestItem[], report: Report, run: vscode.TestRun): void {
    const results = report.tests.filter((test) => isIn(test.location, file));
    const done = new Set<string>();
    for (const { name, outcome, seconds, location, failures } of results) {
      const test = this.test(file, name, location);
      file.children.add(test);
      done.add(name);
      if (outcome === "passed") {
        run.passed(test, seconds * 1000);
      } else {
        run.failed(test, failures.map(failureOf), seconds * 1000);
      }
    }
    const errors = explain(file, report.errors.filter(({ of }) => of.some((place) => isIn(place, file))));
    for (const test of wanted.filter(({ id }) => !done.has(id))) {
      const own = errors.filter(({ test: at }) => at === test);
      const told = (own.length > 0 ? own : errors).map(({ problem }) => messageOf(problem));
      // Without a reason it is no longer there.
      if (told.length > 0) {
        run.errored(test, told);
      } else {
        run.skipped(test);
      }
    }
    if (wanted.length === 0 && errors.length > 0) {
      run.errored(file, errors.map(({ problem }) => messageOf(problem)));
    }
  }
}

interface Wanted {
  readonly file: vscode.TestItem;
  readonly tests: readonly vscode.TestItem[];
  readonly whole: boolean;
}

/** Says of each test, and of the file, what is wrong; a problem that stands in no test is one of the file. */
function explain(file: vscode.TestItem, problems: readonly Problem[]): { problem: Problem; test: vscode.TestItem | undefined }[] {
  const tests = children(file);
  const found = problems.map((problem) => ({ problem, test: isIn(problem.location, file) ? testAt(tests, problem) : undefined }));
  for (const item of [file, ...tests]) {
    const own = found.filter(({ test }) => (test ?? file) === item).map(({ problem }) => problem.message);
    item.error = own.length > 0 ? own.join("\n\n") : undefined;
  }
  return found;
}

function isIn(location: Location, file: vscode.TestItem): boolean {
  return vscode.Uri.parse(location.uri).toString() === file.id;
}

/** The test that a problem stands in: the last that begins before it. */
function testAt(tests: readonly vscode.TestItem[], problem: Problem): vscode.TestItem | undefined {
  const at = rangeOf(problem.location).start;
  return tests.filter(({ range }) => range !== undefined && !range.start.isAfter(at)).at(-1);
}

function children(item: vscode.TestItem): vscode.TestItem[] {
  return itemsOf(item.children).sort((a, b) => (a.sortText ?? "").localeCompare(b.sortText ?? ""));
}

function itemsOf(items: vscode.TestItemCollection): vscode.TestItem[] {
  return [...items].map(([, item]) => item);
}

function failureOf(failure: Problem & { wanted: string; found: string }): vscode.TestMessage {
  const message = vscode.TestMessage.diff(failure.message, failure.wanted, failure.found);
  message.location = locationOf(failure.location);
  return message;
}

function messageOf(problem: Problem): vscode.TestMessage {
  const message = new vscode.TestMessage(problem.message);
  message.location = locationOf(problem.location);
  return message;
}

function locationOf(location: Location): vscode.Location {
  return new vscode.Location(vscode.Uri.parse(location.uri), rangeOf(location));
}

function rangeOf({ range: { start, end } }: Location): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** What the branches of a part are: what should be seen of it. */
const SEEN: Readonly<Record<string, string>> = {
  satisfied: "satisfied by a run that puts it to the test",
  violated: "violated",
  exercised: "put to the test",
  true: "true",
  false: "false",
  decides: "false while everything beside it is true",
};

/** The coverage of a policy: a part is covered if anything was seen of it, each thing that should be is a branch. */
class PolicyCoverage extends vscode.FileCoverage {
  readonly details: vscode.FileCoverageDetail[];

  constructor(uri: vscode.Uri, report: FileReport) {
    const [statements, parts] = [true, false].map((yes) => report.parts.filter(({ kind }) => (kind === "statement") === yes));
    const covered = (some: FileReport["parts"] = []) =>
      new vscode.TestCoverageCount(some.filter(({ seen }) => seen.length > 0).length, some.length);
    const wanted = report.parts.flatMap((part) => part.wanted);
    const seen = report.parts.flatMap((part) => part.seen);
    super(uri, covered(report.parts), new vscode.TestCoverageCount(seen.length, wanted.length), covered(statements));
    this.details = [
      ...(statements ?? []).map(({ text, seen: of, location }) => new vscode.DeclarationCoverage(text, of.length > 0, rangeOf(location))),
      ...[...(statements ?? []), ...(parts ?? [])].map((part) => {
        const range = rangeOf(part.location);
        const branches = part.wanted.map((one) => new vscode.BranchCoverage(part.seen.includes(one), range, SEEN[one] ?? one));
        return new vscode.StatementCoverage(part.seen.length > 0, range, branches);
      }),
    ];
  }
}
