// What the runs say of each statement, in the gutter and at the end of its line.
//
// A verdict is shown only of the very text that it is about: an edit makes all of a document unknown until the server
// has said more.

import * as vscode from "vscode";
import type { Connection } from "./client";

const STATES = ["holds", "violated", "unknown", "unreadable"] as const;
type State = (typeof STATES)[number];

/** What tells verdicts apart without colour. */
const MARKS: Record<State, string> = { holds: "✓", violated: "✗", unknown: "?", unreadable: "!" };

/** As the server sends it: `vigil/verdicts`. */
interface Sent {
  readonly uri: string;
  readonly version: number;
  readonly verdicts: readonly Verdict[];
}

interface Verdict {
  readonly range: { readonly start: { readonly line: number } };
  readonly statement: string;
  readonly state: State;
  readonly text: string;
}

/** A verdict in the line that it is shown in. */
export interface Mark {
  readonly line: number;
  readonly statement: string;
  readonly state: State;
  readonly text: string;
}

export class Verdicts implements vscode.Disposable {
  private readonly marks = new Map<string, Mark[]>();
  private readonly listening: vscode.Disposable;
  private types: Map<State, vscode.TextEditorDecorationType>;

  constructor(
    server: Connection,
    private readonly extension: vscode.Uri,
  ) {
    this.types = this.made();
    this.listening = vscode.Disposable.from(
      server.onVerdicts((params) => this.take(params as Sent)),
      server.onServing(() => this.forget()),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.workspace.onDidCloseTextDocument((document) => void this.marks.delete(document.uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.show(editor))),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("vigil.verdicts")) {
          this.remake();
        }
      }),
    );
  }

  dispose(): void {
    this.listening.dispose();
    this.types.forEach((type) => type.dispose());
  }

  private take(sent: Sent): void {
    const uri = vscode.Uri.parse(sent.uri).toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    // Of an older text nothing is shown: what is known of the newer one comes as well.
    if (document?.version === sent.version) {
      const marks = sent.verdicts.map(({ range, ...verdict }) => ({ ...verdict, line: range.start.line }));
      this.marks.set(uri, marks);
      this.showAll(uri);
    }
  }

  private edited(change: vscode.TextDocumentChangeEvent): void {
    const uri = change.document.uri.toString();
    const known = this.marks.get(uri);
    if (known !== undefined && change.contentChanges.length > 0) {
      this.marks.set(uri, moved(known, change.contentChanges));
      this.showAll(uri);
    }
  }

  private forget(): void {
    this.marks.clear();
    vscode.window.visibleTextEditors.forEach((editor) => this.show(editor));
  }

  private remake(): void {
    this.types.forEach((type) => type.dispose());
    this.types = this.made();
    vscode.window.visibleTextEditors.forEach((editor) => this.show(editor));
  }

  private made(): Map<State, vscode.TextEditorDecorationType> {
    const settings = vscode.workspace.getConfiguration("vigil.verdicts");
    const gutter = settings.get<boolean>("gutter", true);
    const image = (state: State, theme: string) => ({
      gutterIconPath: vscode.Uri.joinPath(this.extension, "images", `verdict-${state}-${theme}.svg`),
    });
    const type = (state: State) =>
      vscode.window.createTextEditorDecorationType({
        ...(gutter ? { gutterIconSize: "75%", light: image(state, "light"), dark: image(state, "dark") } : {}),
        after: { color: new vscode.ThemeColor(`vigil.verdict.${state}`), margin: "0 0 0 2em" },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      });
    return new Map(STATES.map((state) => [state, type(state)]));
  }

  private showAll(uri: string): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() === uri) {
        this.show(editor);
      }
    }
  }

  private show(editor: vscode.TextEditor): void {
    const settings = vscode.workspace.getConfiguration("vigil.verdicts");
    const inLine = settings.get<boolean>("lineEnd", true);
    const marks = (this.marks.get(editor.document.uri.toString()) ?? []).filter((mark) => mark.line < editor.document.lineCount);
    for (const [state, type] of this.types) {
      const options = marks
        .filter((mark) => mark.state === state)
        .map((mark): vscode.DecorationOptions => {
          const end = editor.document.lineAt(mark.line).range.end;
          const text = `${MARKS[state]} ${mark.text}`;
          return {
            range: new vscode.Range(end, end),
            hoverMessage: new vscode.MarkdownString().appendText(`${mark.statement}: ${mark.text}`),
            ...(inLine ? { renderOptions: { after: { contentText: text } } } : {}),
          };
        });
      editor.setDecorations(type, options);
    }
  }
}

/** Where marks stand after an edit, and that nothing is known of them; one whose line is gone is gone. */
export function moved(marks: readonly Mark[], changes: readonly vscode.TextDocumentContentChangeEvent[]): Mark[] {
  // The places of all changes are those of the text before: the last of them first.
  const ordered = [...changes].sort((a, b) => b.range.start.compareTo(a.range.start));
  return marks.flatMap((mark) => {
    let line = mark.line;
    for (const { range, text } of ordered) {
      if (range.start.line < line && line <= range.end.line && !(line === range.end.line && range.end.character === 0)) {
        return [];
      }
      if (range.start.line < line || (range.start.line === line && range.start.character === 0)) {
        line += (text.match(/\n/g)?.length ?? 0) - (range.end.line - range.start.line);
      }
    }
    return [{ ...mark, line, state: "unknown" as const, text: "…" }];
  });
}
