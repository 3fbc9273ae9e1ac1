// Turns webhooks of a waiting room into e-mails: checks that a message is genuine, and hands it to
// the local `sendmail`. Settings: SECRET (of the webhook), TO, FROM, PORT, SENDMAIL.
import { spawn } from "node:child_process";
import crypto from "node:crypto";
import http from "node:http";

const { SECRET, TO, FROM = TO, PORT = "8790", SENDMAIL = "/usr/sbin/sendmail" } = process.env;
const MESSAGE_BYTES_MAX = 65_536;
/** Older messages are refused, in seconds. */
const GOOD_FOR_S = 300;
/** For how long ids are remembered, in milliseconds, longer than attempts go on; and how many. */
const SEEN_FOR_MS = 4 * 3_600_000;
const SEEN_MAX = 10_000;
/** The least time between two e-mails, in milliseconds: further messages come together. */
const PAUSE_MS = 300_000;
/** The most messages that wait; one more displaces the oldest. */
const MESSAGES_MAX = 100;
const seen = new Map();
let waiting = [];
let sentAt = 0;
let isPlanned = false;

if (!SECRET || !TO) throw new Error("SECRET and TO must be set");
const server = http.createServer((request, response) => {
  // A request that breaks off is nothing to answer.
  answer(request, response).catch(() => response.destroy());
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`relay at http://127.0.0.1:${server.address().port}`);
});

async function answer(request, response) {
  const text = await textOf(request);
  if (request.method !== "POST" || text === undefined || !isGenuine(request.headers, text)) {
    return response.writeHead(400).end();
  }
  response.writeHead(204).end();
  const id = request.headers["webhook-id"];
  // The oldest stand first.
  const isNew = !seen.delete(id);
  seen.set(id, Date.now());
  for (const [old, at] of seen) {
    if (seen.size <= SEEN_MAX && Date.now() - at <= SEEN_FOR_MS) break;
    seen.delete(old);
  }
  if (!isNew) return;
  keep([...waiting, JSON.parse(text)]);
}

/** Keeps messages for the next e-mail, which goes out once the last one is not recent. */
function keep(messages) {
  waiting = messages.slice(-MESSAGES_MAX);
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(send, Math.max(0, sentAt + PAUSE_MS - Date.now()));
}

async function textOf(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MESSAGE_BYTES_MAX) return undefined;
  }
  return text;
}

/** Whether the message was signed with our secret, not long ago: docs/webhooks.md explains it. */
function isGenuine(headers, text) {
  const { "webhook-id": id, "webhook-timestamp": sent, "webhook-signature": given = "" } = headers;
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const mac = crypto.createHmac("sha256", key).update(`${id}.${sent}.${text}`).digest("base64");
  const [wanted, signed] = [Buffer.from(`v1,${mac}`), Buffer.from(given)];
  const isFresh = Math.abs(Date.now() / 1_000 - Number(sent)) < GOOD_FOR_S;
  return isFresh && signed.length === wanted.length && crypto.timingSafeEqual(signed, wanted);
}

function send() {
  const messages = waiting;
  waiting = [];
  isPlanned = false;
  sentAt = Date.now();
  const [first] = messages;
  const subject = `Waiting room ${first.data.room_name}: ${first.type.replaceAll("_", " ")}`;
  const head = [
    `From: ${FROM}`,
    `To: ${TO}`,
    `Subject: =?utf-8?B?${Buffer.from(subject).toString("base64")}?=`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
  ];
  const body = messages.map(({ timestamp, summary }) => `${timestamp}\n${summary}`).join("\n\n");
  const lines = Buffer.from(body).toString("base64").match(/.{1,76}/g) ?? [];
  const mail = spawn(SENDMAIL, ["-i", "-t"], { stdio: ["pipe", "inherit", "inherit"] });
  mail.on("error", (error) => console.error(`sendmail: ${error.message}`));
  // After an error it closes too.
  mail.on("close", (code, signal) => {
    if (code === 0) return;
    console.error(`sendmail ended with ${code ?? signal}: its messages wait for the next e-mail`);
    keep([...messages, ...waiting]);
  });
  mail.stdin.on("error", () => {});
  mail.stdin.end([...head, "", ...lines, ""].join("\n"));
}
