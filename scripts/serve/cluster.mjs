// A cluster of workerd: several processes, here and on other machines, that share their objects by
// a bucket. What its flags mean, how the bucket is reached, and what each instance is started with.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { stop } from "../stop.mjs";
import { CLUSTER_KEY, CLUSTER_KEY_FILE, DATA } from "./configuration.mjs";

/** Where each instance keeps what it has read from the bucket, in the folder. */
const INSTANCES = "instances";
/** The keys of the bucket, in the folder, unless the environment has them. */
export const CREDENTIALS = "bucket-credentials";
const [OWNER_ALONE, OF_OTHERS] = [0o600, 0o077];
const INSTANCES_MAX = 64;
const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]+\/[\w!.*'()/-]+$/;
const ADDRESS = /^(?:[0-9a-z.-]+|\[[0-9a-f:]+\])$/i;
const REGION = /^[a-z0-9-]+$/;

/** What the flags and what was kept say of the cluster; `undefined` where one process serves. */
export function clusterOf(kept, options) {
  const { cluster: known } = kept.settings;
  const bucket = options.cluster ?? known?.bucket;
  if (!bucket) {
    const alone = Object.keys(OF_CLUSTER).find((flag) => options[flag] !== undefined);
    if (alone) stop(`--${alone} is for a cluster: --cluster says in which bucket`);
    return undefined;
  }
  const chosen = (flag, usual) => options[flag] ?? known?.[OF_CLUSTER[flag]] ?? usual;
  const endpoint = chosen("cluster-endpoint", "");
  const cluster = {
    bucket,
    endpoint,
    region: chosen("cluster-region", endpoint ? "auto" : ""),
    address: chosen("cluster-address", "127.0.0.1"),
    instances: chosen("instances", os.availableParallelism()),
  };
  check(cluster);
  refuseOther(kept, known, bucket);
  return cluster;
}

const OF_CLUSTER = {
  "cluster-endpoint": "endpoint",
  "cluster-region": "region",
  "cluster-address": "address",
  instances: "instances",
};

function check({ bucket, endpoint, region, address, instances }) {
  if (!BUCKET.test(bucket)) stop(`--cluster: "${bucket}" is no bucket like s3://bucket/prefix`);
  const url = URL.parse(endpoint);
  const isPlain = url && ["http:", "https:"].includes(url.protocol) && !url.username && !url.search;
  if (endpoint && !isPlain) stop(`--cluster-endpoint: "${endpoint}" is no address of a store`);
  if (region && !REGION.test(region)) stop(`--cluster-region: "${region}" is no region`);
  if (!ADDRESS.test(address)) stop(`--cluster-address: "${address}" is no address (no port)`);
  if (instances > INSTANCES_MAX) stop(`--instances must be at most ${INSTANCES_MAX}`);
}

/** Objects of one process and those of a cluster are kept apart: neither takes the others over. */
function refuseOther({ folder }, known, bucket) {
  if (known && known.bucket !== bucket) {
    stop(`${folder} is of the cluster in ${known.bucket}: take another folder with --folder`);
  }
  const data = path.join(folder, DATA);
  if (known || !fs.existsSync(data) || fs.readdirSync(data).length === 0) return;
  stop(
    `${folder} holds what one process has stored, and a cluster does not take that over, nor a ` +
      "copy of it: npm run rooms:export while that serves, begin the cluster in another " +
      "--folder, and bring the rooms there by npm run rooms:import (docs/own-machines.md)",
  );
}

/** Writes what the configuration reads besides, for its owner alone. */
export function writeClusterKey(kept) {
  const file = kept.file(CLUSTER_KEY_FILE);
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, kept.secrets[CLUSTER_KEY], { mode: OWNER_ALONE });
}

/** What each instance is started with: the parameters of one, by its place. */
export function parametersOf(folder, { instances }) {
  return Array.from({ length: instances }, (_, at) => {
    const data = path.join(folder, INSTANCES, String(at + 1));
    fs.mkdirSync(data, { recursive: true });
    return ["-d", `${DATA}=${data}`];
  });
}

/**
 * The variables by which workerd reaches the bucket: those of our environment, or the file in the
 * folder. Ends the process with a sentence if neither is there, or others may read the file.
 */
export function credentials(folder) {
  const file = path.join(folder, CREDENTIALS);
  if (fs.existsSync(file)) {
    if (fs.statSync(file).mode & OF_OTHERS) stop(`${file} can be read by others: chmod 600 it`);
    return { AWS_CREDENTIALS_FILE: file };
  }
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_CREDENTIALS_FILE } = process.env;
  if ((AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) || AWS_CREDENTIALS_FILE) return {};
  stop(
    "the keys of the bucket are missing: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the " +
      `environment, or as lines NAME=value in ${file} (mode 600)`,
  );
}
