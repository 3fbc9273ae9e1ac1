// The part of Cloudflare's GraphQL schema that is about waiting rooms, by its names.
import { GraphQLError, buildSchema } from "graphql";

import { OPERATORS, bounds, fits, roomsOf } from "./filter.js";
import { AGGREGATES, DIMENSIONS, DURATIONS, EVENTS, LEVELS, grouped } from "./groups.js";
import { ordered } from "./order.js";

const TIMES = ["datetime", "datetimeMinute", "datetimeFifteenMinutes", "datetimeHour"];
/** What a minute of a room counts. */
const COUNTS = [...LEVELS, ...EVENTS];
/** The most rows of one dataset, as with Cloudflare. */
const LIMIT_MAX = 10_000;
/** What an error says that is of a zone that nobody has. */
const UNKNOWN_ZONE = "authz";
const FILTER = "ZoneWaitingRoomAnalyticsAdaptiveFilter_InputObject";
const GROUPS = "ZoneWaitingRoomAnalyticsAdaptiveGroups";

const fields = (names, type) => names.map((name) => `${name}: ${type}`).join("\n");
const directions = (names) => names.flatMap((name) => [`${name}_ASC`, `${name}_DESC`]).join("\n");
const typeOf = (name) => `${GROUPS}${name[0].toUpperCase()}${name.slice(1)}`;
const comparisons = (name, type) =>
  [`${name}: ${type}`, `${name}_in: [${type}!]`, `${name}_notin: [${type}!]`]
    .concat(OPERATORS.map((operator) => `${name}_${operator}: ${type}`))
    .join("\n");
const filter = (name) => `input ${name} {
  AND: [${name}!]
  OR: [${name}!]
  ${comparisons("waitingRoomId", "string")}
  ${TIMES.map((time) => comparisons(time, "Time")).join("\n")}
}`;

export const schema = buildSchema(`
  scalar string
  scalar Time
  scalar uint64
  scalar float64
  "No field has these: a question may write the types of its variables so."
  input VariableTypes { int: Int, float: Float, id: ID }

  type Query { viewer: viewer! }
  type viewer { zones(filter: ZoneFilter_InputObject, limit: uint64): [zone!]! }
  input ZoneFilter_InputObject { zoneTag: string, zoneTag_in: [string!] }

  type zone {
    zoneTag: string!
    "One row for each minute of each room in which somebody was there."
    waitingRoomAnalyticsAdaptive(
      filter: ${FILTER}, limit: uint64!, orderBy: [ZoneWaitingRoomAnalyticsAdaptiveOrderBy!]
    ): [ZoneWaitingRoomAnalyticsAdaptive!]!
    "Those minutes, grouped by the dimensions that are asked for."
    waitingRoomAnalyticsAdaptiveGroups(
      filter: ${GROUPS}Filter_InputObject, limit: uint64!, orderBy: [${GROUPS}OrderBy!]
    ): [${GROUPS}!]!
  }
  ${filter(FILTER)}
  ${filter(`${GROUPS}Filter_InputObject`)}

  type ZoneWaitingRoomAnalyticsAdaptive {
    ${fields(Object.keys(DIMENSIONS), "string!")}
    datetime: Time!
    ${fields(COUNTS, "uint64")}
    "What Cloudflare's documentation calls newUsersPerMinute once."
    newUsersPerMinutes: uint64
    ${fields(DURATIONS, "float64")}
  }
  enum ZoneWaitingRoomAnalyticsAdaptiveOrderBy {
    ${directions(["datetime", ...Object.keys(DIMENSIONS), ...COUNTS, ...DURATIONS])}
  }

  type ${GROUPS} {
    dimensions: ${typeOf("dimensions")}
    ${Object.keys(AGGREGATES).map((name) => `${name}: ${typeOf(name)}`).join("\n")}
  }
  type ${typeOf("dimensions")} { ${fields(Object.keys(DIMENSIONS), "string")} }
  ${Object.entries(AGGREGATES)
    .map(([name, names]) => `type ${typeOf(name)} { ${fields(names, "float64")} }`)
    .join("\n")}
  enum ${GROUPS}OrderBy {
    ${directions(Object.keys(DIMENSIONS))}
    ${Object.entries(AGGREGATES)
      .map(([of, names]) => directions(names.map((name) => `${of}_${name}`)))
      .join("\n")}
  }
`);

/** What is told: zones with their datasets. */
export const resolvers = {
  viewer: () => ({
    zones({ filter, limit }, { rooms }) {
      const tags = [...new Set(rooms.map((room) => room.zone_id))];
      const { zoneTag, zoneTag_in: oneOf = [] } = filter ?? {};
      const unknown = [zoneTag ?? [], oneOf].flat().find((tag) => !tags.includes(tag));
      if (unknown !== undefined) {
        const message = `There is no zone ${JSON.stringify(unknown)} with a waiting room here.`;
        throw new GraphQLError(message, { extensions: { code: UNKNOWN_ZONE } });
      }
      const asked = filter?.zoneTag_in ?? tags;
      const wanted = (tag) => asked.includes(tag) && tag === (filter?.zoneTag ?? tag);
      return tags.filter(wanted).slice(0, limit).map(zone);
    },
  }),
};

function zone(zoneTag) {
  return {
    zoneTag,
    async waitingRoomAnalyticsAdaptive(asked, ledger) {
      const rows = (await minutes(zoneTag, asked, ledger)).map(raw);
      return ledger.tell(ordered(rows, asked.orderBy).slice(0, limitOf(asked)));
    },
    async waitingRoomAnalyticsAdaptiveGroups(asked, ledger, info) {
      const rows = await minutes(zoneTag, asked, ledger);
      const groups = grouped(rows, dimensionsIn(info));
      return ledger.tell(ordered(groups, asked.orderBy).slice(0, limitOf(asked)));
    },
  };
}

async function minutes(zoneTag, { filter }, ledger) {
  const rooms = ledger.rooms.filter((room) => room.zone_id === zoneTag);
  const rows = await ledger.rows(roomsOf(filter, rooms), bounds(filter));
  return rows.filter((row) => fits(row, filter));
}

function raw(row) {
  const dimensions = Object.entries(DIMENSIONS).map(([name, value]) => [name, value(row)]);
  const named = Object.fromEntries(dimensions);
  const { datetimeMinute: datetime } = named;
  return { ...row, ...named, datetime, newUsersPerMinutes: row.newUsersPerMinute };
}

function limitOf({ limit }) {
  if (Number.isInteger(limit) && limit > 0 && limit <= LIMIT_MAX) return limit;
  throw new GraphQLError(`limit must be a whole number from 1 to ${LIMIT_MAX}.`);
}

/** The dimensions that a question selects: by these minutes are grouped. */
function dimensionsIn({ fieldNodes, fragments }) {
  const fieldsOf = ({ selectionSet }) =>
    (selectionSet?.selections ?? []).flatMap((selection) => {
      if (selection.kind === "Field") return [selection];
      if (selection.kind === "InlineFragment") return fieldsOf(selection);
      return fieldsOf(fragments[selection.name.value]);
    });
  const dimensions = fieldNodes.flatMap(fieldsOf).filter(({ name }) => name.value === "dimensions");
  const names = dimensions.flatMap(fieldsOf).map(({ name }) => name.value);
  return Object.keys(DIMENSIONS).filter((name) => names.includes(name));
}
