// "Why did I wait?": a field for the reference that a visitor quotes, and the answer in sentences.
import { useState } from "preact/hooks";

import { pathOf } from "./api.js";
import { Form } from "./form.jsx";
import { referenceIn, story } from "./why_words.js";

const FIELDS = [
  {
    name: "reference",
    label: "Reference",
    type: "text",
    help: "Ten characters of the queue page, like 7K3M9-QXB2R.",
  },
];

export function WhyWaited({ session, room }) {
  const [trace, tell] = useState();
  const ask = async ({ reference }) => {
    tell(undefined);
    const path = `${pathOf(room)}/trace/${referenceIn(reference)}`;
    tell(await session.call("GET", path));
  };
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why did I wait?</h2>
      <p>
        The queue page shows each visitor a reference. What happened to those who waited is kept
        for two days, without anything of the person.
      </p>
      <Form fields={FIELDS} initial={{ reference: "" }} label="Look it up" onSave={ask} />
      <div role="status">
        {trace && (
          <>
            <h3>{trace.reference}</h3>
            <ul>
              {story(trace).map((sentence) => (
                <li>{sentence}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}
