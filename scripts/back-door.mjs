// Tries the back door: asks an origin directly, as somebody would who goes round the waiting room.
// It ends with 1 if the origin answers. `npm run back-door -- https://origin.example [host]`
import http from "node:http";
import https from "node:https";
import process from "node:process";

const LIMIT_MS = 10_000;
const HEADER = "cf-waiting-room-lock";

const [address, host] = process.argv.slice(2);
if (!URL.canParse(address ?? "")) {
  console.error("npm run back-door -- https://<the origin's own address> [the host of the site]");
  process.exit(2);
}

const soon = Math.floor(Date.now() / 1_000) + 100;
const ATTEMPTS = {
  "without the header": {},
  "with an empty header": { [HEADER]: "" },
  "with a header that nobody signed": { [HEADER]: `t=${soon},v1=${"0".repeat(64)}` },
  "with a header without a signature": { [HEADER]: `t=${soon}` },
  "as if it had been forwarded": { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" },
};

let isOpen = false;
for (const [name, headers] of Object.entries(ATTEMPTS)) {
  const told = await attempt(host ? { ...headers, host } : headers);
  isOpen ||= told.isOpen;
  console.log(`${told.isOpen ? "OPEN  " : "closed"} ${name}: ${told.answer}`);
}
console.log(isOpen ? "The origin can be reached without the waiting room." : "The door is shut.");
process.exit(isOpen ? 1 : 0);

/** Sends one request; open is what is neither refused nor out of reach. */
function attempt(headers) {
  const { request } = address.startsWith("https:") ? https : http;
  // An origin's certificate is often for the host of the site alone: that shuts no door.
  const secure = { rejectUnauthorized: false, ...(host && { servername: host }) };
  return new Promise((resolve) => {
    const asked = request(address, { headers, timeout: LIMIT_MS, ...secure }, ({ statusCode }) => {
      resolve({ isOpen: statusCode < 400 || statusCode === 404, answer: String(statusCode) });
      asked.destroy();
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", ({ code, message }) => resolve({ isOpen: false, answer: code ?? message }));
    asked.end();
  });
}
