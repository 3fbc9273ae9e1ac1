/**
 * Tests that need a cluster: they start one, hand it over and end it. Where the machine lacks
 * something for that, a C compiler for example, they say SKIPPED.
 */

import { test } from "node:test";

import { clockMissing } from "./clock.mjs";
import { startCluster } from "./cluster.mjs";
import { IS_OWN } from "./own-platform.mjs";
import { isInSample } from "./sample.mjs";

/**
 * After how many milliseconds a test fails: longer than any takes on a slow machine, so that a
 * hanging call still ends the run.
 */
const TIMEOUT_MS = 600_000;
/** The share of the tests that are declared twice of which a run takes the second one. */
const DOUBLES_SHARE = 0.25;

/**
 * Declares a test with a cluster of its own. The clock of the cluster is stopped unless `options`
 * say otherwise.
 *
 * @param {string} name
 * @param {object} options of `startCluster`; a long story may take its own `timeoutMs`
 * @param {(cluster: object) => Promise<void>} body
 * @param {() => string | undefined} [whatIsMissing] why the test cannot run on this machine
 */
export function clusterTest(name, options, body, whatIsMissing = clockMissing) {
  test(name, { timeout: options.timeoutMs ?? TIMEOUT_MS }, async (context) => {
    const missing = whatIsMissing();
    if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
    if (missing) return context.skip(`SKIPPED: ${missing}`);
    const { cloudflareAlone } = options;
    if (IS_OWN && cloudflareAlone) return context.diagnostic(`not here: ${cloudflareAlone}`);
    const cluster = await startCluster({ stopped: true, ...options });
    try {
      await body(cluster);
    } catch (error) {
      cluster.log.show(name);
      throw error;
    } finally {
      await cluster.stop();
    }
  });
}

/**
 * Declares a test twice: with the Worker as it is, and with `glance` switched off, so that the
 * fetch handler answers every visit by itself. Of the second ones a run takes a sample.
 */
export function clusterTestBothWays(name, options, body) {
  clusterTest(name, options, body);
  if (!isInSample(name, DOUBLES_SHARE)) return;
  clusterTest(`${name} (glance off)`, { ...options, glance: false }, body);
}
