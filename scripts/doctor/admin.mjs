// Asks the management surface of a Worker, and says in one sentence what is wrong if it cannot be
// asked.
import { parsed } from "../ask-host.mjs";
import { PORT } from "../port.mjs";
import { accessHeaders } from "../token.mjs";

const API = "/_waiting-room/client/v4/waiting_rooms";
/** The newest answers that this doctor understands: see `src/doctor.js`. */
const FORMAT = 1;
/** Longer than the Worker waits for its objects. */
const LIMIT_MS = 30_000;

const BEHIND_ACCESS =
  "Cloudflare Access is in front of this host: set CF_ACCESS_CLIENT_ID and " +
  "CF_ACCESS_CLIENT_SECRET to a service token that its policies let in (docs/deploy.md)";

/** Why the doctor cannot work, with what to do. */
export class Hindrance extends Error {}

export class Admin {
  #options;
  #ask;
  #now;

  /**
   * @param {object} options of `doctorOptions`
   * @param {(url: URL, how: object) => Promise<object>} ask see `askHost`
   * @param {() => number} [now] the clock of this machine
   */
  constructor(options, ask, now = Date.now) {
    this.#options = options;
    this.#ask = ask;
    this.#now = now;
  }

  /** Whether visitors are served; the answer of health. */
  async health() {
    const { address, isLocal } = this.#options;
    const answer = await this.#send("/_waiting-room/health").catch((error) => {
      throw new Hindrance(unreachable(address, isLocal, error));
    });
    const told = parsed(answer.body);
    if (typeof told?.status === "string") return told;
    if (isOfAccess(answer)) throw new Hindrance(BEHIND_ACCESS);
    throw new Hindrance(
      `${address.origin} answered ${answer.status}, and not as a waiting room: is it the host ` +
        "that ADMIN_HOSTS names (docs/deploy.md), and does its route or custom domain lead to " +
        "the Worker?",
    );
  }

  /** The rooms as in rooms.json; none where nobody can be served. */
  async rooms() {
    const { status, body } = await this.#call("file");
    return status === 200 ? parsed(body).result : [];
  }

  /** What one isolate measures, with the times of this machine. */
  async examination(query) {
    const sentAt = this.#now();
    const { status, body, headers } = await this.#call(`doctor?${query}`);
    const receivedAt = this.#now();
    const { result } = parsed(body) ?? {};
    const problem = refusal(status, body);
    if (problem) throw new Hindrance(problem);
    return { sentAt, receivedAt, placement: headers["cf-placement"] ?? "", ...result };
  }

  async #call(path) {
    const { token } = this.#options;
    if (!token) {
      throw new Hindrance(
        "no token: set the variable API_TOKEN to the secret of that name (`npm run deploy` keeps " +
          "it in production/secrets.json), or run it where that folder is",
      );
    }
    const headers = { authorization: `Bearer ${token}` };
    return this.#send(`${API}/${path}`, headers).catch((error) => {
      throw new Hindrance(`it answered at first, and then no more (${error.message}): try again`);
    });
  }

  #send(path, headers) {
    const url = new URL(path, this.#options.address);
    const all = { ...accessHeaders(url), ...headers };
    return this.#ask(url, { headers: all, limitMs: LIMIT_MS });
  }
}

/** Whether Cloudflare Access has answered, before the Worker. */
function isOfAccess({ status, headers }) {
  return status < 400 && /\.cloudflareaccess\.com\//.test(headers.location ?? "");
}

/** What a refused question of the doctor means; "" if it was answered. */
export function refusal(status, body) {
  const envelope = parsed(body);
  const { format } = envelope?.result ?? {};
  if (status === 200 && format <= FORMAT) return "";
  if (format > FORMAT) {
    return "the Worker is newer than this doctor: take the doctor of its version (`git pull`)";
  }
  const [{ code, message } = {}] = envelope?.errors ?? [];
  if (status === 403) {
    return (
      "the token is not that of this Worker: set the variable API_TOKEN to the secret of that " +
      "name (or of API_TOKEN_READ). Lost? Put a new one into production/secrets.json and " +
      "`npm run deploy`"
    );
  }
  if (status === 429) {
    return (
      "the token is wrong, and too many wrong ones came from this network: take the right one, " +
      "which counts at once"
    );
  }
  if (status === 404 && code === 7_003) {
    return (
      "this Worker is older than the doctor and cannot be examined: `npm run deploy`, or take " +
      "the doctor of its own version"
    );
  }
  const reason = message ? `: ${message}` : " without a reason";
  return `the Worker answered ${status}${reason}. Look at its log (docs/operations.md)`;
}

function unreachable({ origin, hostname }, isLocal, { message }) {
  if (isLocal) {
    return (
      `nothing answers at ${origin} (${message}): start it with \`npm start\` ` +
      `(PORT=${PORT}), or name the deployed one: npm run doctor -- https://<admin host>`
    );
  }
  return (
    `${origin} cannot be reached (${message}): is there a network here, is ${hostname} the admin ` +
    "host, and does it have its DNS record and certificate yet (minutes after the first deploy)?"
  );
}
