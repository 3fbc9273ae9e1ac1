// A field for a page of one's own: an editor with line numbers, in which errors stand at their
// place. It comes as a script of its own; where that does not come, the field is a plain one.
import { useEffect, useRef, useState } from "preact/hooks";

const SCRIPT = "/_waiting-room/editor.js";

/** `told` are texts in which places are named, like "line 3, column 5: this tag is empty". */
export function HtmlEditor({ value, label, told, isInvalid, onWrite, common }) {
  const host = useRef();
  const editor = useRef();
  const latest = useRef();
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
        editor.current = editorIn(root, {
          text: latest.current.value,
          attributes: { "aria-label": label, spellcheck: "false", id: "text" },
          onWrite: (text) => latest.current.onWrite(text),
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
  useEffect(() => editor.current?.write(value), [state, value]);
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
