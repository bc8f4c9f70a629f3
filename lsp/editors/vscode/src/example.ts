// A copy of the example that the walkthrough goes through.

import * as vscode from "vscode";

/** Ask for a folder, put the example into it and open that. */
export async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: "Put the Example Here",
  });
  const parent = chosen?.[0];
  if (parent === undefined) {
    return;
  }
  const target = vscode.Uri.joinPath(parent, "dashcam");
  try {
    await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, "example", "dashcam"), target);
  } catch (reason) {
    const there = reason instanceof vscode.FileSystemError && reason.code === "FileExists";
    if (!there) {
      throw reason;
    }
  }
  await vscode.commands.executeCommand("vscode.openFolder", target, { forceNewWindow: false });
}
