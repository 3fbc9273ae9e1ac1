/**
 * The memory that an isolate of workerd really holds: garbage is collected first, which workerd
 * puts off for as long as the machine has memory. It asks workerd's inspector.
 */

import { inspect } from "./inspector.mjs";

/**
 * Returns the bytes of the objects and texts that an isolate holds; the memory of its wasm is not
 * among them.
 *
 * @param {URL} inspector the address of workerd's inspector
 * @param {string} service the name of the service
 */
export function heldBytes(inspector, service) {
  return inspect(inspector, service, async (ask) => {
    await ask("HeapProfiler.enable");
    await ask("HeapProfiler.collectGarbage");
    const used = await ask("Runtime.getHeapUsage");
    return used.usedSize + used.embedderHeapUsedSize + used.backingStorageSize;
  });
}
