// Forms for what the API takes: fields with labels, and each refusal at the field it is about.
import { useEffect, useRef, useState } from "preact/hooks";

import { Button } from "./parts.jsx";

/**
 * A form of `fields`: `{ name, label, type, help, options, isOptional, title }`, where `name` is
 * the API's, `type` one of an input, "select", "checkbox", "textarea", "routes" (addresses, one a
 * line) or "picture", and `title` begins a group. `onSave(body, values)` gets what the API takes,
 * and all that is written; what it throws is told at the fields that it names. `onWrite(values)`
 * hears of each change. Where a page has several forms, `of` tells their fields apart.
 */
export function Form({ fields, initial, label, sentence, isOff, onSave, onCancel, onWrite, of }) {
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState({});
  const [isBusy, setBusy] = useState(false);
  const form = useRef();
  useEffect(() => form.current.querySelector("[aria-invalid]")?.focus(), [problems]);
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy || isOff) return;
    setBusy(true);
    setProblems({});
    const saved = onSave(bodyOf(fields, values), values);
    await saved.catch((why) => setProblems(problemsOf(why, fields)));
    setBusy(false);
  };
  const write = (name) => (value) => {
    const written = { ...values, [name]: value };
    setValues(written);
    onWrite?.(written);
  };
  return (
    <form class="form" ref={form} onSubmit={submit} noValidate>
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
      {sentence && <p id="form-does">{sentence(values)}</p>}
      <p class="row">
        <Button
          class="main"
          isOff={isBusy || isOff}
          aria-describedby={sentence ? "form-does" : undefined}
        >
          {label}
        </Button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </p>
    </form>
  );
}

function Field({ of = "field", title, name, label, type, help, options, value, problem, onWrite }) {
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
      <div class={type === "checkbox" ? "field check" : "field"}>
        <label for={id}>{label}</label>
        <Control {...{ type, options, value, onWrite, common }} />
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

function Control({ type, options, value, onWrite, common }) {
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
  if (type === "textarea" || type === "routes") {
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
  for (const { name, type, isOptional } of fields) {
    const value = values[name];
    if (type === "checkbox") body[name] = value;
    else if (value !== "") body[name] = WRITTEN[type]?.(value) ?? value;
    else if (isOptional) body[name] = null;
  }
  return body;
}

const WRITTEN = {
  number: Number,
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
    if (isHere) add(field, sentence(text));
    else add("", text);
  }
  return errors.length > 0 ? told : { "": message };
}

/** Makes a sentence of "/host must be a host name". */
function sentence(message) {
  const text = message.replace(/^\/\S+ /, "");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
