/**
 * CrowdHandler's SDK as a Worker, after the example in its README, in its fastest server mode
 * (`hybrid`: signatures are checked locally). Runs in workerd, for the benchmark alone.
 *
 * As published, this mode fetches the list of rooms from the API for every request. With the var
 * ROOMS the list is answered from memory instead: kinder to the SDK than its users can have it.
 */

import { init } from "crowdhandler-sdk";

let rooms;

export default {
  async fetch(request, env) {
    const { gatekeeper } = init({
      publicKey: "bench-public",
      privateKey: "bench-private",
      cloudflareWorkersRequest: request,
      options: { mode: "hybrid", apiUrl: env.API_URL, trustOnFail: false },
    });
    if (env.ROOMS) {
      rooms ??= JSON.parse(env.ROOMS);
      gatekeeper.PublicClient.rooms = () => ({ get: async () => rooms });
    }
    const result = await gatekeeper.validateRequest();
    if (!result.promoted) {
      return new Response(null, { status: 302, headers: { location: result.targetURL } });
    }
    const answer = await fetch(request);
    if (!result.setCookie) return answer;
    const own = new Response(answer.body, answer);
    own.headers.append("set-cookie", gatekeeper.setCookie(result.cookieValue, result.domain));
    return own;
  },
};
