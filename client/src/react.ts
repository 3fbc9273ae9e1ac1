// The fetch that waits as a React hook: it gives up what is under way when the component goes, and
// tells how the wait goes on as state.
import { useCallback, useEffect, useRef, useState } from "react";

import type { Progress } from "./answer.ts";
import { type Options, waitingRoomFetch } from "./index.ts";

/**
 * Returns a fetch that waits its turn, the same in every render, and how its wait stands:
 * `undefined` while nothing waits. What is under way when the component is removed is given up.
 */
export function useWaitingRoomFetch(
  options: Options = {},
): readonly [fetch: typeof fetch, progress: Progress | undefined] {
  const [progress, setProgress] = useState<Progress>();
  const latest = useRef(options);
  const requests = useRef<AbortController>(undefined);
  const open = useRef(0);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(
    () => () => {
      requests.current?.abort();
      // React may put the component back, and does so once to try it.
      requests.current = undefined;
    },
    [],
  );
  const ask = useCallback<typeof fetch>(async (input, init) => {
    requests.current ??= new AbortController();
    const removed = requests.current.signal;
    const given = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const signal = given ? AbortSignal.any([removed, given]) : removed;
    const onProgress = (news: Progress) => {
      latest.current.onProgress?.(news);
      if (!removed.aborted) setProgress(news);
    };
    open.current += 1;
    try {
      return await waitingRoomFetch({ ...latest.current, onProgress })(input, { ...init, signal });
    } finally {
      open.current -= 1;
      if (open.current === 0) setProgress(undefined);
    }
  }, []);
  return [ask, progress];
}
