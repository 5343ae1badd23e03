import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that can lose connections to a service in the middle of a response. */
export interface LossyProxy {
  readonly url: string;
  /** Closes all connections, and the following ones once the service has sent this many bytes. */
  lose(connections: number, afterBytes: number): void;
  close(): void;
}

/** @param sentMax closes each connection once a client has sent this many bytes */
export async function startLossyProxy(to: string, sentMax = Number.POSITIVE_INFINITY): Promise<LossyProxy> {
  const { port } = new URL(to);
  const open = new Set<Socket>();
  let [losses, bytesMax] = [0, 0];
  const closeAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((client) => {
    open.add(client);
    const upstream = connect(Number(port), '127.0.0.1');
    const isLost = losses > 0;
    losses -= Number(isLost);
    let [bytes, sent] = [0, 0];
    upstream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (isLost && bytes > bytesMax) client.end(part.subarray(0, Math.max(0, bytesMax - bytes + part.length)));
      else client.write(part);
    });
    client.on('data', (part) => {
      sent += part.length;
      if (sent > sentMax) client.destroy();
    });
    client.pipe(upstream);
    client.on('error', () => undefined).on('close', () => upstream.destroy() && open.delete(client));
    upstream.on('error', () => undefined).on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose(connections, afterBytes) {
      [losses, bytesMax] = [connections, afterBytes];
      closeAll();
    },
    close() {
      server.close();
      closeAll();
    },
  };
}
