// What the audit log says of a change of rules, and how it is taken back: all of it or nothing, and
// never over something newer.

const ORDER = "order";
/** How the log writes a value that is too long for it. */
export const SHORTENED = /^\d+ bytes, SHA-256 /;
/** What an owner has written of a rule; the rest follows by itself. */
const WRITTEN = ["expression", "description", "enabled"];

/** Says in words what an entry of the log did to rules. */
export function whatWasDone(entry) {
  const { made, deleted, changed, isMoved } = partsOf(entry);
  const say = (rules, done) => rules.map((rule) => `${nameOf(rule)} ${done}`);
  const said = [
    ...say(made.map(({ after }) => after), "made"),
    ...say(deleted.map(({ before }) => before), "deleted"),
    ...changed.map((rule) => `${nameOf(rule.after)} changed: ${whatChanged(rule)}`),
  ];
  return said.length === 0 && isMoved ? "in another order" : said.join(", ");
}

/**
 * The way back from an entry of the log: a function that makes of the rules of now those that are
 * to be, and throws where something newer would be lost; nothing where the log does not have all.
 */
export function wayBack(entry) {
  const { before, after } = entry;
  const values = [before, after].flatMap((rules) => Object.values(rules ?? {}));
  const isWhole = before && after && !values.some((value) => SHORTENED.test(value));
  const { made, deleted, changed, isMoved } = partsOf(entry);
  // Entries of an older version do not tell the order.
  const isPlaced = deleted.length === 0 || before?.[ORDER];
  const isSomething = made.length + deleted.length + changed.length > 0 || isMoved;
  if (!isWhole || !isPlaced || !isSomething) return undefined;
  return (now) => {
    for (const { after: rule } of [...made, ...changed]) mustBe(rule, now);
    const isNow = (id) => now.some((one) => one.id === id);
    if (deleted.some(({ id }) => isNow(id))) throw new Error(NEWER);
    if (made.length + deleted.length + changed.length === 0) return ordered(entry, now);
    const back = now
      .filter(({ id }) => !made.some((one) => one.id === id))
      .map((rule) => changed.find(({ id }) => id === rule.id)?.before ?? rule);
    for (const { id, before: rule } of deleted) {
      back.splice(placeOf(id, before[ORDER], back), 0, rule);
    }
    return back;
  };
}

/** Whether two lists of rules say the same in the same order. */
export function areSame(one, other) {
  return one.length === other.length && one.every((rule, at) => saysTheSame(rule, other[at]));
}

const NEWER = "Nothing was changed: meanwhile somebody else has changed these rules. Look again.";

/** The rules that an entry is about, each with its id, as it was and as it became. */
function partsOf({ before, after }) {
  const { [ORDER]: orderBefore, ...were } = before ?? {};
  const { [ORDER]: orderAfter, ...are } = after ?? {};
  const ids = [...new Set([...Object.keys(were), ...Object.keys(are)])];
  const all = ids.map((id) => ({ id, before: were[id], after: are[id] }));
  return {
    made: all.filter((one) => !one.before),
    deleted: all.filter((one) => !one.after),
    changed: all.filter((one) => one.before && one.after),
    isMoved: all.length === 0 && Array.isArray(orderBefore) && Array.isArray(orderAfter),
  };
}

function mustBe(rule, now) {
  const found = now.find(({ id }) => id === rule.id);
  if (found && saysTheSame(found, rule)) return;
  const word = found ? "changed" : "deleted";
  throw new Error(`Nothing was changed: meanwhile ${nameOf(rule)} was ${word}. Look again.`);
}

/** The rules of now in the order of before, if they are still in the one that the entry made. */
function ordered({ before, after }, now) {
  const isSame = now.map(({ id }) => id).join() === after[ORDER].join();
  if (!isSame) throw new Error(NEWER);
  return before[ORDER].map((id) => now.find((rule) => rule.id === id));
}

/** Where a rule belongs that is put back: behind those that stood before it and are still there. */
function placeOf(id, order, now) {
  const earlier = order.slice(0, order.indexOf(id));
  return 1 + now.findLastIndex((rule) => earlier.includes(rule.id));
}

function saysTheSame(one, other) {
  return WRITTEN.every((field) => one[field] === other[field]);
}

function whatChanged({ before, after }) {
  if (SHORTENED.test(before) || SHORTENED.test(after)) return "too long to be told here";
  if (before.expression !== after.expression) {
    return `${after.expression}, before: ${before.expression}`;
  }
  if (before.enabled !== after.enabled) return after.enabled ? "enabled" : "disabled";
  return `description “${after.description}”, before: “${before.description}”`;
}

function nameOf(rule) {
  return SHORTENED.test(rule) ? "a long rule" : `“${rule.description || rule.expression}”`;
}
