// The demo shop: the origin that `npm start` puts behind the waiting room.

const CONCERTS = [
  { date: "Fri 12 June", act: "The Quiet Hours", hall: "River Hall", price: "€ 38" },
  { date: "Sat 20 June", act: "Anna Lind Quartet", hall: "Old Depot", price: "€ 24" },
  { date: "Sun 28 June", act: "Paper Boats", hall: "Park Stage", price: "€ 19" },
];

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    // A script may ask whether its visitor waits. A request that reaches the shop does not.
    if (request.headers.get("accept")?.includes("application/json")) {
      return Response.json({ cfWaitingRoom: { inWaitingRoom: false }, concerts: CONCERTS });
    }
    if (request.method === "POST") return html(thanks(await request.formData()));
    if (pathname !== "/") return html(`<h1>Nothing here</h1><p><a href="/">Back</a></p>`, 404);
    return html(shop());
  },
};

function shop() {
  const rows = CONCERTS.map(
    ({ date, act, hall, price }) => `
      <li>
        <time>${date}</time>
        <div><strong>${act}</strong><span>${hall}</span></div>
        <form method="post" action="/order">
          <input type="hidden" name="act" value="${act}">
          <button>${price}</button>
        </form>
      </li>`,
  );
  return `
    <h1>You are in.</h1>
    <p>The shop is all yours. Your place is kept while you look around: one minute after your last
      page it goes to the next in line.</p>
    <ul>${rows.join("")}</ul>`;
}

function thanks(order) {
  const known = CONCERTS.find(({ act }) => act === order.get("act"));
  return `
    <h1>Thank you.</h1>
    <p>Two tickets for ${known ? known.act : "the concert"} are on their way. (Not really: this is a
      demo.)</p>
    <p><a href="/">Back to the shop</a></p>`;
}

function html(content, status = 200) {
  return new Response(
    PAGE.replace("<!-- content -->", () => content),
    {
      status,
      headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
    },
  );
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Little Ticket Shop</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; --ink: #22303c; --paper: #f6f3ec; --card: #fff; --go: #1c6e5a }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e8e6df; --paper: #17201f; --card: #202b2a; --go: #2a8a71 }
  }
  body { margin: 0; background: var(--paper); color: var(--ink);
    font: 1.05rem/1.6 system-ui, sans-serif }
  main { max-width: 34rem; margin: 0 auto; padding: 12vh 1.25rem 3rem }
  header { font-size: .85rem; letter-spacing: .12em; text-transform: uppercase; opacity: .7 }
  h1 { font: 600 2.4rem/1.2 Georgia, serif; margin: .4rem 0 1rem }
  ul { list-style: none; margin: 2rem 0; padding: 0; display: grid; gap: .75rem }
  li { display: grid; grid-template-columns: 6.5rem 1fr auto; align-items: center; gap: 1rem;
    background: var(--card); padding: 1rem 1.25rem; border-radius: .75rem }
  time { opacity: .7; font-size: .95rem }
  span { display: block; opacity: .7; font-size: .95rem }
  button { font: inherit; color: #fff; background: var(--go); border: 0; border-radius: 2rem;
    padding: .4rem 1.1rem; cursor: pointer }
  a { color: inherit }
  @media (max-width: 30rem) { li { grid-template-columns: 1fr auto } time { grid-column: 1 / -1 } }
</style>
</head>
<body><main>
<header>Little Ticket Shop</header>
<!-- content -->
</main></body>
</html>
`;
