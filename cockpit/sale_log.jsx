// The log of a room's admissions: what stands of it, and the whole of it as one file to check.
import { useState } from "preact/hooks";

import { countedBy, saleFrom } from "../transparency/download.js";
import { pathOf } from "./api.js";
import { moment, number } from "./facts.js";
import { offer } from "./offer.js";

export function SaleLog({ session, room }) {
  const [log, tell] = useState();
  const [problem, setProblem] = useState();
  const [part, setPart] = useState();
  const path = `${pathOf(room)}/transparency_log`;
  const act = async (work) => {
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(error.message);
    } finally {
      setPart(undefined);
    }
  };
  const look = () => act(async () => tell(await session.call("GET", path)));
  const download = () =>
    act(async () => {
      const told = await session.call("GET", path);
      tell(told);
      const read = (name) => session.bytes(`${path}/${name}`);
      const sale = await saleFrom(read, { counted: countedBy(told), onPart: setPart });
      offer(JSON.stringify(sale), `${room.name}-log.json`);
    });
  return (
    <section aria-labelledby="log">
      <h2 id="log">Log of admissions</h2>
      <p>
        Others can check with it who entered when, in what order and within which limits. It names
        nobody. Switch it on in the settings of the room or of an event.
      </p>
      <p>
        <button type="button" onClick={look}>
          Show the log
        </button>{" "}
        <button type="button" disabled={part !== undefined} onClick={download}>
          {part === undefined ? "Download it" : `${Math.floor(part * 100)} %`}
        </button>
      </p>
      <div role="status">
        {problem && <p class="problem">{problem}</p>}
        {log && <Stands log={log} />}
      </div>
    </section>
  );
}

function Stands({ log }) {
  const lines = [
    ["Admissions", number(log.admissions)],
    ["Since", moment(log.begun_at)],
    ["Left out", number(log.left_out)],
    ["Counted by the room", log.counted === null ? "not known" : countOf(log)],
    ["Key", <code>{log.verifier_key}</code>],
  ];
  return (
    <dl>
      {lines.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

function countOf({ counted, counted_since: from, counted_until: until }) {
  return `${number(counted)} from ${moment(from)} until ${moment(until)}`;
}
