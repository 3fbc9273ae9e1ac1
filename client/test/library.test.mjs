/**
 * The client library with a room and a clock made up here: how long it waits, what it sends, what
 * it tells. The real room is in `tests/clients`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  BodyLostError,
  ChallengeError,
  CookieJar,
  RejectedError,
  waitingRoomFetch,
} from "../dist/index.js";

const URL = "https://shop.example/buy";
const FACTS = {
  inWaitingRoom: true,
  waitTimeKnown: true,
  waitTime: 3,
  refreshIntervalSeconds: 20,
  queueingMethod: "fifo",
  isEventPrequeueing: false,
  timeUntilEventStart: 0,
};

function queued(changes = {}, headers = {}) {
  const body = JSON.stringify({ cfWaitingRoom: { ...FACTS, ...changes } });
  return new Response(body, { headers: { "content-type": "application/json", ...headers } });
}

const site = (body = '{"ok":true}') =>
  new Response(body, { headers: { "content-type": "application/json" } });

/**
 * Answers with each of `answers` in turn; functions make theirs. Time passes only in sleeps.
 *
 * @param {(Response | ((request: Request) => Response | Promise<Response>))[]} answers
 */
function made(answers, options = {}) {
  const world = { now: 0, online: true, sent: [], told: [], sleeps: [], changed: () => {} };
  const surroundings = {
    now: () => world.now,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      world.sleeps.push(ms);
      await undefined;
      await options.meanwhile?.(world);
      if (options.stands) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (!signal.aborted) world.now += ms;
    },
    isOnline: () => world.online,
    change: () => new Promise((resolve) => (world.changed = resolve)),
  };
  const rest = [...answers];
  const fetch = async (request) => {
    const { method, url, headers, body } = request;
    const sent = body ? await request.clone().text() : "";
    world.sent.push({ at: world.now, method, url, accept: headers.get("accept"), sent, headers });
    const answer = rest.shift();
    return typeof answer === "function" ? answer(request) : answer;
  };
  const onProgress = ({ facts: _, ...progress }) => world.told.push(progress);
  const ours = waitingRoomFetch({ fetch, surroundings, onProgress, ...options.given });
  return { ...world, world, surroundings, ours };
}

test("an answer of the site comes back untouched and at once", async () => {
  const check = async (answer, text) => {
    const { ours, world } = made([answer]);
    assert.equal(await (await ours(URL)).text(), text);
    assert.deepEqual([world.sent.length, world.told.length, world.now], [1, 0, 0]);
  };
  await check(site(), '{"ok":true}');
  await check(site(""), "");
  const long = `{"list":"${"x".repeat(1_000_000)}"}`;
  await check(site(long), long);
  const own = '{"cfWaitingRoom":{"inWaitingRoom":false},"ok":true}';
  await check(site(own), own);
  await check(site('{"cfWaitingRoom":'), '{"cfWaitingRoom":');
  await check(new Response('{"cfWaitingRoom":{}}'), '{"cfWaitingRoom":{}}');
});

test("an answer that goes on later comes as soon as it cannot be the room's", async () => {
  const check = async (begins, rest) => {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    writer.write(new TextEncoder().encode(begins));
    const { ours } = made([new Response(readable, site())]);
    const answer = await ours(URL);
    writer.write(new TextEncoder().encode(rest)).then(() => writer.close());
    assert.equal(await answer.text(), begins + rest);
  };
  await check("[", "]");
  await check('{ "cfWaits"', ":1}");
  await check(" ".repeat(64), "{}");
});

test("it comes when told, never sooner and a second later at most", async () => {
  const { ours, world } = made([queued(), queued({ refreshIntervalSeconds: 5 }), site()]);
  assert.equal(await (await ours(URL)).text(), '{"ok":true}');
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 20_500, 25_750]);
  assert.ok(world.sent.every(({ accept }) => accept === "application/json"));
});

test("progress tells state, place and time", async () => {
  const prequeue = { isEventPrequeueing: true, timeUntilEventStart: 7, waitTimeKnown: false };
  const { ours, world } = made([queued(prequeue), queued({ peopleAhead: 4 }), site()]);
  await ours(URL);
  assert.deepEqual(world.told, [
    { state: "prequeue", startsInMinutes: 7 },
    { state: "waiting", position: 4, estimateMinutes: 3 },
    { state: "turn", position: 4, estimateMinutes: 3 },
  ]);
});

test("a turn is confirmed once the user wants to enter, and else by itself", async () => {
  const asked = () => queued({ turnSeconds: 280 });
  const entered = () => Response.json({ entered: true });
  const enters = [];
  const onTurn = async ({ turnSeconds }) => void enters.push(turnSeconds);
  for (const given of [{ onTurn }, {}]) {
    const { ours, world } = made([asked(), entered(), site()], { given });
    assert.equal(await (await ours(`${URL}?seat=7`)).text(), '{"ok":true}');
    const [, { method, url, sent, headers }] = world.sent;
    assert.deepEqual([method, url, sent], ["POST", `${URL}?waiting-room-place`, "act=enter"]);
    assert.equal(headers.get("origin"), "https://shop.example");
    assert.deepEqual(world.sleeps, []);
  }
  assert.deepEqual(enters, [280]);
  const gone = Response.json({ error: "There is no place here." }, { status: 409 });
  const { ours, world } = made([asked(), gone, site()]);
  await ours(URL);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 0, 20_500], "the next check-in tells");
});

test("a room that gives no place ends the wait", async () => {
  const { ours, world } = made([queued({ refreshIntervalSeconds: 0 })]);
  await assert.rejects(ours(URL), RejectedError);
  assert.deepEqual(world.told.map(({ state }) => state), ["rejected"]);
});

test("a challenge is passed once, or ends the wait", async () => {
  const challenge = () => queued({ refreshIntervalSeconds: 0, turnstile: "<div></div>" });
  const markup = [];
  const given = { onChallenge: async ({ turnstile }) => void markup.push(turnstile) };
  const { ours, world } = made([challenge(), queued(), site()], { given });
  assert.equal(await (await ours(URL)).text(), '{"ok":true}');
  assert.deepEqual(markup, ["<div></div>"]);
  assert.deepEqual(world.told.map(({ state }) => state), ["challenge", "waiting", "turn"]);
  await assert.rejects(made([challenge()]).ours(URL), ChallengeError);
  const useless = made([challenge(), challenge()], { given });
  await assert.rejects(useless.ours(URL), ChallengeError);
  assert.equal(useless.world.sent.length, 2);
});

test("a body is sent again, for the site never saw it; check-ins carry none", async () => {
  const { ours, world } = made([queued(), queued(), site("a page"), site()]);
  const headers = { "content-type": "text/plain", authorization: "Bearer x" };
  const answer = await ours(URL, { method: "POST", body: "two tickets", headers });
  assert.equal(await answer.text(), '{"ok":true}');
  const sent = world.sent.map(({ method, sent }) => `${method} ${sent}`);
  assert.deepEqual(sent, ["POST two tickets", "GET ", "GET ", "POST two tickets"]);
  assert.equal(world.sent[1].headers.get("content-type"), null);
  assert.equal(world.sent[1].headers.get("authorization"), "Bearer x");
});

test("a stream is sent once, and only by a visitor who is inside", async () => {
  const body = () => new Blob(["film"]).stream();
  const post = () => [URL, { method: "POST", body: body(), duplex: "half" }];
  const { ours, world } = made([queued(), site("a page"), site()]);
  assert.equal(await (await ours(...post())).text(), '{"ok":true}');
  assert.deepEqual(world.sent.map(({ method, sent }) => method + sent), ["GET", "GET", "POSTfilm"]);
  const unlucky = made([site("a page"), queued()]);
  await assert.rejects(unlucky.ours(...post()), BodyLostError);
});

const streamOf = (text) => (request) => {
  assert.equal(request.headers.get("accept"), "text/event-stream");
  return new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
};

test("a turn that the stream tells is followed at once", async () => {
  const data = JSON.stringify({ cfWaitingRoom: { ...FACTS, peopleAhead: 1 } });
  const text = `retry: 20000\nevent: estimate\ndata: ${data}\n\n:\n\nevent: turn\ndata: {}\n\n`;
  const answers = [queued({ eventStream: true }), streamOf(text), site()];
  const { ours, world } = made(answers, { stands: true });
  await ours(URL);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 0, 0]);
  assert.deepEqual(world.told.map(({ position }) => position), [undefined, 1, undefined]);
});

test("without a stream, or where it ends without a turn, the check-in is in time", async () => {
  const check = async (answer) => {
    const { ours, world } = made([queued({ eventStream: true }), answer, site()]);
    await ours(URL);
    assert.deepEqual(world.sent.map(({ at }) => at), [0, 0, 20_500]);
  };
  await check(streamOf(":\n\n"));
  await check(site());
  await check(() => Promise.reject(new TypeError("no network")));
  const given = { eventStream: false };
  const { ours, world } = made([queued({ eventStream: true }), site()], { given });
  await ours(URL);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 20_500]);
});

test("a device that slept checks in as soon as it is seen again", async () => {
  const meanwhile = (world) => {
    world.now += 60_000;
    world.changed();
  };
  const { ours, world } = made([queued(), site()], { stands: true, meanwhile });
  await ours(URL);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 60_000]);
});

test("without a network it goes on trying, and comes back with the network", async () => {
  const fails = () => Promise.reject(new TypeError("no network"));
  const { ours, world } = made([queued(), fails, fails, fails, site()]);
  await ours(URL);
  assert.deepEqual(world.sleeps, [20_500, 20_000, 40_000, 60_000]);
  await assert.rejects(made([fails]).ours(URL), TypeError, "the first request is the caller's");

  const meanwhile = (world) => {
    if (world.sleeps.length === 2) world.online = true;
  };
  const offline = made([queued(), site()], { meanwhile });
  offline.world.online = false;
  await offline.ours(URL);
  assert.deepEqual(offline.world.sent.map(({ at }) => at), [0, 40_500]);
});

test("an early answer is followed by a check-in that is in time", async () => {
  const { ours, world } = made([queued({}, { refresh: "7; url=/buy" }), queued(), site()]);
  await ours(URL);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 7_350, 27_850]);
});

test("behind a challenge without a network it does not ask without a pause", async () => {
  const fails = () => Promise.reject(new TypeError("no network"));
  const challenge = queued({ refreshIntervalSeconds: 0, turnstile: "<div></div>" });
  const given = { onChallenge: async () => {} };
  const { ours, world } = made([challenge, fails, fails, site()], { given });
  await ours(URL);
  assert.deepEqual(world.sleeps, [1_000, 2_000]);
});

test("an error of a server in between lets nobody in, for a while", async () => {
  const error = () => new Response("<h1>502</h1>", { status: 502 });
  const { ours, world } = made([queued(), error, error, queued(), site()]);
  assert.equal(await (await ours(URL)).text(), '{"ok":true}');
  assert.deepEqual(world.told.map(({ state }) => state), ["waiting", "waiting", "turn"]);
  assert.deepEqual(world.sleeps, [20_500, 20_000, 40_000, 20_500]);
  const lasting = made([queued(), error, error, error, error, error]);
  assert.equal((await lasting.ours(URL)).status, 502);
});

test("whoever gives up sends nothing more", async () => {
  const giveUp = new AbortController();
  const meanwhile = () => giveUp.abort(new Error("enough"));
  const { ours, world } = made([queued(), site()], { meanwhile });
  await assert.rejects(ours(URL, { signal: giveUp.signal }), /enough/);
  assert.equal(world.sent.length, 1);
});

/** An answer, and the call that lets it come. */
function held(answer) {
  let comes;
  const waits = new Promise((resolve) => (comes = () => resolve(answer)));
  return [() => waits, comes];
}
/** Lets all go on that does not wait for an answer. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 5));
const turn = (request) => streamOf("event: turn\ndata: {}\n\n")(request);
const listening = () => queued({ eventStream: true });
const called = ({ sent }) => sent.map(({ url }) => url.slice(URL.length));

test("of calls at once one takes a place, and the others follow it in", async () => {
  const [first, comes] = held(listening());
  const [second, secondComes] = held(site());
  const answers = [first, turn, site(), second, site(), listening(), listening(), turn, site()];
  const { ours, world } = made([...answers, site()], { stands: true });
  const all = [ours(`${URL}1`), ours(`${URL}2`), ours(`${URL}3`)];
  await rest();
  assert.deepEqual(called(world), ["1"], "the others wait for the first answer");
  comes();
  await rest();
  assert.deepEqual(called(world), ["1", "1", "1", "2", "3"], "those inside do not wait");
  secondComes();
  for (const answer of await Promise.all(all)) assert.equal(await answer.text(), '{"ok":true}');
  assert.deepEqual(world.told.map(({ state }) => state), ["waiting", "turn"], "nobody hears twice");

  await Promise.all([ours(`${URL}4`), ours(`${URL}5`)]);
  assert.deepEqual(called(world).slice(5), ["4", "5", "4", "4", "5"], "one waits again");
});

test("who follows hears of the wait, and is held by nobody who gives up or fails", async () => {
  const jar = { cookies: new CookieJar() };
  const failing = held(Promise.reject(new TypeError("no network")));
  const answers = [failing[0], listening(), streamOf(":\n\n"), site()];
  const { ours, world, surroundings } = made(answers, { stands: true, given: jar });
  const failed = assert.rejects(ours(`${URL}1`), TypeError);
  const [second, third] = [new AbortController(), new AbortController()];
  const gone = [second, third].map(({ signal }, at) =>
    assert.rejects(ours(`${URL}${at + 2}`, { signal }), /enough/),
  );
  const fetch = () => assert.fail("another fetch");
  const heard = [];
  const onProgress = ({ state }) => heard.push(state);
  const other = waitingRoomFetch({ ...jar, fetch, surroundings, onProgress });
  const fourth = new AbortController();
  gone.push(assert.rejects(other(`${URL}4`, { signal: fourth.signal }), /enough/));
  const last = ours(`${URL}5`);
  failing[1]();
  await rest();
  assert.deepEqual([called(world), heard], [["1", "2", "2"], ["waiting"]]);
  for (const one of [fourth, third, second]) one.abort(new Error("enough"));
  await Promise.all([...gone, failed]);
  assert.equal(await (await last).text(), '{"ok":true}');
  assert.deepEqual(called(world), ["1", "2", "2", "5"]);
});

test("an error of a server in between lets nobody else in at once", async () => {
  const [answer, comes] = held(site());
  const { ours, world } = made([new Response("", { status: 502 }), answer, site()], {
    stands: true,
  });
  const all = [ours(`${URL}1`), ours(`${URL}2`), ours(`${URL}3`)];
  await rest();
  assert.deepEqual(called(world), ["1", "2"]);
  comes();
  await Promise.all(all);
});

test("an answer of the site that takes long holds nobody for more than 6 s", async () => {
  const { ours, world } = made([() => new Promise(() => {}), site()]);
  ours(`${URL}1`);
  await ours(`${URL}2`);
  assert.deepEqual(world.sent.map(({ at }) => at), [0, 6_000]);
});

test("an app's jar keeps what the room sets, for its host and its time", async () => {
  const world = { now: 0 };
  const cookies = new CookieJar(() => world.now);
  const headers = new Headers();
  headers.append("set-cookie", "__cfwaitingroom=abc=; Path=/buy; HttpOnly; Max-Age=320; Secure");
  headers.append("set-cookie", "basket=1; Expires=Thu, 01 Jan 1970 00:01:00 GMT");
  headers.append("set-cookie", "nothing");
  cookies.keep(URL, headers);
  const check = (url, now, want) => {
    world.now = now;
    assert.equal(cookies.header(url), want, `${url} at ${now}`);
  };
  check(URL, 0, "__cfwaitingroom=abc=; basket=1");
  check(`${URL}/more`, 59_999, "__cfwaitingroom=abc=; basket=1");
  check(`${URL}ing`, 59_999, "basket=1");
  check("http://shop.example/buy", 59_999, "basket=1");
  check("https://evil.example/buy", 0, "");
  check(URL, 60_000, "__cfwaitingroom=abc=");
  check(URL, 320_000, "");
  world.now = 0;
  cookies.keep(URL, new Headers({ "set-cookie": "__cfwaitingroom=; Path=/buy; Max-Age=0" }));
  check(URL, 0, "basket=1");

  const set = { "content-type": "application/json", "set-cookie": "a=1" };
  const first = new Response(await queued().text(), { headers: set });
  const { ours, world: sent } = made([first, site()], { given: { cookies: new CookieJar() } });
  await ours(URL, { headers: { cookie: "b=2" } });
  assert.deepEqual(sent.sent.map(({ headers }) => headers.get("cookie")), ["b=2", "b=2; a=1"]);
});

test("an app's jar keeps a cookie for a host and those below it, where the room says so", () => {
  const cookies = new CookieJar(() => 0);
  const keep = (url, line) => cookies.keep(url, new Headers({ "set-cookie": line }));
  keep("https://www.shop.example/", "room=1; Domain=shop.example");
  keep("https://www.shop.example/", "own=1");
  keep("https://www.shop.example/", "other=1; Domain=evil.example");
  keep("https://www.shop.example/", "top=1; Domain=example");
  keep("https://shop.example/", "room=2; Domain=.Shop.example");
  const check = (host, want) => assert.equal(cookies.header(`https://${host}/`), want, host);
  check("www.shop.example", "own=1; room=2");
  check("shop.example", "room=2");
  check("a.www.shop.example", "room=2");
  check("other.example", "");
  check("evil.example", "");
});
