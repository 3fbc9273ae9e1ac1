// What is half written in a form, as it is kept, and what somebody else has changed of it since.

/** The longest value that is told beside a field. */
const TOLD_MAX = 100;

/**
 * What is to be kept of a form: `{ values, basis }`. The values are what is written and no secret,
 * as far as it differs, and the basis is what each of these fields had when the writing began;
 * nothing where nothing differs. A field that is missing in `basis` began with its `initial` value.
 */
export function draftOf({ fields, initial, written, basis }) {
  const secrets = fields.filter(({ isSecret }) => isSecret).map(({ name }) => name);
  const differs = (name) => written[name] !== initial[name] && !secrets.includes(name);
  const names = Object.keys(written).filter(differs);
  if (names.length === 0) return undefined;
  const pick = (all) => Object.fromEntries(names.map((name) => [name, all[name]]));
  return { values: pick(written), basis: pick({ ...initial, ...basis }) };
}

/** Of what is written, the fields that have another initial value by now: with that of then. */
export function staleOf({ initial, written, basis }) {
  const isStale = ([name, was]) => was !== initial[name] && written[name] !== initial[name];
  return Object.fromEntries(Object.entries(basis).filter(isStale));
}

/** Says at each of these fields what it has by now. */
export function staleWords(stale, initial) {
  const words = Object.keys(stale).map((name) => [name, nowIs(initial[name])]);
  return Object.fromEntries(words);
}

function nowIs(value) {
  const isTold = typeof value === "string" && value !== "" && value.length <= TOLD_MAX;
  const now = isTold ? ` Now it is “${value}”.` : value === "" ? " Now it is empty." : "";
  return `Somebody else has changed this meanwhile.${now} Write it anew to replace that.`;
}

/** What was kept of a form; a draft of before has its values alone. */
export function keptOf(draft) {
  if (draft && !("values" in draft)) return { values: draft, basis: {} };
  return { values: {}, basis: {}, ...draft };
}
