/**
 * The Worker under test with a side door: it counts the calls that reach the objects and the writes
 * to the Cache API, and makes calls fail or wait on order. It stands around the product and changes
 * no decision; the product itself has no such door. Runs in workerd, never in Node.
 */

import { WorkerEntrypoint, env } from "cloudflare:workers";
import * as product from "./product.mjs";

/** Calls by "class object", since this isolate began. */
const calls = {};
/** Calls of this isolate to any object: each begins with the name of the object. */
let asked = 0;
/** Writes to the Cache API by key: how many, the size of the largest, and when each happened. */
const writes = {};
/**
 * Orders for calls to come. @type {{ className: string, object?: string, fail?: string, delayMs?:
 * number }[]}
 */
let faults = [];

function counted(Product, className) {
  return class extends Product {
    /** Ends this object as a crash does: its memory is gone and whoever waits for it hears so. */
    kill() {
      this.ctx.abort("killed by the test");
    }

    async call(text) {
      const object = this.ctx.id.name;
      const name = `${className} ${object}`;
      calls[name] = (calls[name] ?? 0) + 1;
      const fault = faults.find(
        (one) => one.className === className && (one.object ?? object) === object,
      );
      if (!fault) return super.call(text);
      if (fault.delayMs) await new Promise((wake) => setTimeout(wake, fault.delayMs));
      // A call fails in life in two ways: it never arrived, or its answer was lost.
      if (fault.fail === "before") throw new Error("the test made this call fail");
      const answer = await super.call(text);
      if (fault.fail === "after") throw new Error("the test lost this answer");
      return answer;
    }
  };
}

export const DataCenterCounter = counted(product.DataCenterCounter, "DataCenterCounter");
export const DataCenterAggregator = counted(product.DataCenterAggregator, "DataCenterAggregator");
export const GlobalAggregator = counted(product.GlobalAggregator, "GlobalAggregator");
export const Registry = counted(product.Registry, "Registry");

const Namespace = Object.getPrototypeOf(env.GLOBAL_AGGREGATOR);
const { getByName } = Namespace;
Namespace.getByName = function (...parameters) {
  asked += 1;
  return getByName.apply(this, parameters);
};

const { put } = Cache.prototype;
Cache.prototype.put = async function (key, response) {
  const write = (writes[key.url ?? String(key)] ??= { count: 0, bytes: 0, at: [] });
  const bytes = await response.clone().arrayBuffer();
  write.count += 1;
  write.bytes = Math.max(write.bytes, bytes.byteLength);
  write.at.push(Date.now());
  return put.call(this, key, response);
};

/** The side door. The harness opens it on a socket of its own. */
export class TestDoor extends WorkerEntrypoint {
  async fetch(request) {
    if (request.method === "PUT") faults = await request.json();
    return Response.json({ now: Date.now(), asked, calls, writes });
  }
}

export default product.default;
