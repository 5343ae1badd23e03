import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A transaction pooler that behaves like PgBouncer 1.21 or newer with `pool_mode=transaction`
 * (according to its `src/prepare.c`; PgBouncer is in no registry that tests use): each transaction
 * of a client gets another session of the real server; a client's prepared statements are prepared
 * again where they are missing; a name that is prepared twice, or never, closes the connection.
 * Start-up options are ignored, and the process id that a client receives is invented.
 */
export interface Pooler {
  /** The same database through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Behaviour of the pooler. */
export interface PoolerOptions {
  /** Whether it keeps track of prepared statements, as PgBouncer does since 1.21. */
  readonly preparedStatements?: boolean;
}

/**
 * Maximum server sessions per user and database; at least two are idle when one is chosen, so that
 * consecutive transactions use different sessions.
 */
const sessionsMax = 30;
const idleMin = 2;

/** Starts a pooler in front of a server, for any user and database that clients connect with. */
export async function startPooler(
  serverUrl: string,
  { preparedStatements = true }: PoolerOptions = {},
): Promise<Pooler> {
  const { hostname, port } = new URL(serverUrl);
  const pools = new Map<string, SessionPool>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay());
    socket.on('close', () => sockets.delete(socket));
    const poolFor = (startup: Buffer): SessionPool => {
      const { user = '', database = user } = readParameters(startup);
      const key = JSON.stringify([user, database]);
      const pool = pools.get(key) ?? new SessionPool(hostname, Number(port), { user, database });
      pools.set(key, pool);
      return pool;
    };
    new PooledClient(socket, poolFor, preparedStatements);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const pool of pools.values()) pool.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One message of the protocol, beginning with its type; a client's first message has none. */
type Message = Buffer;

/** Splits a stream of bytes into messages. */
function messagesOf(socket: Socket, isUntyped: () => boolean, handle: (message: Message) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isUntyped() ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      handle(message);
    }
  });
}

const zero = Buffer.alloc(1);
const typeOf = (message: Message): string => String.fromCharCode(message[0] ?? 0);

const toMessage = (type: string, ...parts: readonly (Buffer | string)[]): Message => {
  const body = Buffer.concat(
    parts.map((part) => Buffer.concat(typeof part === 'string' ? [Buffer.from(part), zero] : [part])),
  );
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const int32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4);
  return bytes;
};

/** Reads a zero-terminated string at a position. */
const textAt = (bytes: Buffer, start: number): { text: string; end: number } => {
  const end = bytes.indexOf(0, start);
  return { text: bytes.toString('utf8', start, end), end: end + 1 };
};

function readParameters(startup: Buffer): Partial<Record<string, string>> {
  const words = startup.toString('utf8', 8).split('\0');
  return Object.fromEntries(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? '']] : [])));
}

/**
 * A message that the server has not responded to yet; the response to a Parse of ours is not
 * forwarded.
 */
interface Outstanding {
  readonly type: string;
  readonly ours: boolean;
  /** The statement that is prepared if this succeeds. */
  readonly statement?: string;
}

/** A session of the real server. */
class ServerSession {
  readonly socket: Socket;
  readonly prepared = new Set<string>();
  outstanding: Outstanding[] = [];
  client: PooledClient | undefined;
  /** ParameterStatus messages of its start. */
  readonly greeting: Message[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
  }

  send(bytes: Message, request?: Outstanding): void {
    if (request !== undefined) this.outstanding.push(request);
    this.socket.write(bytes);
  }

  /**
   * Matches a message of the server with the request it responds to; returns whether to forward it.
   */
  settle(type: string): boolean {
    if (type === 'E') {
      const sync = this.outstanding.findIndex((each) => each.type === 'S' || each.type === 'Q');
      const skipped = this.outstanding.splice(0, sync < 0 ? this.outstanding.length : sync);
      for (const { statement } of skipped) if (statement !== undefined) this.prepared.delete(statement);
      return true;
    }
    const responseTypes: Partial<Record<string, readonly string[]>> = {
      1: ['P'],
      2: ['B'],
      3: ['C'],
      T: ['D'],
      n: ['D'],
      C: ['E'],
      s: ['E'],
      I: ['E'],
      Z: ['S', 'Q'],
    };
    const [first] = this.outstanding;
    // rows, notices, parts of a simple query
    if (first === undefined || !(responseTypes[type] ?? []).includes(first.type)) return true;
    this.outstanding.shift();
    return !first.ours;
  }
}

/** The sessions of one user and database; the one that was idle longest is used next. */
class SessionPool {
  readonly #place: { host: string; port: number };
  readonly #startup: Buffer;
  readonly #sessions = new Set<ServerSession>();
  readonly #idle: ServerSession[] = [];
  readonly #waiting: { use: (session: ServerSession) => void; refuse: (error: Message) => void }[] = [];
  #opening = 0;

  constructor(host: string, port: number, parameters: Readonly<Record<string, string>>) {
    this.#place = { host, port };
    const words = Object.entries({ ...parameters, client_encoding: 'UTF8' }).flat();
    const body = Buffer.concat([int32(196_608), Buffer.from(`${words.join('\0')}\0\0`)]);
    this.#startup = Buffer.concat([int32(body.length + 4), body]);
  }

  take(use: (session: ServerSession) => void, refuse: (error: Message) => void): void {
    this.#waiting.push({ use, refuse });
    const wanted = this.#waiting.length + idleMin - this.#idle.length - this.#opening;
    if (wanted > 0 && this.#sessions.size + this.#opening < sessionsMax) this.#open();
    this.#serve();
  }

  give(session: ServerSession): void {
    session.client = undefined;
    this.#idle.push(session);
    this.#serve();
  }

  close(): void {
    for (const { socket } of this.#sessions) socket.destroy();
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0 && (this.#idle.length >= idleMin || this.#opening === 0))
      this.#waiting.shift()?.use(this.#idle.shift() as ServerSession);
  }

  #open(): void {
    this.#opening += 1;
    const socket = connect(this.#place, () => socket.write(this.#startup)).setNoDelay();
    const session = new ServerSession(socket);
    let ready = false;
    messagesOf(
      socket,
      () => false,
      (message) => {
        const type = typeOf(message);
        if (ready) {
          if (session.settle(type)) session.client?.receive(message, type);
          return;
        }
        if (type === 'S') session.greeting.push(Buffer.from(message));
        if (type === 'E') this.#waiting.shift()?.refuse(message);
        if (type !== 'Z') return;
        ready = true;
        this.#opening -= 1;
        this.#sessions.add(session);
        this.give(session);
      },
    );
    socket.on('close', () => {
      if (!ready) this.#opening -= 1;
      this.#sessions.delete(session);
      const index = this.#idle.indexOf(session);
      if (index >= 0) this.#idle.splice(index, 1);
      session.client?.end();
    });
  }
}

let clientsMade = 0;

/** A client of the pooler, linked to a server session for the length of a transaction. */
class PooledClient {
  readonly #socket: Socket;
  readonly #id = ++clientsMade;
  readonly #poolFor: (startup: Buffer) => SessionPool;
  readonly #keepsStatements: boolean;
  readonly #statements = new Map<string, Message>();
  #pool: SessionPool | undefined;
  #session: ServerSession | undefined;
  #isWaiting = false;
  readonly #held: Message[] = [];

  constructor(socket: Socket, poolFor: (startup: Buffer) => SessionPool, keepsStatements: boolean) {
    this.#socket = socket;
    this.#poolFor = poolFor;
    this.#keepsStatements = keepsStatements;
    messagesOf(
      socket,
      () => this.#pool === undefined,
      (each) => (this.#pool === undefined ? this.#start(each) : this.#handle(each)),
    );
    socket.on('close', () => this.#leave());
  }

  /** Forwards a message of the server, and releases the session at the end of a transaction. */
  receive(message: Message, type: string): void {
    this.#socket.write(message);
    const session = this.#session;
    if (type !== 'Z' || message[5] !== 'I'.charCodeAt(0) || session === undefined || session.outstanding.length > 0)
      return;
    this.#session = undefined;
    this.#pool?.give(session);
    if (this.#held.length > 0) this.#link();
  }

  end(): void {
    this.#session = undefined;
    this.#socket.destroy();
  }

  #start(startup: Message): void {
    if (startup.readInt32BE(4) === 80_877_103) {
      this.#socket.write('N'); // no TLS
      return;
    }
    const pool = this.#poolFor(startup);
    this.#pool = pool;
    this.#isWaiting = true;
    pool.take(
      (session) => {
        this.#isWaiting = false;
        const processId = 1_000_000 + this.#id;
        this.#socket.write(
          Buffer.concat([
            toMessage('R', int32(0)),
            ...session.greeting,
            toMessage('K', int32(processId, 0)),
            toMessage('Z', Buffer.from('I')),
          ]),
        );
        pool.give(session);
        if (this.#held.length > 0) this.#link();
      },
      (error) => this.#socket.end(error),
    );
  }

  #handle(request: Message): void {
    if (typeOf(request) === 'X') this.#socket.end();
    else if (this.#session !== undefined && this.#held.length === 0) this.#forward(this.#session, request);
    else {
      this.#held.push(Buffer.from(request));
      this.#link();
    }
  }

  #link(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#pool?.take(
      (session) => {
        this.#isWaiting = false;
        if (this.#socket.destroyed) {
          this.#pool?.give(session);
          return;
        }
        this.#session = session;
        session.client = this;
        for (const request of this.#held.splice(0)) this.#forward(session, request);
      },
      (error) => this.#socket.end(error),
    );
  }

  #leave(): void {
    this.#session?.socket.destroy(); // in the middle of a transaction
    this.#session = undefined;
  }

  #forward(session: ServerSession, request: Message): void {
    const type = typeOf(request);
    const named = this.#keepsStatements ? this.#statementOf(type, request) : undefined;
    if (named === undefined || named.name === '') {
      session.send(request, 'PBDCEQS'.includes(type) ? { type, ours: false } : undefined);
      return;
    }
    const { name, before, end } = named;
    const own = `pooled_${this.#id}_${name}`;
    const renamed = toMessage(type, before, own, request.subarray(end));
    const isKnown = this.#statements.has(name);
    if ((type === 'P') === isKnown) {
      this.#socket.destroy(); // prepared twice, or never
      return;
    }
    if (type === 'P') {
      this.#statements.set(name, renamed);
      session.prepared.add(own);
      session.send(renamed, { type, ours: false, statement: own });
      return;
    }
    if (!session.prepared.has(own)) {
      session.prepared.add(own);
      session.send(this.#statements.get(name) as Message, { type: 'P', ours: true, statement: own });
    }
    session.send(renamed, { type, ours: false });
  }

  /** The statement name in a message, the bytes before it, and the offset after it. */
  #statementOf(type: string, request: Message): { name: string; before: Buffer; end: number } | undefined {
    const at = (start: number) => {
      const { text, end } = textAt(request, start);
      return { name: text, before: request.subarray(5, start), end };
    };
    if (type === 'P') return at(5);
    if (type === 'B') return at(textAt(request, 5).end);
    if (type === 'D' && request[5] === 'S'.charCodeAt(0)) return at(6);
    return undefined;
  }
}
