// Where the `vigil` program is. What is inside a workspace that is not trusted is never taken.

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

const NAME = process.platform === "win32" ? "vigil.exe" : "vigil";
const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";

export interface Program {
  readonly command: string;
  readonly arguments: string[];
}

/** The program that the settings name, else the one of a folder's `.venv`, else the first on PATH. */
export function findProgram(): Program | undefined {
  const settings = vscode.workspace.getConfiguration("vigil.server");
  const named = settings.get<string>("command", "").trim();
  const command = named ? usable(onDisk(named)) : inEnvironment() ?? onPath(NAME);
  return command === undefined ? undefined : { command, arguments: settings.get<string[]>("arguments", ["lsp"]) };
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri).filter(isFile).map((uri) => uri.fsPath);
}

function isFile(uri: vscode.Uri): boolean {
  return uri.scheme === "file";
}

function inEnvironment(): string | undefined {
  const places = folders().map((folder) => path.join(folder, ".venv", SCRIPTS, NAME));
  return places.map(usable).find((place) => place !== undefined);
}

/** A program that a setting names: a path, or a name that PATH is looked through for. */
function onDisk(named: string): string {
  const root = folders()[0] ?? "";
  const expanded = named.replaceAll("${workspaceFolder}", root);
  if (path.basename(expanded) === expanded) {
    return onPath(expanded) ?? expanded;
  }
  return path.resolve(root, expanded);
}

function onPath(name: string): string | undefined {
  const extension = process.platform === "win32" && path.extname(name) === "" ? ".exe" : "";
  // A relative entry would be taken from wherever the editor happens to run.
  const entries = (process.env["PATH"] ?? "").split(path.delimiter).filter(path.isAbsolute);
  return entries.map((entry) => usable(path.join(entry, name + extension))).find((place) => place !== undefined);
}

/** The path if a program is there that may be started. */
function usable(command: string): string | undefined {
  try {
    fs.accessSync(command, fs.constants.X_OK);
    const real = fs.realpathSync(command);
    return fs.statSync(real).isFile() && (vscode.workspace.isTrusted || !(inside(command) || inside(real)))
      ? command
      : undefined;
  } catch {
    return undefined;
  }
}

function inside(file: string): boolean {
  return folders().some((folder) => [folder, fs.realpathSync(folder)].some((root) => within(root, file)));
}

function within(root: string, file: string): boolean {
  const way = path.relative(root, file);
  return way !== "" && !path.isAbsolute(way) && way !== ".." && !way.startsWith(".." + path.sep);
}
