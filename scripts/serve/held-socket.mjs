// Where a socket listens that systemd holds for us, as Linux tells it: Node does not say that
// without taking visitors. It must be where the settings say that visitors and checks come.
import fs from "node:fs";

import { addressOf } from "./check.mjs";

/** The tables of sockets, and the state of those that listen. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTENS = "0A";
const ON_ALL = ["0.0.0.0", "[::]"];
/** Where whoever connects to all addresses comes to. */
const HERE = ["127.0.0.1", "[::1]"];

/** Says what is wrong with the socket at a descriptor; "" if nothing is, or it is not known. */
export function heldProblem(settings, descriptor) {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    const tables = TABLES.filter((name) => fs.existsSync(name));
    const lines = tables.flatMap((name) => fs.readFileSync(name, "utf8").split("\n"));
    return differenceOf(settings, listeningAt(lines, inode));
  } catch {
    return "";
  }
}

/**
 * Where a socket listens, such as `127.0.0.1:8787`; `undefined` if it does not listen by TCP.
 *
 * @param {string[]} lines of the tables of sockets
 * @param {string} inode the number of the socket
 */
export function listeningAt(lines, inode) {
  const row = lines.map((line) => line.trim().split(/\s+/)).find((fields) => fields[9] === inode);
  if (row?.[3] !== LISTENS) return undefined;
  const [address, port] = row[1].split(":");
  return `${hostOf(address)}:${Number.parseInt(port, 16)}`;
}

/** Says that a socket listens where nobody comes; "" if it does not. */
export function differenceOf(settings, held) {
  if (held === undefined) return "";
  const { hostname, port, protocol } = new URL(addressOf(settings));
  const listens = port || (protocol === "https:" ? 443 : 80);
  const here = ON_ALL.includes(hostname) ? HERE : [];
  const fits = [hostname, ...ON_ALL, ...here].some((host) => held === `${host}:${listens}`);
  if (fits) return "";
  return (
    `systemd listens at ${held}, and settings.json says ${hostname}:${listens}: give ` +
    "ListenStream= of the socket unit and --address and --port of npm run serve the same"
  );
}

/** An address as URLs have it; the kernel tells each four bytes in its own order, last first. */
function hostOf(hex) {
  const words = hex.match(/.{8}/g).map((word) => word.match(/../g).reverse());
  const bytes = words.flat();
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join(".");
  const groups = bytes.join("").match(/.{4}/g).join(":");
  return new URL(`http://[${groups}]`).hostname;
}
