// Forms for what the API takes: fields with labels, and each refusal at the field it is about.
import { useEffect, useRef, useState } from "preact/hooks";

import { keepDraft, readDraft } from "./drafts.js";
import { HtmlEditor } from "./editor.jsx";
import { draftOf, keptOf, staleOf, staleWords } from "./form_draft.js";
import { Button } from "./parts.jsx";
import { numberOf } from "./written_number.js";

/**
 * A form of `fields`: `{ name, label, type, help, options, isOptional, isSecret, title }`, where
 * `name` is the API's, `type` one of an input, "select" (with `isYesOrNo` of true and false),
 * "checkbox", "textarea", "html" (whose errors stand at their place, also those of `told`, a list
 * of texts), "routes" (addresses, one a line), "groups" or "picture", and `title` begins a group.
 * `onSave(body, values, stale)` gets what the API takes, and all that is written; what it throws is
 * told at the fields that it names. `onWrite(values)` hears of each change. Where a page has
 * several forms, `of` tells their fields apart. What is written is kept under the name `draft`
 * until it is saved or thrown away, but for secrets. Where `initial` `isStored`, others may change
 * it before a draft is back: such fields say so, and `stale` has what they were when it began.
 */
export function Form({ fields, onCancel, of, label, sentence, isOff, ...rest }) {
  const form = useRef();
  const { values, problems, isBusy, isBack, write, save, leave } = useForm({ fields, ...rest });
  useEffect(() => form.current.querySelector("[aria-invalid], .invalid")?.focus(), [problems]);
  const submit = (event) => {
    event.preventDefault();
    if (!isBusy && !isOff) save();
  };
  const told = sentence?.(values);
  return (
    <form class="form" ref={form} onSubmit={submit} noValidate>
      {isBack && <Back onLeave={leave} />}
      {fields.map((field) => (
        <Field
          key={field.name}
          {...field}
          of={of}
          value={values[field.name]}
          problem={problems[field.name]}
          onWrite={write(field.name)}
        />
      ))}
      <p class="problem" role="alert">
        {problems[""]}
      </p>
      {sentence && <p id="form-does">{told}</p>}
      <p class="row">
        <Button
          class="main"
          isOff={isBusy || isOff}
          aria-describedby={sentence ? "form-does" : undefined}
        >
          {label}
        </Button>
        {onCancel && <Cancel onLeave={leave} onCancel={onCancel} />}
      </p>
    </form>
  );
}

function Back({ onLeave }) {
  return (
    <p class="note" role="status">
      What you had written here is back.{" "}
      <button type="button" class="link" onClick={onLeave}>
        Begin anew
      </button>
    </p>
  );
}

function Cancel({ onLeave, onCancel }) {
  const cancel = () => {
    onLeave();
    onCancel();
  };
  return (
    <button type="button" onClick={cancel}>
      Cancel
    </button>
  );
}

/** What is written in a form, kept as a draft, and what came of saving it. */
function useForm({ fields, initial, draft, isStored, onSave, onWrite }) {
  const [kept] = useState(() => keptOf(readDraft(draft)));
  const [isBack, setBack] = useState(Object.keys(kept.values).length > 0);
  const [values, setValues] = useState({ ...initial, ...kept.values });
  const [basis, setBasis] = useState(isStored ? kept.basis : {});
  const stale = staleOf({ initial, written: values, basis });
  const [problems, setProblems] = useState(() => staleWords(stale, initial));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (isBack) onWrite?.(values);
  }, []);
  const show = (written) => {
    setValues(written);
    onWrite?.(written);
  };
  const write = (name) => (value) => {
    const written = { ...values, [name]: value };
    // Whoever writes here has seen what the field has by now.
    const { [name]: wasStale, ...others } = basis;
    if (wasStale !== undefined) setProblems({ ...problems, [name]: undefined });
    setBasis(others);
    keepDraft(draft, draftOf({ fields, initial, written, basis: others }));
    show(written);
  };
  const forget = () => {
    keepDraft(draft, undefined);
    setBack(false);
    setBasis({});
  };
  const leave = () => {
    forget();
    setProblems({});
    show(initial);
  };
  const save = async () => {
    setBusy(true);
    setProblems({});
    try {
      await onSave(bodyOf(fields, values), values, stale);
      forget();
    } catch (why) {
      setProblems(problemsOf(why, fields));
    }
    setBusy(false);
  };
  return { values, problems, isBusy, isBack, write, save, leave };
}

function Field({ of = "field", title, name, label, help, value, problem, onWrite, ...rest }) {
  const id = `${of}-${name}`;
  const told = [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ");
  const common = {
    id,
    "aria-describedby": told || undefined,
    "aria-invalid": problem ? "true" : undefined,
  };
  return (
    <>
      {title && <h2>{title}</h2>}
      <div class={rest.type === "checkbox" ? "field check" : "field"}>
        <label for={id}>{label}</label>
        <Control {...{ ...rest, label, value, problem, onWrite, common }} />
        {help && (
          <p class="soft small" id={`${id}-help`}>
            {help}
          </p>
        )}
        {problem && (
          <p class="problem" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </div>
    </>
  );
}

function Control({ type, label, options, told = [], value, problem, onWrite, common }) {
  if (type === "checkbox") {
    const change = (event) => onWrite(event.currentTarget.checked);
    return <input {...common} type="checkbox" checked={value} onChange={change} />;
  }
  const change = (event) => onWrite(event.currentTarget.value);
  if (type === "picture") return <Picture {...{ value, onWrite, common }} />;
  if (type === "select") {
    return (
      <select {...common} value={value} onChange={change}>
        {options.map((option) => (
          <option value={option.value}>{option.label}</option>
        ))}
      </select>
    );
  }
  if (type === "html") {
    const all = problem ? [problem, ...told] : told;
    return <HtmlEditor {...{ label, value, told: all, isInvalid: problem, onWrite, common }} />;
  }
  if (type === "textarea" || type === "routes" || type === "groups") {
    return <textarea {...common} value={value} rows={3} spellcheck={false} onInput={change} />;
  }
  const isNumber = type === "number";
  return (
    <input
      {...common}
      type={type}
      inputmode={isNumber ? "numeric" : undefined}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={change}
    />
  );
}

/** A picture as a `data:` address: chosen from the device, shown, and taken away. */
function Picture({ value, onWrite, common }) {
  const choose = async (event) => {
    const [file] = event.currentTarget.files;
    if (file) onWrite(await addressOf(file));
  };
  return (
    <>
      <input {...common} type="file" accept="image/*" onChange={choose} />
      {value && (
        <p class="row">
          <img class="logo" src={value} alt="The logo" />
          <button type="button" onClick={() => onWrite("")}>
            Take away
          </button>
        </p>
      )}
    </>
  );
}

function addressOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** What the API takes of the values of a form: a field that is empty is `null`, or left out. */
function bodyOf(fields, values) {
  const body = {};
  for (const { name, type, isOptional, isYesOrNo } of fields) {
    const value = values[name];
    if (type === "checkbox") body[name] = value;
    else if (value !== "") {
      body[name] = (WRITTEN[isYesOrNo ? "yes-or-no" : type] ?? same)(value, name);
    }
    else if (isOptional) body[name] = null;
  }
  return body;
}

const same = (value) => value;
const WRITTEN = {
  number: numberOf,
  "yes-or-no": (value) => value === "true",
  "datetime-local": (value) => new Date(value).toISOString(),
};

/** The refusals of a call by field, and as "" those that are about none of these fields. */
function problemsOf({ message, errors = [] }, fields) {
  const told = {};
  const add = (name, text) => {
    told[name] = told[name] ? `${told[name]} ${text}` : text;
  };
  for (const { field, message: text } of errors) {
    const isHere = fields.some(({ name }) => name === field);
    if (isHere) add(field, sentence(text, fields));
    else add("", text);
  }
  return errors.length > 0 ? told : { "": message };
}

/** Makes a sentence of "/host must be a host name", with the labels of fields for their names. */
function sentence(message, fields) {
  const labels = Object.fromEntries(fields.map(({ name, label }) => [name, `“${label}”`]));
  const labelled = message.replace(/^\/\S+ /, "").replace(/\b[a-z]+(_[a-z]+)+\b/g, (name) =>
    Object.hasOwn(labels, name) ? labels[name] : name,
  );
  const text = labelled.trim();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
