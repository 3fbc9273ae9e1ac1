/**
 * What an owner would have at the peers: keys, and as many integrations or rooms as our side has
 * rooms, with the visited one in the same place. And what their services would send a visitor back
 * with, so that the peers' own code then sets the cookies that are measured.
 */

import { createHash, createHmac } from "node:crypto";

import { COUNT, HOST, OPEN, OPEN_AT } from "./rooms.mjs";

const SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123";
const CROWDHANDLER_PRIVATE_KEY = "bench-private";
const QUEUE_ACTIVATES_ON = "1700000000";
const VALID_MINUTES = 60;

/** The path that the integration at a place of the list covers. */
const pathOf = (at) => (at === OPEN_AT ? OPEN.path : `/room-${at}`);
const LIST = Array.from({ length: COUNT }, (_, at) => at);

/**
 * Vars of the Worker with Queue-it's connector.
 *
 * @param {object} options
 * @param {boolean} options.extends true: every visit sets the cookie anew
 */
export function queueItVars({ extends: extendsCookie }) {
  const integrations = LIST.map((at) => integration(at, extendsCookie));
  const configuration = { Version: 1, Description: "bench", Integrations: integrations };
  return { CONFIGURATION: JSON.stringify(configuration), CUSTOMER_ID: "bench", SECRET };
}

/** The query with which Queue-it's service sends an admitted visitor back. */
export function queueItQuery({ extends: extendsCookie }) {
  const until = Math.floor(Date.now() / 1_000) + VALID_MINUTES * 60;
  const fields = [
    ["e", eventOf(OPEN_AT)],
    ["q", "dd02b6d4-2e8c-4a5f-9b6a-1f2e3d4c5b6a"],
    ["ts", until],
    ["ce", extendsCookie],
    // A validity of its own makes the cookie one that is not set anew.
    ...(extendsCookie ? [] : [["cv", VALID_MINUTES]]),
    ["rt", "queue"],
  ];
  const text = fields.map(([key, value]) => `${key}_${value}`).join("~");
  const hash = createHmac("sha256", SECRET).update(text).digest("hex");
  return `queueittoken=${text}~h_${hash}`;
}

/** Vars of the Worker with CrowdHandler's SDK. */
export function crowdHandlerVars({ originPort, fromMemory }) {
  const api = { API_URL: `http://${HOST}:${originPort}` };
  return fromMemory ? { ...api, ROOMS: crowdHandlerRooms(originPort) } : api;
}

/** What CrowdHandler's API answers when asked for the rooms. */
export function crowdHandlerRooms(originPort) {
  const rooms = LIST.map((at) => ({
    domain: `https://${HOST}:${originPort}`,
    patternType: "contains",
    urlPattern: pathOf(at),
    queueActivatesOn: QUEUE_ACTIVATES_ON,
    slug: eventOf(at),
    timeout: VALID_MINUTES,
  }));
  return JSON.stringify({ result: rooms });
}

/** The query with which CrowdHandler's service sends an admitted visitor back. */
export function crowdHandlerQuery() {
  const sha256 = (text) => createHash("sha256").update(text).digest("hex");
  const token = "tok0Q1bWxYz3456789";
  const requested = new Date().toISOString();
  const parts = [eventOf(OPEN_AT), QUEUE_ACTIVATES_ON, token, requested];
  const query = new URLSearchParams({
    "ch-id": token,
    "ch-id-signature": sha256(sha256(CROWDHANDLER_PRIVATE_KEY) + parts.join("")),
    "ch-requested": requested,
  });
  return query.toString();
}

function eventOf(at) {
  return `event${at}`;
}

function integration(at, extendsCookie) {
  const part = { IsNegative: false, IsIgnoreCase: true, ValidatorType: "UrlValidator" };
  return {
    Name: `integration ${at}`,
    ActionType: "Queue",
    EventId: eventOf(at),
    CookieDomain: "",
    LayoutName: "",
    Culture: "",
    ExtendCookieValidity: extendsCookie,
    CookieValidityMinute: VALID_MINUTES,
    QueueDomain: "bench.queue-it.net",
    QueuePathPrefix: "",
    RedirectLogic: "AllowTParameter",
    ForcedTargetUrl: "",
    Triggers: [
      {
        LogicalOperator: "And",
        TriggerParts: [
          { ...part, UrlPart: "HostName", Operator: "Contains", ValueToCompare: HOST },
          { ...part, UrlPart: "PagePath", Operator: "Contains", ValueToCompare: pathOf(at) },
        ],
      },
    ],
  };
}
