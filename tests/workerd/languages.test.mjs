/** Visitors read the page in the language that their browser asks for, apps get JSON. */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { asRead, look } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const shop = room({ name: "shop", queue_all: true });
const german = room({ name: "german", queue_all: true, default_template_language: "de-DE" });
const own = room({
  name: "own",
  queue_all: true,
  custom_page_html: "{{language}} {{languageDirection}} {{refreshIntervalLocalized}}",
});
const app = room({
  name: "app",
  queue_all: true,
  json_response_enabled: true,
  queueing_status_code: 202,
});
const options = { rooms: [shop, german, own, app], colos: { AMS: 1 } };
const LANGUAGE = /<html lang="([\w-]+)" dir="(ltr|rtl)">/;

clusterTestBothWays("the page is in the visitor's language", options, async (cluster) => {
  const check = async ({ host }, accepted, want) => {
    const headers = accepted === undefined ? {} : { "accept-language": accepted };
    const answer = await look(cluster, "ams-1", { host, headers });
    assert.equal(answer.kind, "queue", accepted);
    assert.deepEqual(LANGUAGE.exec(answer.body)?.slice(1), want, accepted);
    return asRead(answer.body);
  };
  await check(shop, undefined, ["en-US", "ltr"]);
  await check(shop, "xx", ["en-US", "ltr"]);
  await check(german, "xx", ["de-DE", "ltr"]);
  await check(german, "en-GB,de;q=0.5", ["en-US", "ltr"]);
  await check(shop, "bs", ["sr-Latn-BA", "ltr"]);
  const arabic = await check(shop, "ar-SA, en;q=0.8", ["ar-EG", "rtl"]);
  assert.match(arabic, /<h1>أنت في قائمة الانتظار<\/h1>/);
  // The room's interval of 5 s near the head, in the digits of the language.
  assert.match(arabic, />[٠-٩]+ ث</);
  const japanese = await check(german, "ja", ["ja-JP", "ltr"]);
  assert.match(japanese, />\d+秒</);
});

clusterTest("an owner's page is told the language", options, async (cluster) => {
  const answer = await look(cluster, "ams-1", {
    host: own.host,
    headers: { "accept-language": "fa" },
  });
  assert.match(answer.body, /^fa-IR rtl [۰-۹]+ ث$/);
  assert.equal(answer.headers["content-security-policy"], undefined);
});

clusterTestBothWays("an app that asks for JSON gets JSON", options, async (cluster) => {
  const ask = (host, accept, method = "GET") =>
    look(cluster, "ams-1", { host, method, headers: { accept } });
  const answer = await ask(app.host, "application/json");
  assert.equal(answer.status, 202);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["cache-control"], "private, no-store");
  assert.equal(answer.headers["content-security-policy"], undefined);
  assert.ok(answer.headers["set-cookie"][0].startsWith(`${NAME}=`));
  const { cfWaitingRoom, ...rest } = JSON.parse(answer.body);
  assert.deepEqual(rest, {});
  const { reference, ...facts } = cfWaitingRoom;
  assert.match(reference, /^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
  assert.equal(Object.keys(facts).length, 25);
  assert.equal(cfWaitingRoom.queueAll, true);
  assert.equal(cfWaitingRoom.waitTimeFormatted, "unavailable");
  assert.equal(cfWaitingRoom.refreshIntervalSeconds, answer.refreshS);
  const others = ["application/json, text/html", "application/json;q=1", "*/*", "text/html"];
  for (const accept of others) {
    assert.match((await ask(app.host, accept)).headers["content-type"], /^text\/html/, accept);
  }
  const switchedOff = await ask(shop.host, "application/json");
  assert.match(switchedOff.headers["content-type"], /^text\/html/);
  assert.equal((await ask(app.host, "application/json", "HEAD")).body, "");
});
