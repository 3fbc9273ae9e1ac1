/**
 * The origin of the benchmark, a process of its own: the same small answer to every request, as
 * cheap as it can be, and a count of the requests. It parses nothing but their ends.
 */

import net from "node:net";

const END = "\r\n\r\n";
const BODY = "The origin answers each request with the same sixty-seven bytes....";
const ANSWER = answer("text/plain", BODY);

let count = 0;
/** Answers of another kind, by how their request begins. */
const others = new Map();

const server = net.createServer((socket) => {
  let rest = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    const text = rest + chunk.latin1Slice();
    let from = 0;
    for (let end = text.indexOf(END); end >= 0; end = text.indexOf(END, from)) {
      socket.write(answerTo(text, from), "latin1");
      from = end + END.length;
    }
    rest = text.slice(from);
  });
});

server.listen(0, "127.0.0.1");

process.on("message", async ({ ask, beginning, body }) => {
  if (!server.listening) await new Promise((listening) => server.once("listening", listening));
  if (ask === "serve") others.set(beginning, answer("application/json", body));
  process.send({ port: server.address().port, count });
});

function answerTo(text, from) {
  for (const [beginning, other] of others) {
    if (text.startsWith(beginning, from)) return other;
  }
  count += 1;
  return ANSWER;
}

function answer(type, body) {
  return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}${END}${body}`;
}
