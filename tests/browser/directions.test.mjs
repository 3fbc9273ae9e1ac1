/** What owners write is drawn in its own direction, whatever the direction of the page. */

import assert from "node:assert/strict";

import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

/** Each text ends with a mark that is drawn behind it, on the side where its direction ends. */
const rtl = localRoom({
  name: "rtl",
  page_name: "היכל התרבות (אולם 2)",
  page_text: "הכרטיסים לשני הערבים נמכרים כאן.",
  page_message: "أضيف يوم ثان.",
});
const ltr = localRoom({
  name: "ltr",
  page_name: "Opera (Hall 2)",
  page_text: "Tickets for both evenings are on sale.",
  page_message: "A second day was added.",
});
const TEXTS = [".site bdi", ".own", ".news"];
const PAGES = { "en-US": "ltr", "de-DE": "ltr", "he-IL": "rtl", "ar-EG": "rtl" };

for (const room of [rtl, ltr]) {
  const title = `texts from ${room.name === "rtl" ? "right to left" : "left to right"} stay so`;
  browserTest(`${title} on every page`, { rooms: [room] }, async (arena) => {
    await visitorInside(arena.cluster, room);
    for (const [locale, direction] of Object.entries(PAGES)) {
      const visitor = await arena.visitor({ room, context: { ...PHONE, locale } });
      await visitor.come();
      await visitor.keepScreenshot(`directions-${room.name}-${locale}`);
      assert.equal(await visitor.page.evaluate(() => document.documentElement.dir), direction);
      for (const selector of TEXTS) {
        const drawn = await visitor.page.locator(selector).evaluate(directionOf);
        assert.equal(drawn, room.name, `${selector} in ${locale}`);
      }
      assert.deepEqual(visitor.complaints, []);
      await visitor.leave();
    }
  });
}

/** Tells on which side of the character before it the last one is drawn; runs in a browser. */
function directionOf(element) {
  const text = element.firstChild;
  const leftOf = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  };
  const last = text.data.length - 1;
  return leftOf(last) < leftOf(last - 1) ? "rtl" : "ltr";
}
