/**
 * What the cockpit says of a message to those who wait: whose it is, who will read it, and what
 * somebody else shows while it is written.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { messageOf, ownerOf } from "../../cockpit/message_words.js";

const room = { id: "r", page_message: "", custom_page_html: "" };
const numbers = { estimated_queued_users: 3 };
const READ = "About 3 visitors in line will read it at the next check-in. Nobody inside sees it.";
const SHOWN = "It is shown to everybody who waits.";

test("a message that somebody else shows meanwhile is told, and not written over", () => {
  const check = (page_message, draft, sentence, seen) => {
    const one = { ...room, page_message };
    const message = messageOf({ room: one, numbers, draft });
    assert.deepEqual([message.sentence, message.seen.page_message], [sentence, seen]);
    assert.equal(message.isOther, draft !== undefined && seen !== page_message);
  };
  const draft = { basis: "", text: "Doors open" };
  check("", undefined, READ, "");
  check("Closed", undefined, SHOWN, "Closed");
  check("", draft, READ, "");
  check("Closed", { ...draft, basis: "Closed" }, `Until then “Closed” is shown. ${READ}`, "Closed");
  const meanwhile = "Meanwhile somebody else has changed it:";
  check("Closed", draft, `${meanwhile} “Closed” is shown. ${READ}`, "");
  check("", { ...draft, basis: "Closed" }, `${meanwhile} no message is shown. ${READ}`, "Closed");
  const { isWrong, sentence } = messageOf({ room, draft: { basis: "", text: "é".repeat(2_001) } });
  assert.ok(isWrong);
  assert.equal(sentence, "A message has at most 4000 bytes; this one has 4002.");
});

test("a message is that of the event which has one", () => {
  const event = { id: "e", name: "sale", page_message: "Sale", custom_page_html: null };
  assert.equal(ownerOf(room, event), event);
  assert.equal(ownerOf(room, { ...event, page_message: null }), room);
  const { inForce, sentence } = messageOf({ room, event, numbers });
  const whose = "It is the message of the event “sale”.";
  assert.deepEqual([inForce, sentence], ["Sale", `${SHOWN} ${whose}`]);
});

test("a page of one's own is said to show no message only where it shows none", () => {
  const check = (ofRoom, ofEvent, whose) => {
    const event = { id: "e", page_message: null, custom_page_html: ofEvent };
    const one = { ...room, custom_page_html: ofRoom };
    const page = `The ${whose} has a page of its own, which shows no message`;
    const want = whose ? `${page}: it lacks {{pageMessage}}.` : READ;
    assert.equal(messageOf({ room: one, event, numbers }).sentence, want);
  };
  const [shows, lacks] = ["<p>{{#pageMessage}}{{ pageMessage }}{{/pageMessage}}", "{{waitTime}}"];
  check("", null, undefined);
  check(lacks, null, "room");
  check(shows, null, undefined);
  check(shows, lacks, "event");
  check(lacks, shows, undefined);
  check(lacks, "", undefined);
});
