import type { Socket } from 'node:net';

/**
 * Returns what a connection received until it was closed, also by a reset: the other side resets a
 * connection that it closes before it has read everything.
 */
export async function readUntilClose(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // `once` of node:events would reject on a reset
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString();
}
