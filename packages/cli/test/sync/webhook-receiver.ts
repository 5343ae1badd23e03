import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
export interface Received {
  readonly headers: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> &
    IncomingHttpHeaders;
  readonly body: string;
  readonly event: { id: string; type: string; subject?: string; data: Record<string, unknown> };
}

/** An endpoint of webhooks on this machine. */
export interface Receiver {
  readonly to: string;
  readonly received: Received[];
  /** How it responds from now on; by default with 204. */
  respond: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const one = { headers: request.headers, body, event: JSON.parse(body) } as Received;
      received.push(one);
      receiver.respond(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    to: `webhook:http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?key=hidden`,
    received,
    respond: (response) => response.writeHead(204).end(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}
