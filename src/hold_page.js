// The page for visitors while the Worker cannot decide: static, and without a cookie.

/** The verdict that answers with this page, in the form that `verdict.js` reads. */
export const HOLD = `G200
content-type: text/html; charset=utf-8
cache-control: private, no-store
refresh: 5

<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>One moment, please</title>
<p style="font: 1.2rem/1.6 system-ui; max-width: 30rem; margin: 20vh auto; padding: 0 1rem">
One moment, please. This page tries again by itself every 5 seconds. Nothing was submitted.
`;
