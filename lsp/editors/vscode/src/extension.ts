// What VS Code calls: starts the server, and gives commands of the palette to it.

import * as vscode from "vscode";
import { Connection } from "./client";
import { openExample } from "./example";
import { TestExplorer } from "./testing";
import { Verdicts } from "./verdicts";

let connection: Connection | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Vigil", { log: true });
  const server = new Connection(output);
  connection = server;
  const commands: Record<string, (...parameters: never[]) => unknown> = {
    "vigil.restartServer": () => server.restart(),
    "vigil.showOutput": () => output.show(),
    "vigil.openRun": (uri?: vscode.Uri) => openRun(server, uri),
    "vigil.openCode": () => openCode(server),
    "vigil.openTests": (uri?: vscode.Uri) => openTests(server, uri),
    "vigil.openExample": () => openExample(context),
  };
  for (const [name, body] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, body));
  }
  context.subscriptions.push(
    output,
    new Verdicts(server, context.extensionUri),
    new TestExplorer(server),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("vigil.server")) {
        void server.restart();
      }
    }),
  );
  void server.restart();
}

export async function deactivate(): Promise<void> {
  await connection?.dispose();
}

/** Show a recorded run: the one given, the one in the editor, or one that is picked. */
async function openRun(server: Connection, uri?: vscode.Uri): Promise<void> {
  const open = vscode.window.activeTextEditor?.document.uri;
  const run = uri ?? (open?.path.endsWith(".jsonl") ? open : await pickRun());
  if (run !== undefined) {
    await server.execute("vigil.showRun", run.toString());
  }
}

async function pickRun(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles("**/*.{jsonl,json}", "**/{node_modules,.venv,.vscode}/**", 1000);
  const items = found
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
    .sort((a, b) => a.label.localeCompare(b.label));
  return (await vscode.window.showQuickPick(items, { placeHolder: "A recorded run" }))?.uri;
}

/** Explain one of the codes found in the editor's document, or one that is typed. */
async function openCode(server: Connection): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const found = editor === undefined ? [] : vscode.languages.getDiagnostics(editor.document.uri);
  const near = found.filter((finding) => editor?.selection.intersection(finding.range) !== undefined);
  const codes = [...new Set([...near, ...found].map(codeOf).filter((code) => code.startsWith("VGL")))];
  const code = codes.length > 0
    ? await vscode.window.showQuickPick(codes, { placeHolder: "A finding of this file" })
    : await vscode.window.showInputBox({
        prompt: "The code of a finding",
        placeHolder: "VGL201",
        validateInput: (text) => (/^VGL\d{3}$/.test(text) ? undefined : "A code is VGL and three digits."),
      });
  if (code !== undefined) {
    await server.execute("vigil.explainCode", code);
  }
}

function codeOf(finding: vscode.Diagnostic): string {
  const code = finding.code;
  return String(typeof code === "object" ? code.value : code ?? "");
}

async function openTests(server: Connection, uri?: vscode.Uri): Promise<void> {
  const policy = uri ?? vscode.window.activeTextEditor?.document.uri;
  if (policy !== undefined) {
    // The tests of `name.vgl` are in `name_test.vgl`.
    const tests = policy.with({ path: policy.path.replace(/(?<!_test)\.vgl$/, "_test.vgl") });
    await server.execute("vigil.runTests", tests.toString());
  }
}
