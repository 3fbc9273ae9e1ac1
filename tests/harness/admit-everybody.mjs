/**
 * A Worker without any limit, to show that the tests of the limits fail with it. Runs in workerd in
 * the place of the product.
 */

import { DurableObject } from "cloudflare:workers";

export class DataCenterCounter extends DurableObject {}
export class DataCenterAggregator extends DurableObject {}
export class GlobalAggregator extends DurableObject {}
export class Registry extends DurableObject {}

export default {
  fetch: (request) => fetch(request),
};
