/**
 * Queue-it's connector as a Worker: an adapter on the public API of the package, as thin as it can
 * be. Runs in workerd, for the benchmark alone.
 */

import { createHmac } from "node:crypto";
import { KnownUser } from "@queue-it/connector-javascript";

const TOKEN_PARAMETER = /([?&])queueittoken=[^&]*/i;

export default {
  async fetch(request, env) {
    const { url, headers } = request;
    const setCookies = [];
    const token = new URL(url).searchParams.get(KnownUser.QueueITTokenKey) ?? "";
    const result = await KnownUser.validateRequestByIntegrationConfig(
      url.replace(TOKEN_PARAMETER, ""),
      token,
      env.CONFIGURATION,
      env.CUSTOMER_ID,
      env.SECRET,
      contextOf(request, headers, setCookies),
    );
    if (result.doRedirect()) {
      return new Response(null, { status: 302, headers: { location: result.redirectUrl } });
    }
    const answer = await fetch(request);
    if (setCookies.length === 0) return answer;
    const own = new Response(answer.body, answer);
    for (const cookie of setCookies) own.headers.append("set-cookie", cookie);
    return own;
  },
};

/** What the connector asks of its surroundings. */
function contextOf(request, headers, setCookies) {
  const httpRequest = {
    getUserAgent: () => headers.get("user-agent") ?? "",
    getHeader: (name) => headers.get(name) ?? "",
    getAbsoluteUri: () => request.url,
    getUserHostAddress: () => headers.get("cf-connecting-ip") ?? "",
    getCookieValue: (name) => cookieValue(headers.get("cookie") ?? "", name),
    getRequestBodyAsString: () => "",
  };
  const httpResponse = {
    setCookie(name, value, domain, expiration, isHttpOnly, isSecure) {
      let cookie = `${name}=${encodeURIComponent(value)}; Path=/`;
      cookie += `; Expires=${new Date(expiration * 1_000).toUTCString()}`;
      if (domain) cookie += `; Domain=${domain}`;
      if (isHttpOnly) cookie += "; HttpOnly";
      if (isSecure) cookie += "; Secure";
      setCookies.push(cookie);
    },
  };
  const crypto = {
    getSha256Hash: (key, text) => createHmac("sha256", key).update(text).digest("hex"),
  };
  return {
    getHttpRequest: () => httpRequest,
    getHttpResponse: () => httpResponse,
    getCryptoProvider: () => crypto,
    getEnqueueTokenProvider: () => null,
  };
}

function cookieValue(header, name) {
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return decodeURIComponent(pair.slice(at + 1).trim());
  }
  return undefined;
}
