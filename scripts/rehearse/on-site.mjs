// How many of those who are counted as inside are on the site. A session counts until its end, some
// minutes after the last page. Pure.

/** A minute with so much of the most inside is one of those that are looked at. */
const FULL = 0.97;
/** With so many pages in a session on average, hardly anybody's ends in the middle of a visit. */
const PAGES_IN_SESSION = 4;

/**
 * On average over the minutes in which the most were inside: entries per minute times minutes of a
 * visit.
 *
 * @param {object} plan
 * @param {object} outcome as the simulator tells it
 * @returns {number | undefined} nothing where sessions end during visits, so that people come back,
 *   and where it was not full for as long as two visits
 */
export function onSiteOf({ room, on_site: said = {} }, { limits, minutes, most_inside: most }) {
  const { minutes: visitMinutes = 4, page_every_seconds: pageEveryS = 30 } = said;
  const sessionS = limits.session_duration * 60;
  if (room.disable_session_renewal || sessionS < PAGES_IN_SESSION * pageEveryS) return;
  const full = minutes.filter(({ inside }) => inside >= FULL * most);
  if (full.length < 2 * visitMinutes) return;
  const entered = full.reduce((sum, minute) => sum + minute.entered, 0);
  const there = (entered / full.length) * visitMinutes;
  return there > 0 && there < most ? there : undefined;
}
