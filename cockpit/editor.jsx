// A field for a page of one's own: an editor with line numbers, in which errors stand at their
// place. It comes as a script of its own; where that does not come, the field is a plain one.
import { useEffect, useRef, useState } from "preact/hooks";

const SCRIPT = "/_waiting-room/editor.js";

/** `told` are texts in which places are named, like "line 3, column 5: this tag is empty". */
export function HtmlEditor({ value, label, told, isInvalid, onWrite, common }) {
  const host = useRef();
  const editor = useRef();
  const latest = useRef();
  /** The last `value` that the editor took or gave, and what was typed and is no `value` yet. */
  const taken = useRef();
  const typed = useRef([]);
  latest.current = { value, onWrite };
  const [state, setState] = useState("coming");
  const marks = placesIn(told);
  const marked = JSON.stringify(marks);
  useEffect(() => {
    let isMeant = true;
    import(SCRIPT).then(
      ({ editorIn }) => {
        if (!isMeant) return;
        const root = host.current.attachShadow({ mode: "open" });
        taken.current = latest.current.value;
        editor.current = editorIn(root, {
          text: taken.current,
          attributes: { "aria-label": label, spellcheck: "false", id: "text" },
          onWrite: (text) => {
            typed.current.push(text);
            latest.current.onWrite(text);
          },
        });
        // A form goes to the first field with a mistake: here that is inside.
        host.current.focus = editor.current.focus;
        setState("there");
      },
      () => isMeant && setState("missing"),
    );
    return () => {
      isMeant = false;
      editor.current?.leave();
    };
  }, []);
  useEffect(() => {
    if (!editor.current || value === taken.current) return;
    taken.current = value;
    // An effect comes late: what was typed stands in the editor already, and more behind it.
    const at = typed.current.indexOf(value);
    typed.current.splice(0, at + 1);
    if (at >= 0) return;
    editor.current.write(value);
    typed.current = [];
  }, [state, value]);
  useEffect(() => editor.current?.mark(marks), [state, marked]);
  if (state === "missing") {
    const change = (event) => onWrite(event.currentTarget.value);
    return <textarea {...common} value={value} rows={8} spellcheck={false} onInput={change} />;
  }
  return <div class={isInvalid ? "editor invalid" : "editor"} ref={host} />;
}

/** The errors that texts name with their places, counted from 1. */
function placesIn(texts) {
  const place = /line (\d+), column (\d+): ((?:(?!line \d+, column).)*)/gi;
  return texts.flatMap((text) =>
    [...text.matchAll(place)].map(([, line, column, message]) => ({
      line: Number(line),
      column: Number(column),
      message,
    })),
  );
}
