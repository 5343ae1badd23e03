import type { Duplex } from 'node:stream';
import type pg from 'pg';

/** Handles messages of the server instead of the driver. */
export interface MessageHandler {
  /** Returns `false` if the driver must handle the message. Its content begins at an offset. */
  handleMessage(type: number, bytes: Buffer, start: number): boolean;
}

/** Internals of the driver's client; its types do not declare them. */
interface Internals {
  readonly connection: { readonly stream: Duplex };
  /** The query that the server is executing. */
  readonly _activeQuery: unknown;
}

/** The type of a message and its length, which includes the four bytes of itself. */
const headBytes = 5;

/**
 * Lets the query that the server is executing handle the messages of a connected client itself, if
 * it is a `MessageHandler`. The driver decodes each message into objects and each value into a
 * string, which takes a fifth of the time of a page; its parser cannot be replaced otherwise.
 */
export function readMessages(client: pg.ClientBase): void {
  const internals = client as unknown as Internals;
  const { stream } = internals.connection;
  const [driver] = stream.listeners('data') as ((bytes: Buffer) => void)[];
  if (driver === undefined) throw new TypeError('Cannot read messages: the client must be connected');
  const handle = (bytes: Buffer, start: number, end: number): void => {
    const query = internals._activeQuery;
    const type = bytes[start] ?? 0;
    if (isHandler(query) && query.handleMessage(type, bytes, start + headBytes)) return;
    driver(bytes.subarray(start, end));
  };
  const whole = wholeMessages(handle);
  stream.removeAllListeners('data');
  stream.on('data', whole);
}

const isHandler = (query: unknown): query is MessageHandler =>
  query !== null && query !== undefined && 'handleMessage' in (query as object);

/** Makes a listener that calls `handle` with each whole message, which may arrive in parts. */
export function wholeMessages(handle: (bytes: Buffer, start: number, end: number) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let awaited = 0;
  return (received) => {
    parts.push(received);
    partBytes += received.length;
    if (partBytes < awaited) return;
    const bytes = parts.length === 1 ? received : Buffer.concat(parts);
    let start = 0;
    awaited = headBytes;
    while (bytes.length - start >= headBytes) {
      const length = bytes.readUInt32BE(start + 1) + 1;
      awaited = length;
      if (bytes.length - start < length) break;
      handle(bytes, start, start + length);
      start += length;
      awaited = headBytes;
    }
    parts = start === bytes.length ? [] : [bytes.subarray(start)];
    partBytes = bytes.length - start;
  };
}
