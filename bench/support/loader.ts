import { connect } from 'node:net';

/** What to send, and how. */
export interface Load {
  readonly port: number;
  /** Whole requests as they go on the wire, sent in turn. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly seconds: number;
  /** The only status that counts as an answer. */
  readonly status: number;
}

/** What came back. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests over kept connections, each waiting for its answer, and measures. Works on sockets
 * and not with `node:http`, whose client takes longer for a request than a bare server: the fastest
 * side would be measured by its loader. Fails on an answer of another status, and on one whose
 * length is not told.
 */
export async function runLoad({ port, requests, connections, seconds, status }: Load): Promise<LoadResult> {
  const durations: number[] = [];
  let next = 0;
  const takeRequest = (): Buffer => {
    next += 1;
    return requests[next % requests.length] ?? Buffer.alloc(0);
  };
  const began = performance.now();
  const endsAt = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, () => runConnection({ port, status, endsAt, takeRequest, durations })),
  );
  durations.sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.floor(durations.length * share)] ?? Number.NaN;
  return { perSecond: durations.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

interface Connection {
  readonly port: number;
  readonly status: number;
  readonly endsAt: number;
  readonly takeRequest: () => Buffer;
  readonly durations: number[];
}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One buffer for all connections, as what was read is looked at at once; without it Node makes a
 * new one of 64 KB for each read.
 */
const readBuffer = Buffer.alloc(262_144);

/** Sends one request after another until the time is over. */
function runConnection({ port, status, endsAt, takeRequest, durations }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let head: Buffer = Buffer.alloc(0);
    let missing = -1; // bytes of the body that are still to come; below 0 while the head is read
    const send = (): void => {
      sentAt = performance.now();
      socket.write(takeRequest());
    };
    const answered = (): void => {
      missing = -1;
      const now = performance.now();
      if (now > endsAt) socket.end();
      else {
        durations.push(now - sentAt);
        send();
      }
    };
    const read = (chunk: Buffer): void => {
      if (missing < 0) {
        const seen: Buffer = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = seen.indexOf(endOfHead);
        if (end < 0) {
          head = Buffer.from(seen); // the buffer is used again
          return;
        }
        head = Buffer.alloc(0);
        const length = bodyLength(seen.toString('latin1', 0, end), status);
        if (typeof length === 'string') return void socket.destroy(new Error(length));
        missing = length - (seen.length - end - endOfHead.length);
      } else missing -= chunk.length;
      if (missing === 0) answered();
      else if (missing < 0) socket.destroy(new Error('Cannot measure: more came back than was asked for'));
    };
    const onread = {
      buffer: readBuffer,
      callback: (length: number) => {
        read(readBuffer.subarray(0, length));
        return true;
      },
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

/** Length of the body that follows a head, or what is wrong with it. */
function bodyLength(head: string, status: number): number | string {
  if (!head.startsWith(`HTTP/1.1 ${status} `)) return `Cannot measure: each answer must be ${status}: ${head}`;
  if (status === 304) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? `Cannot measure: an answer must tell its length: ${head}` : Number(length);
}
