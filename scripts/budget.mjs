// The size budget of the built Worker's modules, and their present sizes. The build and the
// benchmark check it.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const WORKER = path.join(import.meta.dirname, "../build/worker");
const VISITS = path.join(WORKER, "gen/waiting_room_bg.wasm");
const CENTRAL = path.join(WORKER, "central/central_bg.wasm");

/**
 * The most that the module of visits may weigh after gzip, in KB: a fresh isolate loads it before
 * its first answer. `src/lib.rs` says what is in which module. As below, the bound is 3 above what
 * was measured.
 */
const VISITS_GZIP_KB_MAX = 459;
/**
 * The most that the central module may weigh, which is loaded when it is first asked for. The rooms
 * and the messages are in both: as one module they were 685 KB.
 *
 * That one grew as follows.
 *
 * Without the management API, rules, lists and events it was 377 KB; with them 415. The end of
 * sessions by the origin took 5, queueing methods, lottery and ranges 6, languages and JSON 4,
 * Turnstile and the infinite queue 10, event streams 3, the proof of a draw 2, the reasons why a
 * configuration cannot be used 2, libraries (chrono, percent-encoding, base16ct) instead of code
 * of our own 3, visits and verdicts as types of the core 4, where objects are placed 2, stored
 * values of bounded size and saves that fail 6, limits by every clock and renewals that heal 9,
 * questions that are asked again 3, one slot for all copies of a ticket 2, paths in every spelling,
 * copies with a time limit, the origin lock, and what a network or a ticket's thieves may do 5,
 * rooms that let their objects sleep 4, what the doctor is told 2, a configuration
 * without its defaults 1, rules that are tried on a made-up request 5, tickets that are known
 * again 1, the page that stays and places counted by the second 3, names that are no variables 2,
 * the look of a page and a form sent too late 2, the session that a visitor asks for and leaves 2,
 * the words of an event 1, a page that is looked at before it counts 3, the history
 * of each room 11, bodies that rules read 2, a place that moves to another device 9, webhooks 11
 * (what is told and sent is no part of it, see `webhooks/`), the form by which a visitor is told
 * before the turn 7, what pages have in common 2, challenges and told waits in the history 2,
 * paths with blanks and broken encodings 2, what strangers may do with places, mailboxes, codes and
 * previews 4, the last good configuration 1, renewals that the central object holds while no report
 * tells them, and the central object's census after a restart, 13, ended sessions that every data
 * center knows, and visitors whom several data centers count, 16, who holds a room and until when,
 * versions of documents, and tokens that are verified, 4, the page that verifies a draw, and what
 * pages say of codes, cookies and longer waits, 9, forecasts of small rooms, word that the central
 * object asks for, pages that are hidden and forms that are kept 5, owners' texts in languages, a
 * number to quote, and asking little while nothing is answered 4, calls that are made once, what
 * the log is asked for and maps in rules 3, slots in the order of turns, and true times in small
 * rooms 8, the QR code of a place 7, everything as one file, in parts and with its webhooks, and
 * what Terraform looks up 13, tokens with names, roles and zones 16, the journal that tells why a
 * visitor waited 13, what the log of admissions notes 3, invitations, what pages say of them and
 * their keys 9, copies of called tickets 1, groups that enter by share 3, codes that the owner
 * signs 2, draws that outlive their events 2, warnings about the pages of events 2, and visitors
 * who are called by the second in which they joined, slots that count for a minute from their
 * grant, and silent data centers by name 2.
 * The texts of the languages are no part of it, see `src/languages.js`. Builds of zlib and
 * processors differ by up to 3 KB for the same file, and the bound is 3 above what was measured.
 */
const CENTRAL_GZIP_KB_MAX = 556;

/**
 * Weighs the modules of the built wasm. Returns a line for each, and whether both are within their
 * bounds.
 */
export function wasmWeights() {
  const weights = [
    weight("module of visits", VISITS, VISITS_GZIP_KB_MAX),
    weight("central module", CENTRAL, CENTRAL_GZIP_KB_MAX),
  ];
  return { lines: weights.map(({ line }) => line), held: weights.every(({ held }) => held) };
}

function weight(name, file, atMostKb) {
  const bytes = fs.readFileSync(file);
  const [kb, gzipKb] = [bytes, zlib.gzipSync(bytes, { level: 9 })].map(inKb);
  const line = `${name}: ${kb} KB, ${gzipKb} KB gzip (at most ${atMostKb})`;
  return { line, held: gzipKb <= atMostKb };
}

const inKb = ({ length }) => Math.ceil(length / 1_024);
