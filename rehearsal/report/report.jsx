// What came of a rehearsal: the answer in words, the limits beside each other, the pictures of one
// of them, and the bill.
import { useState } from "preact/hooks";

import { RehearsedLimits } from "../../cockpit/rehearsed_limits.jsx";
import { count, limitsText, pastText } from "../../scripts/rehearse/answer.mjs";
import { Pictures } from "./pictures.jsx";

/**
 * Shows a rehearsal: `{ plan, plays: [{ plan, outcome, answer, bill }], found, past, tookS }`.
 */
export function Report({ of: { plan, plays, found, past, tookS } }) {
  const [shown, show] = useState(0);
  const all = found ? [...plays, { ...found.play, isFound: true }] : plays;
  const play = all[shown];
  return (
    <div class="report">
      <h1>{plan.title || "Rehearsal"}</h1>
      <div class="answer">
        {found && <p>{found.says}</p>}
        {play.answer.map((sentence) => (
          <p>{sentence}</p>
        ))}
        {past && <p>{pastText(past)}</p>}
      </div>
      <RehearsedLimits plan={plan} plays={all} />
      {all.length > 1 && (
        <nav aria-label="The limits that are shown">
          {all.map(({ outcome, isFound }, at) => (
            <button type="button" aria-pressed={at === shown} onClick={() => show(at)}>
              {limitsText(outcome.limits)}
              {isFound ? " (found)" : ""}
            </button>
          ))}
        </nav>
      )}
      <Pictures key={shown} plan={plan} outcome={play.outcome} />
      <h2>The bill</h2>
      <Bill of={play.bill} />
      <h2>What this is made of</h2>
      <p>
        A simulated world with {plan.data_centers ?? 3} data centers, seed {plan.seed ?? 1}, in
        which the same code decides that decides at your site. It took {Math.round(tookS)} s.
        Another seed is another day of the same kind: <code>--seed 2</code>.
      </p>
      <details>
        <summary>The plan</summary>
        <pre tabIndex={0}>{JSON.stringify(plan, null, 2)}</pre>
      </details>
    </div>
  );
}

function Bill({ of: { rows, usd, planUsd, isIncluded, pricesOf, elsewhere } }) {
  const plan = `the ${planUsd} USD a month of Workers Paid`;
  return (
    <>
      <p>
        {isIncluded
          ? `Nothing beyond ${plan}, while the month's included share lasts. `
          : `${usd.toFixed(2)} USD beyond ${plan}, less what of its included share is left. `}
        <span class="soft">Prices of {pricesOf}.</span>
      </p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">count</th>
            <th scope="col">USD</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">{row.what}</th>
              <td data-label="count">{count(row.count)}</td>
              <td data-label="USD">{row.usd.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul>
        {elsewhere.map(({ name, says }) => (
          <li>
            {name}: {says}
          </li>
        ))}
      </ul>
    </>
  );
}
