// What the checklist of an event finds out by asking: whether people come here at all, and whether
// the page is there in every state.
import { pathOf } from "./api.js";
import { count } from "./facts.js";
import { PAGE_FIELDS, PAGE_STATES, pageOf } from "./page_fields.js";

const DAY_MS = 86_400_000;

const line = (what, told, verdict, remedy = "") => ({ what, told, verdict, remedy });

/**
 * Whether visitors of the room's address come here: from its history, since a Worker cannot ask its
 * own route.
 */
export async function route(call, room) {
  const from = new Date(Date.now() - DAY_MS).toISOString();
  const { columns, rows } = await call("GET", `${pathOf(room)}/history?from=${from}`);
  const [entered, joined] = ["entered", "joined_line"].map((name) => columns.indexOf(name));
  const people = rows.reduce((sum, row) => sum + row[entered] + row[joined], 0);
  if (people > 0) return line("Route", `visitors came within the last 24 h`, "ok");
  const remedy =
    "So it is not known whether the route leads here: open the room in a new tab, or ask " +
    "npm run doctor.";
  return line("Route", "nobody came in 24 h", "look", remedy);
}

/** Whether the page of an event is there in each state, in the language of the room. */
export async function page({ ask }, room, event) {
  const values = Object.fromEntries(
    PAGE_FIELDS.map(({ name }) => [name, event[name] ?? room[name] ?? ""]),
  );
  const path = `zones/${room.zone_id}/waiting_rooms/preview`;
  const { result, messages } = await ask("POST", path, pageOf(values, room, event));
  const address = new URL(result.preview_url).pathname;
  const language = `language=${values.default_template_language}`;
  const shown = await Promise.all(
    PAGE_STATES.map(([state]) => isShown(`${address}?${[state, language].join("&")}`)),
  );
  const missing = PAGE_STATES.filter((_, at) => !shown[at]).map(([, name]) => name);
  if (missing.length > 0) {
    return line("Page", `not there for: ${missing.join(", ")}`, "wrong", "Look at it: Page.");
  }
  const told = `there in ${count(PAGE_STATES.length, "state")}`;
  const notes = messages.map(({ message }) => message).join(" ");
  return notes ? line("Page", told, "look", notes) : line("Page", told, "ok");
}

async function isShown(address) {
  const response = await fetch(address, { cache: "no-store", credentials: "same-origin" });
  return response.ok && (await response.text()).trim() !== "";
}

/** What a Worker cannot see of its own account. */
export function quota() {
  const remedy = "The Worker cannot see it: npm run doctor, with a token of Cloudflare’s API.";
  return line("Requests left in the plan", "not known here", "unknown", remedy);
}
