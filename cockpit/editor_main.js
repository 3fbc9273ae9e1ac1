// The editor of a page of one's own, from pieces of CodeMirror: line numbers, undo, and errors at
// their place. It is a file of its own, which only the screens with such a page load.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";

/** Tab leaves the editor, as it leaves every other field: the keyboard is never caught. */
const KEYS = keymap.of([...defaultKeymap, ...historyKeymap]);
const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--card)", color: "var(--text)", font: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", lineHeight: "1.5", maxHeight: "30rem" },
  ".cm-content": { caretColor: "var(--text)", minHeight: "8rem" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--ground)",
    color: "var(--soft)",
    borderRight: "1px solid var(--line)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  ".cm-selectionBackground": { backgroundColor: "var(--line)" },
  ".cm-diagnostic": { color: "var(--act)", backgroundColor: "var(--card)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--act)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--act)",
  },
  ".cm-tooltip": { border: "1px solid var(--soft)", backgroundColor: "var(--card)" },
});

/**
 * Makes an editor within a shadow root, where its styles need no permission of the page's policy.
 * `attributes` are those of the field for those who do not see it; `onWrite(text)` hears of each
 * change. Returns `{ write, mark, focus, leave }`: `write(text)` replaces all, `mark(errors)` shows
 * errors `{ line, column, message }`, counted from 1, `focus()` goes there and `leave()` ends it.
 */
export function editorIn(root, { text, attributes, onWrite }) {
  const changed = EditorView.updateListener.of((update) => {
    if (update.docChanged) onWrite(update.state.doc.toString());
  });
  const extensions = [
    lineNumbers(),
    history(),
    drawSelection(),
    lintGutter(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of(attributes),
    LOOK,
    KEYS,
    changed,
  ];
  const state = EditorState.create({ doc: text, extensions });
  const view = new EditorView({ state, root, parent: root });
  return {
    write(next) {
      const { doc } = view.state;
      if (doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    mark(errors) {
      const { doc } = view.state;
      const diagnostics = errors.map(({ line, column, message }) => {
        const { from: start, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
        // Columns count characters, positions the units of JavaScript's texts.
        const before = [...doc.sliceString(start, to)].slice(0, column - 1).join("");
        const from = start + before.length;
        return { from, to, severity: "error", message };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    focus: () => view.focus(),
    leave: () => view.destroy(),
  };
}
