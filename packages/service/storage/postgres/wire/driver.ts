import type pg from 'pg';
import type { Row } from '../../store.ts';

// All that we use of `pg` beyond its public interface, and how our own queries receive messages.

/** A connection of the driver, with the members that its types do not declare. */
export interface DriverConnection extends pg.Connection {
  /** Texts of the named statements that the server has prepared. */
  readonly parsedStatements: Partial<Record<string, string>>;
  /** Texts of those that were sent, and are not confirmed yet. */
  readonly submittedNamedStatements: Partial<Record<string, string>>;
}

/** Members of a client that its types do not declare; `postgres-batch.test.ts` checks them. */
interface Internals {
  readonly connection: DriverConnection;
  /** The query that the server is executing. */
  readonly _activeQuery: unknown;
  /** The process id that the server sent, or that a pooler invented. */
  readonly processID: number;
}

const internalsOf = (client: pg.ClientBase): Internals => client as unknown as Internals;

export const socketOf = (client: pg.ClientBase): pg.Connection['stream'] => internalsOf(client).connection.stream;

export const processIdOf = (client: pg.ClientBase): number => internalsOf(client).processID;

/** The methods that the driver calls on a query that is no `pg.Query`. */
export interface DriverQuery {
  /** Called at the end; the driver wraps its own timeout around it. */
  callback: (error: unknown, results?: readonly (readonly Row[])[]) => void;
  handleError(error: unknown, connection: DriverConnection): void;
  handleReadyForQuery(): void;
}

export interface MessageHandler {
  /** Returns `false` if the driver must handle the message. Its content begins at an offset. */
  handleMessage(type: number, bytes: Buffer, start: number): boolean;
}

/** The event of a read whose memory is valid during the call. */
export const reusedRead = 'reusedRead';

/** The type of a message and its length, which includes the four bytes of itself. */
const headBytes = 5;

/**
 * Lets the query that the server is executing handle the messages of a connected client itself, if
 * it is a `MessageHandler`. The driver decodes each message into objects and each value into a
 * string, which takes a fifth of the time of a page; its parser cannot be replaced otherwise.
 */
export function readMessages(client: pg.ClientBase): void {
  const internals = internalsOf(client);
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
  stream.on(reusedRead, whole);
}

const isHandler = (query: unknown): query is MessageHandler =>
  query !== null && query !== undefined && 'handleMessage' in (query as object);

/**
 * Makes a listener that calls `handle` with each whole message. A message that arrives in parts is
 * copied to memory of its own. Others are passed in the received memory, which may change after the
 * call.
 */
export function wholeMessages(handle: (bytes: Buffer, start: number, end: number) => void): (bytes: Buffer) => void {
  /** A message that was cut off, or its head. */
  let cut = Buffer.alloc(0);
  let cutBytes = 0;
  return (received) => {
    let start = 0;
    while (start < received.length) {
      if (cutBytes === 0) {
        let bytes = bytesOf(received, start);
        for (; received.length - start >= bytes; bytes = bytesOf(received, start)) {
          handle(received, start, start + bytes);
          start += bytes;
        }
        cut = Buffer.allocUnsafe(bytes);
      }
      const copied = received.copy(cut, cutBytes, start);
      start += copied;
      cutBytes += copied;
      if (cutBytes < cut.length) return;
      const bytes = bytesOf(cut, 0);
      if (bytes > cut.length) cut = Buffer.concat([cut], bytes);
      else {
        handle(cut, 0, bytes);
        cutBytes = 0;
      }
    }
  };
}

/** The length of the message that begins at an offset, or of its head if that is cut off. */
const bytesOf = (bytes: Buffer, start: number): number =>
  bytes.length - start < headBytes ? headBytes : bytes.readUInt32BE(start + 1) + 1;
