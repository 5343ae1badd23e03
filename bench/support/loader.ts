import { connect } from 'node:net';

/** The requests to send. */
export interface Load {
  readonly port: number;
  /** Complete raw requests, sent in turn. */
  readonly requests: readonly Buffer[];
  /**
   * Creates the next request of a connection, given by its number, from the body of its last
   * response. `requests` then contains the first request of each connection.
   */
  readonly follow?: ((body: string, connection: number) => Buffer) | undefined;
  readonly connections: number;
  readonly seconds: number;
  /** The expected status. */
  readonly status: number;
}

/** The result of a run. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests over keep-alive connections, each waiting for its response, and measures. Uses
 * sockets rather than `node:http`, whose client takes longer for a request than a bare server and
 * would limit the fastest side. Throws for a response with another status or without a length.
 */
export async function runLoad({ port, requests, follow, connections, seconds, status }: Load): Promise<LoadResult> {
  const durations: number[] = [];
  let taken = 0;
  const next = (connection: number, body: string | undefined): Buffer => {
    if (follow !== undefined && body !== undefined) return follow(body, connection);
    taken += 1;
    return requests[(follow === undefined ? taken : connection) % requests.length] ?? Buffer.alloc(0);
  };
  const endsAt = performance.now() + seconds * 1000;
  const readsBody = follow !== undefined;
  await Promise.all(
    Array.from({ length: connections }, (_, connection) =>
      runConnection({ port, status, endsAt, next: (body) => next(connection, body), readsBody, durations }),
    ),
  );
  durations.sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.floor(durations.length * share)] ?? Number.NaN;
  return { perSecond: durations.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

interface Connection {
  readonly port: number;
  readonly status: number;
  readonly endsAt: number;
  /** The request to send, derived from the body of the last response if there is one. */
  readonly next: (body: string | undefined) => Buffer;
  readonly readsBody: boolean;
  readonly durations: number[];
}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One buffer for all connections, because data is processed immediately; otherwise Node.js
 * allocates 64 KB per read.
 */
const readBuffer = Buffer.alloc(262_144);

/** Sends one request after another until the time is over. */
function runConnection({ port, status, endsAt, next, readsBody, durations }: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let head: Buffer = Buffer.alloc(0);
    let missing = -1; // remaining bytes of the body; below 0 while the head is read
    let body: string | undefined;
    const send = (): void => {
      const request = next(body);
      body = '';
      sentAt = performance.now();
      socket.write(request);
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
    const take = (part: Buffer, awaited: number): void => {
      missing = awaited - part.length;
      if (readsBody) body += part.toString('latin1');
    };
    const read = (chunk: Buffer): void => {
      if (missing < 0) {
        const seen: Buffer = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const end = seen.indexOf(endOfHead);
        if (end < 0) {
          head = Buffer.from(seen); // the buffer is reused
          return;
        }
        head = Buffer.alloc(0);
        const length = bodyLength(seen.toString('latin1', 0, end), status);
        if (typeof length === 'string') return void socket.destroy(new Error(length));
        take(seen.subarray(end + endOfHead.length), length);
      } else take(chunk, missing);
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

/** Returns the length of the body after a head, or the error in it. */
function bodyLength(head: string, status: number): number | string {
  if (!head.startsWith(`HTTP/1.1 ${status} `)) return `Cannot measure: each answer must be ${status}: ${head}`;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? `Cannot measure: an answer must tell its length: ${head}` : Number(length);
}
