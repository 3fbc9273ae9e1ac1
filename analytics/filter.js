// The filters of the datasets: which rows fit, which rooms and which time they leave.
import { GraphQLError } from "graphql";

import { DIMENSIONS } from "./groups.js";

/** What may follow the name of a field after "_", beside `in` and `notin`. */
export const OPERATORS = ["neq", "geq", "leq", "gt", "lt"];
/** The operators that say since when, and until when. */
const FROM = ["eq", "in", "geq", "gt"];
const UNTIL = ["eq", "in", "leq", "lt"];
const HOUR_MS = 3_600_000;
const COMPARE = {
  eq: (value, wanted) => value === wanted,
  neq: (value, wanted) => value !== wanted,
  geq: (value, wanted) => value >= wanted,
  leq: (value, wanted) => value <= wanted,
  gt: (value, wanted) => value > wanted,
  lt: (value, wanted) => value < wanted,
  in: (value, wanted) => wanted.includes(value),
  notin: (value, wanted) => !wanted.includes(value),
};

/** Whether a row fits a filter. */
export function fits(row, filter) {
  return Object.entries(filter ?? {}).every(([key, wanted]) => {
    if (wanted === null || wanted === undefined) return true;
    if (key === "AND") return wanted.every((part) => fits(row, part));
    if (key === "OR") return wanted.some((part) => fits(row, part));
    const { field, operator } = partsOf(key);
    return COMPARE[operator](valueOf(row, field), comparable(field, wanted));
  });
}

/** The time outside of which no row fits, in milliseconds: `{ since, until }`. */
export function bounds(filter) {
  let [since, until] = [undefined, undefined];
  for (const { field, operator, wanted } of demands(filter)) {
    if (field === "waitingRoomId") continue;
    const moments = [comparable(field, wanted)].flat();
    if (FROM.includes(operator)) since = Math.max(since ?? 0, Math.min(...moments));
    // The minutes of a dimension's value lie up to an hour after it.
    const last = Math.max(...moments) + (field === "datetime" ? 0 : HOUR_MS);
    if (UNTIL.includes(operator)) until = Math.min(until ?? last, last);
  }
  return { since, until };
}

/** The rooms of which rows can fit. */
export function roomsOf(filter, rooms) {
  const ids = demands(filter).filter(({ field }) => field === "waitingRoomId");
  return rooms.filter(({ id }) =>
    ids.every(({ operator, wanted }) => COMPARE[operator](id, wanted)),
  );
}

/** What every row must meet that fits: `[{ field, operator, wanted }]`. */
function demands(filter) {
  return Object.entries(filter ?? {}).flatMap(([key, wanted]) => {
    if (wanted === null || wanted === undefined || key === "OR") return [];
    if (key === "AND") return wanted.flatMap(demands);
    return [{ ...partsOf(key), wanted }];
  });
}

function partsOf(key) {
  const [field, operator = "eq"] = key.split("_");
  return { field, operator };
}

function valueOf(row, field) {
  if (field === "datetime") return row.at;
  const value = DIMENSIONS[field](row);
  return field === "waitingRoomId" ? value : Date.parse(value);
}

function comparable(field, wanted) {
  if (field === "waitingRoomId") return wanted;
  if (Array.isArray(wanted)) return wanted.map((one) => comparable(field, one));
  const at = Date.parse(wanted);
  if (Number.isNaN(at)) throw new GraphQLError(`${field}: ${JSON.stringify(wanted)} is no time.`);
  return at;
}
