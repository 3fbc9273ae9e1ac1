// Reads the room's event stream, which says when the turn has come. It is a hint: without a stream
// the next check-in tells the same.
import { type Facts, parsed } from "./answer.ts";

/** Reads the event in one block of a stream; `undefined` for comments and settings. */
export function eventIn(block: string): { kind: string; data: string } | undefined {
  let kind = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice("event:".length).trim();
    if (line.startsWith("data:")) data.push(line.slice("data:".length).trim());
  }
  return data.length > 0 ? { kind, data: data.join("\n") } : undefined;
}

/**
 * Opens a stream and reads it to its end. Resolves to true when the turn has come, and to false
 * when the stream ended without that or could not be opened: then the next check-in tells.
 */
export async function turnComes(
  open: () => Promise<Response>,
  onFacts: (facts: Facts) => void,
): Promise<boolean> {
  try {
    const response = await open();
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream") || response.body === null) {
      await response.body?.cancel();
      return false;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (rest + part.value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const event of blocks.map(eventIn)) {
        if (event?.kind === "turn") {
          reader.cancel().catch(() => {});
          return true;
        }
        const facts = event?.kind === "estimate" ? parsed(event.data) : undefined;
        if (facts) onFacts(facts);
      }
    }
  } catch {
    // No network, or the wait is over.
  }
  return false;
}
