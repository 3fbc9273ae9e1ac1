// A made-up request: would this visitor pass?
import { useState } from "preact/hooks";

import { addressOf } from "./facts.js";
import { Form } from "./form.jsx";
import { Status } from "./parts.jsx";

const FIELDS = [
  { name: "url", label: "URL", type: "text" },
  {
    name: "method",
    label: "Method",
    type: "select",
    options: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((value) => ({
      value,
      label: value,
    })),
  },
  { name: "address", label: "Address of the visitor", type: "text", help: "ip.src; may be empty." },
  {
    name: "headers",
    label: "Headers",
    type: "textarea",
    help: "One a line, like: User-Agent: probe. Cookies are the header Cookie.",
  },
  { name: "body", label: "Body", type: "textarea", help: "http.request.body.raw; may be empty." },
  { name: "country", label: "Country", type: "text", help: "Two letters, as Cloudflare tells it." },
  {
    name: "expression",
    label: "Expression to try",
    type: "textarea",
    help: "As if it were the last rule; it is not kept. May be empty.",
  },
];
const EMPTY = { method: "GET", address: "", headers: "", body: "", country: "", expression: "" };
const OUTCOMES = {
  passes: ["good", "Passes", "The room does not hold this request."],
  decided_by_room: ["look", "Meets the room", "It enters or waits as everybody does."],
  suspended: ["act", "Passes", "The room is disabled, so everybody does."],
  other_room: ["look", "Meets another room", "Another room covers this URL."],
  not_covered: ["act", "Passes", "No room covers this URL."],
  contradictory_path: ["act", "Refused", "Servers may read this path in different ways."],
};

export function Trial({ session, room, path, onResult }) {
  const [told, tell] = useState();
  const ask = async ({ headers, country, ...request }) => {
    const cf = country ? { country: country.toUpperCase() } : undefined;
    const body = { ...request, headers: headersOf(headers ?? ""), cf };
    tell(undefined);
    const result = await session.call("POST", `${path}/test`, body);
    tell(result);
    onResult(Object.fromEntries(result.rules.map(({ id, matches }) => [id, matches])));
  };
  return (
    <section aria-labelledby="trial">
      <h2 id="trial">Test a request</h2>
      <p>Would this visitor pass? Nothing is changed, and nobody is counted.</p>
      <Form
        fields={FIELDS}
        initial={{ ...EMPTY, url: addressOf(room, location) ?? "" }}
        label="Test"
        draft={`${room.id}/trial`}
        onSave={ask}
      />
      <div role="status">{told && <Told {...told} />}</div>
    </section>
  );
}

function Told({ outcome, expression_matches: draft, may_be_served_as: alike }) {
  const [level, word, sentence] = OUTCOMES[outcome];
  const ofDraft = draft === null ? "" : draft ? "The expression matches." : "It does not match.";
  return (
    <p class="told">
      <Status of={{ level, word }} /> {sentence} {ofDraft}
      {alike && alikeSentence(alike)}
    </p>
  );
}

function alikeSentence(path) {
  const question = ` Does your server show the page of ${path} here too?`;
  return `${question} Then refuse this URL there, or add it to the room's routes.`;
}

/** Reads headers as they are written to a server; a line without a colon is none. */
function headersOf(text) {
  const lines = text.split("\n").filter((line) => line.includes(":"));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
