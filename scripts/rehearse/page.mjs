// The report of a rehearsal: the built page with the figures in it. Pure: the command writes it to
// a file, the cockpit offers it as one.

/**
 * The page as one text that needs nothing else.
 *
 * @param {string} page the empty report
 * @param {object} rehearsal what it shows
 */
export function reportOf(page, rehearsal) {
  // Inside of the element no text can end it.
  const json = JSON.stringify(rehearsal).replaceAll("<", "\\u003c");
  return page.replace("/* rehearsal */", () => json);
}
