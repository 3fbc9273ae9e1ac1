// A React component that waits for its turn, and tells how far it is.
import { useState } from "react";
import { useWaitingRoomFetch } from "waiting-room-client/react";

export function Basket() {
  const [ask, progress] = useWaitingRoomFetch();
  const [told, setTold] = useState("Nothing is asked yet.");
  const order = () =>
    ask("/api/basket").then(
      ({ ok }) => setTold(ok ? "You are in." : "The shop does not answer."),
      () => setTold("You gave up."),
    );
  return (
    <>
      <p role="status">{progress ? `${progress.estimateMinutes ?? "?"} minutes` : told}</p>
      <button onClick={order} disabled={progress !== undefined}>Order</button>
    </>
  );
}
