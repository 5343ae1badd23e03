import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import { listenFailure } from './log/describe-failure.ts';

export async function listenOnBoth(
  app: FastifyInstance,
  management: FastifyInstance | undefined,
  config: Config,
  reusePort: boolean,
): Promise<void> {
  try {
    await listen(app, config, '', reusePort);
    if (management !== undefined) await listen(management, config, 'MANAGEMENT_', reusePort);
  } catch (error) {
    await Promise.all([app.close(), management?.close()]);
    throw error;
  }
}

/** What the log says of each listener, by the prefix of its settings. */
const listening = { '': 'listening', MANAGEMENT_: "the operator's API is listening" } as const;

async function listen(
  app: FastifyInstance,
  config: Config,
  prefix: keyof typeof listening,
  reusePort: boolean,
): Promise<void> {
  const { [`${prefix}HOST` as const]: host, [`${prefix}PORT` as const]: port } = config;
  const place = { host, port, reusePort }; // an option of Node.js that Fastify's types lack
  await app
    .listen({ ...place, listenTextResolver: (address) => `${listening[prefix]} at ${address}` })
    .catch((error: unknown) => {
      throw listenFailure(error, config, prefix);
    });
}

/** Listens on a port for a moment, and returns it; 0 takes any free one. Throws if it is in use. */
export async function requireFreePort(host: string, port: number): Promise<number> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return free;
}
