import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type Config, settings } from './config.ts';

/**
 * The settings of `serve --demo`. Its data is apart from the data of the service and from other
 * demos. If the default port of the operator's API is in use, as by another demo, any free port
 * takes its place.
 */
export async function demoConfig(config: Config): Promise<Config> {
  const { DATA_DIR, PORT, MANAGEMENT_HOST: host, MANAGEMENT_PORT: port } = config;
  const isDefault = port === settings.MANAGEMENT_PORT.fallback;
  const managementPort = isDefault ? ((await findFreePort(host, port)) ?? (await findFreePort(host, 0))) : port;
  return { ...config, DATA_DIR: join(DATA_DIR, `demo-${PORT}`), MANAGEMENT_PORT: managementPort ?? port };
}

/** Returns the port if it is free, for 0 any free one; `undefined` if it cannot be used. */
async function findFreePort(host: string, port: number): Promise<number | undefined> {
  const server = createServer().listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  const { port: free } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return free;
}
