// The connection to `vigil lsp`: started, restarted, stopped; one at a time.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { provideTextDocumentContent, showDocument } from "./documents";
import { findProgram } from "./program";

const INSTALL = "How to Install";
const SETTINGS = "Open Settings";

/**
 * What the server is told of: policies wherever they are, runs and configurations on disk. The older side of a comparison
 * (`git:`) is a policy, too: the server explains it, and finds nothing in it. An older run or configuration would be
 * taken for the one that counts.
 */
const DOCUMENTS = [
  { language: "vigil" },
  { scheme: "file", pattern: "**/*.jsonl" },
  { scheme: "file", pattern: "**/vigil.toml" },
];

export class Connection implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();

  private readonly served = new vscode.EventEmitter<boolean>();
  private readonly told = new vscode.EventEmitter<unknown>();

  /** The server is there now, or it is gone. */
  readonly onServing = this.served.event;
  /** The server has verdicts of an open policy. */
  readonly onVerdicts = this.told.event;

  constructor(readonly output: vscode.LogOutputChannel) {}

  /** Stop what runs and start anew, after everything that was asked for before. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.stop()).then(() => this.start());
    return this.turn;
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.serving(false);
    // One that failed to start, or ended by itself, has nothing to be told.
    await client?.dispose().catch((reason: unknown) => this.output.warn(String(reason)));
  }

  dispose(): Promise<void> {
    this.turn = this.turn.then(() => this.stop());
    return this.turn;
  }

  /** Ask the server for a command of its own; the message says so where there is none. */
  async execute(command: string, ...parameters: unknown[]): Promise<unknown> {
    await this.turn;
    if (this.client?.state !== State.Running) {
      await missing("Vigil's language server does not run.");
      return undefined;
    }
    return this.client.sendRequest("workspace/executeCommand", { command, arguments: parameters });
  }

  /** The answer to a command of the server's, which may be cancelled; undefined where no server runs. */
  async ask<Answer>(command: string, argument?: unknown, token?: vscode.CancellationToken): Promise<Answer | undefined> {
    await this.turn;
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    const params = { command, arguments: argument === undefined ? [] : [argument] };
    // A third argument that is undefined would be sent as a second parameter.
    const lasting = token ?? new vscode.CancellationTokenSource().token;
    return this.client.sendRequest<Answer>("workspace/executeCommand", params, lasting);
  }

  private serving(yes: boolean): void {
    // Menus and the walkthrough are told, too.
    void vscode.commands.executeCommand("setContext", "vigil.serving", yes);
    this.served.fire(yes);
  }

  private async start(): Promise<void> {
    const program = findProgram();
    if (program === undefined) {
      this.output.warn("No `vigil` was found: not by the setting, not in `.venv`, not on PATH.");
      const trust = vscode.workspace.isTrusted ? "" : " Nothing inside this folder is started before you trust it.";
      void missing(`\`vigil\` was not found: \`pip install vigil-lang\` installs it.${trust}`);
      return;
    }
    this.output.info(`Starting ${program.command} ${program.arguments.join(" ")}`);
    const run = { command: program.command, args: program.arguments };
    const client = new LanguageClient("vigil", "Vigil", run, {
      documentSelector: DOCUMENTS,
      outputChannel: this.output,
      initializationOptions: { verdicts: true },
      markdown: { isTrusted: false, supportHtml: false },
      middleware: { window: { showDocument }, provideTextDocumentContent },
    });
    this.client = client;
    client.onNotification("vigil/verdicts", (params) => this.told.fire(params));
    client.onDidChangeState((change) => this.serving(change.newState === State.Running));
    try {
      await client.start();
    } catch (reason) {
      this.output.error(String(reason));
      void missing(`Vigil's language server did not start: ${String(reason)}`);
    }
  }
}

async function missing(message: string): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(message, INSTALL, SETTINGS);
  if (chosen === INSTALL) {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", "vigil-lang.vigil#start", false);
  } else if (chosen === SETTINGS) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "vigil.server");
  }
}
