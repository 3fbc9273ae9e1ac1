// The command line of `npm run doctor`: which Worker it asks, with which token, and how much.
import path from "node:path";

import { PLANS } from "../../webhooks/quota.js";
import { deploymentIn } from "../deploy/kept.mjs";
import { apiToken } from "../local.mjs";
import { PORT } from "../port.mjs";
import { stop } from "../stop.mjs";
import { FOLDER, HELP, oneOf, readFlags, wholeNumber } from "../usage.mjs";

/** Each flag: name, default or `undefined`, what it takes, what it means. */
const DOCTOR_FLAGS = [
  ["json", false, "", "Print all that was found as JSON, for machines."],
  [
    "plan",
    undefined,
    "free|paid",
    "free: warn before the day's requests end, 100,000 of visitors and of objects each.",
  ],
  ["requests-a-day", undefined, "number", "The same for a limit of your own."],
  ["requests", "20", "number", "How often it asks, to meet several isolates."],
  ["rooms", "5", "number", "Of how many rooms it asks the objects and routes."],
  FOLDER,
  ["live-address", undefined, "url", "Where to connect instead of the hosts themselves."],
  HELP,
];

/**
 * Reads the command line. Returns `{ address, isLocal, token, quota, requests, rooms, json,
 * liveAddress, deployment }`; ends the process with a sentence if something is missing.
 */
export function doctorOptions(parameters, environment = process.env) {
  const takes = { takes: "[https://<admin host>]", page: "docs/doctor.md" };
  const { values, positionals } = readFlags("doctor", DOCTOR_FLAGS, parameters, takes);
  const address = addressOf(positionals[0] ?? `http://localhost:${PORT}`);
  const isLocal = isThisMachine(address.hostname);
  const deployment = deploymentIn(path.resolve(values.folder), address.hostname);
  return {
    address,
    isLocal,
    deployment,
    token: environment.API_TOKEN ?? deployment?.token ?? (isLocal ? apiToken() : undefined),
    quota: quotaOf(values),
    requests: wholeNumber(values.requests, "--requests"),
    rooms: wholeNumber(values.rooms, "--rooms"),
    json: values.json,
    liveAddress: values["live-address"],
  };
}

/** Whether nobody else can come to this host. */
export function isThisMachine(host) {
  return ["localhost", "127.0.0.1", "[::1]"].includes(host) || host.endsWith(".localhost");
}

function addressOf(text) {
  const whole = text.includes("://") ? text : `https://${text}`;
  if (!URL.canParse(whole)) stop(`"${text}" is no address like https://room-admin.shop.example`);
  const address = new URL(whole);
  if (!["http:", "https:"].includes(address.protocol)) {
    stop(`"${text}" must begin with https://`);
  }
  if (address.protocol === "http:" && !isThisMachine(address.hostname)) {
    stop(
      `the API token must not travel in the clear: ask https://${address.host}. If that does not ` +
        'answer, switch on "Always Use HTTPS" for the zone, or look at the host\'s certificate',
    );
  }
  return address;
}

function quotaOf({ plan, "requests-a-day": own }) {
  if (plan !== undefined) oneOf(plan, ["free", "paid"], "--plan");
  if (own !== undefined) return wholeNumber(own, "--requests-a-day");
  return plan === "free" ? PLANS.free.requests : undefined;
}
