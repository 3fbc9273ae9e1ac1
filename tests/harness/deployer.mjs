/**
 * Runs `npm run deploy` and its like as an owner does, with the real wrangler, against a stand-in
 * for Cloudflare's API, and with a folder and a home of their own.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { CloudflareAccount, TOKEN } from "./cloudflare-account.mjs";
import { CloudflareEdge } from "./cloudflare-edge.mjs";
import { closeConnections, send } from "./http.mjs";
import { ROOT } from "./worker-modules.mjs";

/** Variables of the machine that would say where to deploy. */
const LEFT_OUT = /^(?:CLOUDFLARE_|CF_|WRANGLER_|WORKERS_CI|API_TOKEN|TICKET_KEYS)/;
/** Lets a script take its pipes for a terminal, in which Ctrl-C is a key. */
export const TERMINAL = "data:text/javascript,process.stdin.isTTY=process.stdout.isTTY=true";
/** The flags of a first deployment. */
export const FIRST = [
  "--host",
  "shop.example",
  "--total-active-users",
  "200",
  "--new-users-per-minute",
  "100",
];

export class Deployer {
  #home = fs.mkdtempSync(path.join(os.tmpdir(), "deployer-"));

  /** Starts the stand-in; it is stopped at the end of the test. */
  static async start(context) {
    const deployer = new Deployer();
    deployer.account = new CloudflareAccount();
    await deployer.account.start();
    deployer.edge = new CloudflareEdge(deployer.account);
    await deployer.edge.start();
    context.after(() => deployer.#stop());
    return deployer;
  }

  /** A file of the deployment's folder. */
  file(name) {
    return path.join(this.#home, "production", name);
  }

  json(name) {
    return JSON.parse(fs.readFileSync(this.file(name), "utf8"));
  }

  /** `npm run deploy`, without a terminal, of what is built; the live check asks the stand-in. */
  deploy(parameters, options) {
    const live = ["--live-address", this.edge.address, "--patience", "5"];
    return this.run("deploy", ["--no-build", ...live, ...parameters], options);
  }

  /** Makes the home that of somebody who has run `wrangler login`. */
  logIn() {
    const folder = path.join(this.#home, ".wrangler", "config");
    fs.mkdirSync(folder, { recursive: true });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const lines = [`oauth_token = "${TOKEN}"`, `expiration_time = "${soon}"`, "scopes = []"];
    fs.writeFileSync(path.join(folder, "default.toml"), `${lines.join("\n")}\n`);
  }

  /**
   * Runs a step; what it says is told beside its code. `answers` are typed at a terminal, each
   * where a question holds the text before it.
   */
  async run(step, parameters, { vars = {}, root = ROOT, onText, answers } = {}) {
    const kept = Object.entries(process.env).filter(([name]) => !LEFT_OUT.test(name));
    const env = {
      ...Object.fromEntries(kept),
      HOME: this.#home,
      // wrangler is 15 MB of JavaScript, and each test starts it several times.
      NODE_COMPILE_CACHE: path.join(ROOT, "build", "compile-cache"),
      XDG_CONFIG_HOME: this.#home,
      WRANGLER_LOG_PATH: path.join(this.#home, "logs"),
      CLOUDFLARE_API_BASE_URL: this.account.address,
      CLOUDFLARE_API_TOKEN: TOKEN,
      ...vars,
    };
    const folder = ["--folder", this.file("")];
    const file = path.join(root, "scripts", `${step}.mjs`);
    const asTerminal = answers ? ["--import", TERMINAL] : [];
    const child = spawn(process.execPath, [...asTerminal, file, ...parameters, ...folder], {
      cwd: root,
      env,
      stdio: [answers ? "pipe" : "ignore", "pipe", "pipe"],
    });
    const left = [...(answers ?? [])];
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        said += text;
        onText?.(text, child);
        if (left.length > 0 && text.includes(left[0][0])) child.stdin.write(`${left.shift()[1]}\n`);
      });
    }
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, said };
  }

  /** Calls the API of what is deployed, below its rooms, and returns the result. */
  async managed(method, path, body) {
    const [{ id: zone }] = this.account.zones;
    const authorization = `Bearer ${this.json("secrets.json").API_TOKEN}`;
    const answer = await send({
      port: Number(new URL(this.edge.address).port),
      host: "room-admin.shop.example",
      path: `/_waiting-room/client/v4/zones/${zone}/waiting_rooms${path}`,
      method,
      headers: { authorization, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
    assert.ok(answer.status < 300, answer.body);
    return JSON.parse(answer.body).result;
  }

  async #stop() {
    this.edge.stop();
    closeConnections();
    await this.account.stop();
    fs.rmSync(this.#home, { recursive: true, force: true });
  }
}
