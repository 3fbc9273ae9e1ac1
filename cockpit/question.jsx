// Asks for a room's name before something that people notice.
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Returns what `Question` takes as `changes`, and `answered(sentence)`, which asks and returns
 * whether it was confirmed.
 */
export function useQuestion(label) {
  const [asked, ask] = useState();
  const close = (isMeant) => () => {
    asked?.resolve(isMeant);
    ask(undefined);
  };
  return {
    asked,
    answered: (sentence) => new Promise((resolve) => ask({ label, sentence, resolve })),
    confirm: close(true),
    cancel: close(false),
  };
}

export function Question({ room, changes: { asked, confirm, cancel } }) {
  const dialog = useRef();
  const [name, setName] = useState("");
  useEffect(() => dialog.current.showModal(), []);
  const isNamed = name.trim() === room.name;
  const submit = (event) => {
    event.preventDefault();
    if (!isNamed) return;
    // Closed first, so that the focus goes back to the button that was pressed.
    dialog.current.close();
    confirm();
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" aria-describedby="consequence" onClose={cancel}>
      <form onSubmit={submit}>
        <h2 id="question">{asked.label}</h2>
        <p id="consequence">{asked.sentence}</p>
        <label for="name">
          To go on, enter the room’s name: <strong>{room.name}</strong>
        </label>
        <input
          id="name"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <p class="row">
          <button class="main" disabled={!isNamed}>
            {asked.label}
          </button>
          <button type="button" onClick={() => dialog.current.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
