import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Where a connection is cut: before a statement arrives, or its response; `for good` also refuses
 * each later connection.
 */
export type CutPoint = 'before' | 'reply' | 'for good';

/** A way to a server of PostgreSQL that can be cut. */
export interface CutConnection {
  readonly port: number;
  /** The URL with the port of the way. */
  readonly url: string;
  /**
   * Cuts the next connection that sends this statement, alone or with a quoted value; with `after`,
   * only once a connection has sent that one.
   */
  cutAt(statement: string, point: CutPoint, after?: string): void;
  /** Whether it was cut; if it was not, it no longer will be. */
  wasCut(): boolean;
  close(): void;
}

/** Opens a way to the server of a URL. */
export async function openCutConnection(url: string): Promise<CutConnection> {
  const { hostname, port } = new URL(url);
  const way = new URL(url);
  // as text, or by the name under which the service has prepared it
  const formsOf = (statement: string) => [`${statement}\0`, `${statement} '`, hash('sha256', statement, 'base64url')];
  let armed: { after: string | undefined; readonly statement: string; readonly point: CutPoint } | undefined;
  let isAway = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    let isCut = isAway;
    const end = (): void => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes: Buffer) => {
      const sends = (statement: string) => formsOf(statement).some((form) => bytes.includes(form));
      if (armed?.after !== undefined && sends(armed.after)) armed.after = undefined;
      if (armed === undefined || armed.after !== undefined || !sends(armed.statement)) return void target.write(bytes);
      isCut = true;
      isAway = armed.point === 'for good';
      if (armed.point === 'before') end();
      else target.write(bytes);
      armed = undefined;
    });
    target.on('data', (bytes: Buffer) => (isCut ? end() : client.write(bytes)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  way.port = String((server.address() as AddressInfo).port);
  return {
    port: Number(way.port),
    url: way.href,
    cutAt(statement, point, after) {
      armed = { after, statement, point };
    },
    wasCut() {
      const was = armed === undefined;
      armed = undefined;
      isAway = false;
      return was;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
