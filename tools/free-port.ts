import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that Linux (from 32768) and macOS (from 49152) give to outgoing connections: no
 * connection takes one between this check and its use.
 */
const ports = { first: 10_240, behindLast: 32_768 };

/**
 * Every `step`th port belongs to one worker of Vitest, so that no other takes it meanwhile. Vitest
 * numbers its workers from 1; those of another run have another parent.
 */
const step = 64;
const own = (Number(process.env.VITEST_POOL_ID ?? 0) + 8 * process.ppid) % step;
let turn = randomInt((ports.behindLast - ports.first) / step);

/** A loopback port that nothing listens on now. A process gets 352 different ports in a row. */
export async function freePort(): Promise<number> {
  for (;;) {
    turn = (turn + 1) % ((ports.behindLast - ports.first) / step);
    const port = ports.first + turn * step + own;
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
