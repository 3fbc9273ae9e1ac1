// The alarm of an object, which has one: webhooks and what is forgotten (`forget.js`) share it. It
// only ever moves to an earlier moment, until it rings; then each asks for the next.

/** What is done with the alarm of each object, one after the other. */
const settings = new WeakMap();

/** Sees to it that an object wakes by `at`, in milliseconds. It may wake earlier. */
export function wakeBy(context, at) {
  const { storage } = context;
  const set = async () => {
    const before = await storage.getAlarm();
    if (before === null || before > at) await storage.setAlarm(at);
  };
  const done = (settings.get(context) ?? Promise.resolve()).then(set).catch(logged);
  settings.set(context, done);
  context.waitUntil(done);
}

const logged = (error) => console.error(`no alarm can be set: ${error}`);
