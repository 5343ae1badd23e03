import { type ClientRequest, Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { proxyVariables } from './proxy.ts';

/**
 * Opens a request that `fetch` cannot send: `fetch` gives up on a response after 300 s. Follows no
 * redirect.
 */
export function openRequest(url: URL, options: RequestOptions): ClientRequest {
  const isTls = url.protocol === 'https:';
  return (isTls ? requestHttps : requestHttp)(url, {
    agent: new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: false, proxyEnv: proxyVariables() }),
    ...options,
  });
}
