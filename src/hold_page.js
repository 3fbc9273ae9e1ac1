// The page for visitors while the Worker cannot decide: without a cookie, and in their language.
import { wordsOf } from "./languages.js";
import texts from "../build/worker/gen/languages.js";

const ENGLISH = "en-US";
/** The languages that are written from right to left. */
const RIGHT_TO_LEFT = ["ar-EG", "fa-IR", "he-IL"];
/** The methods by which nothing is sent. */
const READS = ["GET", "HEAD"];
/** Most languages of a request that are looked at. */
const RANGES_MAX = 10;

/**
 * Returns the verdict that answers with this page, in the form that `verdict.js` reads. Only who
 * sent something is told that it was not submitted.
 *
 * @param {Pick<Request, "method" | "headers">} request
 */
export function holdPage({ method, headers }) {
  const tag = preferred(headers.get("accept-language") ?? "");
  const { one_moment: moment, checks, nothing_submitted: nothing } = JSON.parse(wordsOf(tag));
  const outcome = READS.includes(method) ? "" : ` ${nothing}`;
  const direction = RIGHT_TO_LEFT.includes(tag) ? "rtl" : "ltr";
  return `G200
content-type: text/html; charset=utf-8
cache-control: private, no-store
refresh: 5

<!doctype html>
<html lang="${tag}" dir="${direction}">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${moment}</title>
<p style="font: 1.2rem/1.6 sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem">
${moment}. ${checks}${outcome}
`;
}

/** The first language of the header that is one of ours; browsers send the best first. */
function preferred(acceptLanguage) {
  const ranges = acceptLanguage.toLowerCase().split(",", RANGES_MAX);
  for (const range of ranges.map((one) => one.split(";")[0].trim())) {
    const [primary] = range.split("-");
    const fits = (tag) => tag.toLowerCase() === range;
    const isOf = (tag) => primary !== "" && tag.toLowerCase().startsWith(`${primary}-`);
    const found = Object.keys(texts).find(fits) ?? Object.keys(texts).find(isOf);
    if (found) return found;
  }
  return ENGLISH;
}
