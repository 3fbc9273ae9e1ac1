// A visitor whom the owner sends through the line: it waits as everybody does, enters when there is
// a place for it, and gives the place back.
import { useEffect, useRef, useState } from "preact/hooks";

import { addressOf, duration } from "./facts.js";
import { Button, Status } from "./parts.jsx";

/** How often it checks in while it waits, in milliseconds. */
const CHECK_IN_MS = 3_000;
const OUTCOMES = {
  waits: ["look", "Waits"],
  inside: ["good", "Inside"],
  left: ["unknown", "Has left"],
  stays: ["look", "Stays inside"],
};
const PASSES = {
  passes: "A bypass rule lets it pass.",
  suspended: "The room is disabled: it passes.",
  other_room: "Another room covers this address.",
  not_covered: "No room covers this address.",
  contradictory_path: "It is refused: servers may read this path in different ways.",
};

export function TestVisitor({ session, room }) {
  const [told, tell] = useState();
  const [problem, setProblem] = useState("");
  const latest = useRef();
  latest.current = told;
  const address = addressOf(room, location) ?? anyAddressOf(room);
  const send = async (visit) => {
    try {
      const next = await session.visit(`${room.zone_id}/${room.id}`, { url: address, ...visit });
      setProblem("");
      tell((old) => followed(visit.ticket ? old : undefined, next));
    } catch ({ message }) {
      setProblem(message);
    }
  };
  const { outcome, ticket } = told ?? {};
  useEffect(() => {
    if (outcome !== "waits") return;
    const timer = setInterval(() => send({ ticket: latest.current.ticket }), CHECK_IN_MS);
    return () => clearInterval(timer);
  }, [outcome]);
  const leave = () => send({ ticket: latest.current.ticket, leaves: true });
  // Whoever leaves the screen does not leave a place taken.
  useEffect(() => () => latest.current?.outcome === "inside" && leave(), []);
  return (
    <div class="told">
      <p>
        <strong>Test visitor</strong>
        {": "}
        <span role="status">{sentence(told)}</span>
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      <p class="row">
        <Button isOff={outcome === "waits" || outcome === "inside"} onClick={() => send({})}>
          Send a test visitor
        </Button>
        {outcome === "inside" && ticket && <Button onClick={leave}>Give its place back</Button>}
      </p>
      {told?.cookie && <p class="soft small">Cookie: {told.cookie}</p>}
    </div>
  );
}

/** An address that a room with a pattern for its host covers. */
function anyAddressOf({ host, path }) {
  return `https://${host.replace("*", "test")}${path}`;
}

/** What is known of it after one more visit. */
function followed(old, { outcome, ticket, cookie }) {
  const now = Date.now();
  const name = cookie?.split("=")[0];
  const attributes = cookie?.split("; ").slice(1).join("; ");
  return {
    outcome,
    ticket: ticket ?? old?.ticket,
    cookie: cookie ? `${name}; ${attributes}` : old?.cookie,
    cameAt: old?.cameAt ?? now,
    enteredAt: old?.enteredAt ?? (outcome === "inside" ? now : undefined),
    hasWaited: old?.hasWaited || outcome === "waits",
    isKnown: old !== undefined,
  };
}

function sentence(told) {
  if (!told) {
    return (
      "takes a place as anybody does, and is not sent on to the site. To see it wait, hold the " +
      "room first; then open it, and it enters."
    );
  }
  const [level, word] = OUTCOMES[told.outcome] ?? ["act", "Passes"];
  return (
    <>
      <Status of={{ level, word }} /> {whatHappened(told)}
    </>
  );
}

function whatHappened({ outcome, cameAt, enteredAt, hasWaited, isKnown }) {
  const waited = duration(Math.round(((enteredAt ?? Date.now()) - cameAt) / 1_000));
  if (outcome === "waits" && !isKnown) return "It has got its place in the line, and a cookie.";
  if (outcome === "waits") return `Its cookie is known again. It waits since ${waited}.`;
  if (outcome === "left") return "Its place is free again.";
  if (outcome === "stays") {
    return "Its place is free when its session ends: the room's log counts whole sessions.";
  }
  if (outcome !== "inside") return PASSES[outcome] ?? "It was not decided: is the room served?";
  return hasWaited ? `It waited ${waited} and entered.` : "It entered at once: a place was free.";
}
