// The e-mails of webhooks with the format email: what they say, and when one goes out. Pure.
import { minuteOf, sentence } from "./body.js";

/**
 * The least time between two e-mails of a webhook, in milliseconds. What happens meanwhile comes
 * together in the next one.
 */
export const PAUSE_MS = 5 * 60_000;
/** What of a name might end a line of an e-mail's head, or look like another text than it is. */
const UNPRINTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const FOOTER =
  "You get this because a webhook of this room names your address. It sends at most one e-mail " +
  "in 5 minutes, besides tests. To change that: the cockpit, Webhooks.";

/**
 * Writes the e-mail about some messages to a webhook, as Cloudflare's binding takes it. It says
 * nothing of any visitor.
 *
 * @param {object[]} messages
 * @param {object} webhook as the registry knows it
 * @param {{ id: string, zone: string, name: string }} room
 * @param {string} from the sender's address
 * @param {string} [admin] a host of the cockpit
 */
export function mailOf(messages, { fields }, room, from, admin) {
  const name = room.name.replaceAll(UNPRINTED, " ");
  const [{ notice }] = messages;
  const what =
    messages.length > 1 ? `${messages.length} messages` : notice.kind.replaceAll("_", " ");
  const said = messages.map(({ notice: one }) => {
    return `${minuteOf(one.at)}\n${sentence(one, name).replaceAll(UNPRINTED, " ")}`;
  });
  const link = admin ? [`https://${admin}/_waiting-room/#/room/${room.zone}/${room.id}`] : [];
  return {
    from,
    to: fields.url.slice("mailto:".length),
    subject: `Waiting room ${name}: ${what}`,
    text: [...said, ...link, FOOTER].join("\n\n"),
  };
}

/** The first host of ADMIN_HOSTS that an address can have; nothing without one. */
export function adminOf({ ADMIN_HOSTS = "" }) {
  const hosts = ADMIN_HOSTS.split(",").map((host) => host.trim());
  return hosts.find((host) => host.includes(".") && !host.includes("*") && !/^[\d.]+$/.test(host));
}

/**
 * Takes the messages that go into one e-mail of a webhook now, of which some are `due`: all that
 * wait. `{ together: [], outbox }` while the last e-mail is not long ago: they wait on.
 */
export function gathered(outbox, now, hook, due) {
  const isDue = (message) => due.some(({ id }) => id === message.id);
  const isMine = ({ notice }) => notice.hook === hook && notice.kind !== "test";
  const last = outbox.last[hook]?.attempt;
  const hasSent = last?.state === "delivered" && last.type !== "test";
  const sentAt = hasSent ? Date.parse(last.at) : 0;
  // An e-mail that is still to come was sent while the clock was ahead: it holds up none.
  const until = sentAt > now + PAUSE_MS ? 0 : sentAt + PAUSE_MS;
  const change = (how) => ({
    ...outbox,
    messages: outbox.messages.map((one) => (isMine(one) ? how(one) : one)),
  });
  if (now < until) {
    // It was no attempt.
    const wait = (one) => ({ ...one, attempts: one.attempts - Number(isDue(one)), next_at: until });
    return { together: [], outbox: change(wait) };
  }
  const [next] = due.map(({ next_at: at }) => at);
  const tried = (one) => (isDue(one) ? one : { ...one, attempts: one.attempts + 1, next_at: next });
  const all = change(tried);
  return { together: all.messages.filter(isMine), outbox: all };
}
