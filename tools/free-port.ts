import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that Linux (from 32768) and macOS (from 49152) give to outgoing connections: no
 * connection takes one between this check and its use.
 */
const ports = { first: 10_240, behindLast: 32_768 };

/** A loopback port that nothing listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.first, ports.behindLast);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
