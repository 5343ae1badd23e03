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

/**
 * Opens the connection of a request, through the proxy if there is one, and closes it: the server
 * receives no request. Rejects with the error of Node.js, such as `ECONNREFUSED`.
 */
export async function requireConnection(url: URL, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = openRequest(url, { signal }).on('error', reject);
  request.on('socket', (socket) => {
    // a tunnel through a proxy is complete, and any other connection has just begun
    if (socket.connecting) socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', resolve);
    else resolve();
  });
  try {
    await promise;
  } finally {
    request.destroy();
  }
}
