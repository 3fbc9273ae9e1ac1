/** What `--own` prints: a table, and the figures that were wanted. It measures nothing. */

import { median, quantile } from "../../tests/harness/statistics.mjs";
import { aboveUs } from "../report.mjs";
import { PASS_THROUGH, REFERENCE, VARIANTS } from "../variants.mjs";

/** How many microseconds of CPU a visit may take above the pass-through. */
const WANTED_US = { uncovered: 10, admitted: 12, renewed: 45 };
/** How many times the requests of one process two processes should serve on two processors. */
const WANTED_TIMES = 1.8;
/** The last word of the name of a variant whose requests come straight from visitors. */
export const WITHOUT_PROXY = "without-proxy";
const MIB = 1_024 * 1_024;
const HEAD = [
  ...["server", "visit", "CPU, us (half of all slices)", "above the pass-through (95 %)", "wanted"],
  ...["requests a second (half of all slices)", "p50, ms", "p99, ms"],
];

/**
 * The lines to print.
 *
 * @param {object} measured
 * @param {Map<string, object[]>} measured.samples of `playCycles`; "alone admitted" and the like
 * @param {string[]} measured.kinds of visits, by their names in `variants.mjs`
 * @param {number} measured.instances processes of the cluster
 * @param {string[]} measured.absent what could not be compared, a sentence each
 * @param {object} [measured.memory]
 */
export function linesOf({ samples, kinds, instances, absent, memory }) {
  const servers = { alone: "one process", cluster: `${instances} processes` };
  const rows = [...samples.keys()].map((name) => {
    const [service, kind, isDirect] = name.split(" ");
    const title = kind ? VARIANTS.find((one) => one.name === kind).title : "passed on";
    const whole = isDirect ? `${title}, no proxy in front` : title;
    const wantedUs = isDirect ? undefined : WANTED_US[kind];
    return [servers[service] ?? service, whole, ...figures(samples, name, wantedUs)];
  });
  const cycles = samples.get(REFERENCE).length;
  return [
    `CPU time of one request by the processes of each server, from ${cycles} cycles in which each`,
    "serves one slice of requests. Requests a second and p99 are with all connections busy, and",
    "the load generator and the origin use the same processors.",
    "",
    ...[HEAD, HEAD.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`),
    "",
    ...(hasCluster(samples) ? timesLines(samples, kinds, instances) : []),
    ...(memory ? [memoryLine(memory)] : []),
    ...absent.map((sentence) => `Not compared: ${sentence}.`),
  ];
}

/**
 * How many times the requests of one process as many serve: by the clock, and by CPU time alone,
 * as on a machine whose other work has processors of its own; and the busiest one's part of it.
 */
export function times(samples, kind, instances) {
  const [one, many] = ["alone", "cluster"].map((service) => samples.get(`${service} ${kind}`));
  const each = (of) => median(one.map((sample, cycle) => of(sample, many[cycle])));
  return {
    served: each((alone, cluster) => cluster.perSecond / alone.perSecond),
    carried: each((alone, cluster) => (instances * alone.cpuUs) / cluster.cpuUs),
    busiest: each((_, cluster) => cluster.busiestShare),
  };
}

function hasCluster(samples) {
  return [...samples.keys()].some((name) => name.startsWith("cluster "));
}

function figures(samples, name, wantedUs) {
  const own = samples.get(name);
  const of = (value) => own.map((sample) => sample[value]);
  const took = own.flatMap(({ tookMs }) => tookMs);
  return [
    half(of("cpuUs")),
    name === PASS_THROUGH.name ? "0" : interval(aboveUs(samples, name)),
    wantedUs === undefined ? "" : `at most ${wantedUs}: ${verdict(samples, name, wantedUs)}`,
    half(of("perSecond")),
    quantile(took, 0.5).toFixed(1),
    quantile(took, 0.99).toFixed(1),
  ];
}

function verdict(samples, name, wantedUs) {
  const { middle } = aboveUs(samples, name);
  if (Number.isNaN(middle)) return "CPU is not measured here";
  return middle <= wantedUs ? "reached" : "missed";
}

function timesLines(samples, kinds, instances) {
  return [
    `${instances} processes, compared with one (wanted: ${WANTED_TIMES} with two):`,
    ...kinds.map((kind) => {
      const { served, carried, busiest } = times(samples, kind, instances);
      const byClock = `${served.toFixed(2)} times the requests a second`;
      const share = `${(100 * busiest).toFixed(0)} % of it by the busiest process`;
      return `- ${kind}: ${byClock}; by CPU time alone ${carried.toFixed(2)}, ${share}`;
    }),
    "",
  ];
}

function memoryLine({ before, after, joined, queued, seconds }) {
  const mib = (bytes) => `${Math.round(bytes / MIB)} MB`;
  return (
    `Memory of one process: ${mib(before)}, and ${mib(after)} after ${joined} visitors have ` +
    `joined a line in ${seconds.toFixed(0)} s (the room counts ${queued}).`
  );
}

function half(values) {
  const at = (part) => quantile(values, part).toFixed(0);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}

function interval({ middle, low, high }) {
  const signed = (value) => `${value >= 0 ? "+" : ""}${value.toFixed(0)}`;
  return `${signed(middle)} (${signed(low)} to ${signed(high)})`;
}
