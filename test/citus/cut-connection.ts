import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where a connection is cut: before a statement arrives, or its response. */
export type CutPoint = 'before' | 'reply';

/** A way to a server of PostgreSQL that can be cut. */
export interface CutConnection {
  readonly port: number;
  /** Cuts the next connection that sends this statement, alone or with a quoted value. */
  cutAt(statement: string, point: CutPoint): void;
  /** Whether it was cut; if it was not, it no longer will be. */
  wasCut(): boolean;
  close(): void;
}

/** Opens a way to the server of a URL. */
export async function openCutConnection(url: string): Promise<CutConnection> {
  const { hostname, port } = new URL(url);
  let armed: { readonly forms: readonly string[]; readonly point: CutPoint } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    let isCut = false;
    const end = (): void => {
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes: Buffer) => {
      if (armed?.forms.some((form) => bytes.includes(form)) !== true) return void target.write(bytes);
      isCut = true;
      if (armed.point === 'reply') target.write(bytes);
      else end();
      armed = undefined;
    });
    target.on('data', (bytes: Buffer) => (isCut ? end() : client.write(bytes)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cutAt(statement, point) {
      // as text, or by the name under which the service has prepared it
      armed = { forms: [`${statement}\0`, `${statement} '`, hash('sha256', statement, 'base64url')], point };
    },
    wasCut() {
      const was = armed === undefined;
      armed = undefined;
      return was;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
