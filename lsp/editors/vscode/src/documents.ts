// The documents that the server makes (`vigil:` URIs): shown rendered, with links that lead somewhere.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Middleware, ShowDocumentRequest } from "vscode-languageclient/node";

/** They are Markdown: shown rendered and beside the text. All else is shown as the editor does. */
export const showDocument: ShowDocumentRequest.MiddlewareSignature = async (params, token, next) => {
  const uri = vscode.Uri.parse(params.uri);
  if (uri.scheme !== "vigil") {
    return next(params, token);
  }
  // What is beside the first column already stays there: no third one is opened.
  const beside = vscode.window.tabGroups.activeTabGroup.viewColumn > vscode.ViewColumn.One;
  await vscode.commands.executeCommand(beside ? "markdown.showPreview" : "markdown.showPreviewToSide", uri);
  return { success: true };
};

type Provide = NonNullable<Middleware["provideTextDocumentContent"]>;

/** Links to files become paths from the first folder: the preview follows these, and no `file:` URIs. */
export const provideTextDocumentContent: Provide = async (uri, token, next) => {
  const text = await next(uri, token);
  const root = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!text || root?.scheme !== "file") {
    return text;
  }
  return text.replaceAll(/\]\((file:[^()\s]+)\)/g, (_: string, link: string) => {
    const target = vscode.Uri.parse(link);
    const way = path.posix.relative(root.path, target.path).split("/").map(quoted).join("/");
    return `](/${way}${target.fragment && `#${target.fragment}`})`;
  });
};

function quoted(part: string): string {
  return encodeURIComponent(part).replaceAll("(", "%28").replaceAll(")", "%29");
}
