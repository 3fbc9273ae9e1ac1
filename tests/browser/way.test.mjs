/** How far a visitor has come: a bar that moves on by itself, with and without script. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const sale = localRoom({ name: "sale", show_position: true, ...FREQUENT_CHECK_INS });
/** Until the one inside has been counted. */
const COUNTED_MS = 15_000;
const SCREENS = {
  phone: { ...PHONE, javaScriptEnabled: false },
  desktop: { ...DESKTOP, colorScheme: "dark" },
};

for (const [device, context] of Object.entries(SCREENS)) {
  const name = `the way to the door becomes shorter on a ${device}`;
  browserTest(name, { rooms: [sale] }, async (arena) => {
    await visitorInside(arena.cluster, sale);
    await arena.cluster.advance(COUNTED_MS);
    const visitor = await arena.visitor({ room: sale, context });
    await visitor.come();
    const bar = visitor.page.getByRole("progressbar", { name: "Your progress" });
    await bar.waitFor();
    const percent = async () => Number(await bar.getAttribute("value"));
    const first = await percent();
    await visitor.refreshes(2);
    const next = await percent();
    assert.ok(first < next && next < 100, `${first} and then ${next} % of the way`);
    assert.match(await visitor.text(), /Let in during the last minute: 1\n/);
    assert.match(await visitor.text(), /People ahead of you/);
    await visitor.keepScreenshot(`way-${device}`, { fullPage: true });
    if (context.javaScriptEnabled !== false) assert.deepEqual(await barriers(visitor.page), []);
    assert.deepEqual(visitor.complaints, []);
  });
}
