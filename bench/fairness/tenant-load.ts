import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

// Sends the requests of a tenant and prints when each was sent and answered. Reads a `TenantLoad`
// as JSON from standard input. It is a process of its own, so that the load of one tenant does not
// delay the measurement of another one.

/** The requests of one tenant. */
export interface TenantLoad {
  readonly port: number;
  /** Complete raw requests, in Latin-1, sent in turn. */
  readonly requests: readonly string[];
  readonly pace: Pace;
  readonly seconds: number;
}

/**
 * A rate that does not depend on the responses, with the pauses of a Poisson process; or a number
 * of requests in progress at any time, which uses whatever the service can serve.
 */
type Pace = { readonly perSecond: number } | { readonly inProgress: number };

/** One request; times are nanoseconds of the monotonic clock, which all processes share. */
export interface Sample {
  readonly sentNs: number;
  readonly doneNs: number;
  readonly status: number;
}

/** A request to send; its time includes the wait for an idle connection. */
interface Arrival {
  readonly request: string;
  readonly sentNs: number;
}

const connectionsMax = 200;
const endOfHead = Buffer.from('\r\n\r\n');
const nowNs = (): number => Number(process.hrtime.bigint());

/** A random pause of a Poisson process. */
const pauseMs = (perSecond: number): number => (-Math.log(1 - Math.random()) * 1000) / perSecond;

/** A connection that carries one request at a time. */
class Connection {
  readonly #socket: Socket;
  readonly #onSample: (sample: Sample) => void;
  #current: Arrival | undefined;
  #status = 0;
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the body; below 0 while the head is read, infinite until the connection ends. */
  #missing = -1;

  constructor(port: number, onSample: (sample: Sample) => void, onClose: () => void) {
    this.#onSample = onSample;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('close', () => {
      onClose();
      this.#finish();
    });
  }

  send(arrival: Arrival): void {
    this.#current = arrival;
    this.#missing = -1;
    this.#socket.write(arrival.request, 'latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#missing >= 0) this.#missing -= chunk.length;
    else {
      const seen: Buffer = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = seen.indexOf(endOfHead);
      this.#head = end < 0 ? seen : Buffer.alloc(0);
      if (end < 0) return;
      const lines = seen.toString('latin1', 0, end);
      this.#status = Number(lines.slice(9, 12));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(lines)?.[1] ?? Number.POSITIVE_INFINITY);
      this.#missing = length - (seen.length - end - endOfHead.length);
    }
    if (this.#missing <= 0) this.#finish();
  }

  #finish(): void {
    if (this.#current === undefined) return;
    const { sentNs } = this.#current;
    this.#current = undefined;
    this.#onSample({ sentNs, doneNs: nowNs(), status: this.#status });
  }
}

/** Sends the load and resolves with all samples once every response has arrived. */
async function send({ port, requests, pace, seconds }: TenantLoad): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const open = new Set<Connection>();
  const idle = new Set<Connection>();
  const waiting: Arrival[] = [];
  const dispatch = (): void => {
    while (waiting.length > 0) {
      const [connection = open.size < connectionsMax ? openOne() : undefined] = idle;
      const next = connection && waiting.shift();
      if (next === undefined) return;
      idle.delete(connection as Connection);
      connection?.send(next);
    }
  };
  const openOne = (): Connection => {
    const onSample = (sample: Sample): void => {
      samples.push(sample);
      if (open.has(connection)) idle.add(connection);
      dispatch();
    };
    const connection = new Connection(port, onSample, () => {
      open.delete(connection);
      idle.delete(connection);
    });
    open.add(connection);
    return connection;
  };
  let sent = 0;
  const endsAt = performance.now() + seconds * 1000;
  const add = (): void => {
    waiting.push({ request: requests[sent % requests.length] ?? '', sentNs: nowNs() });
    sent += 1;
  };
  for (let dueAt = performance.now(); performance.now() < endsAt; await sleep(1)) {
    if ('inProgress' in pace) while (sent - samples.length < pace.inProgress) add();
    else for (; dueAt <= performance.now(); dueAt += pauseMs(pace.perSecond)) add();
    dispatch();
  }
  while (samples.length < sent) await sleep(5);
  for (const connection of open) connection.destroy();
  return samples;
}

const samples = await send(JSON.parse(await text(process.stdin)) as TenantLoad);
process.stdout.write(JSON.stringify(samples));
