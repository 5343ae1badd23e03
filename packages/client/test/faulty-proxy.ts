import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/** A request as the proxy received it. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * What happens to a request: `reset` closes the connection instead of sending the request on,
 * `lose` closes it when the service has responded, `hang` never responds, `stall` sends the headers
 * and half of the body, `cut` closes the connection at the half; `endless` repeats a text for ever.
 */
export type Fault =
  | 'reset'
  | 'lose'
  | 'hang'
  | 'stall'
  | 'cut'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly endless: string; readonly status?: number; readonly headers?: Record<string, string> }
  | { readonly edit: (body: Buffer, headers: Record<string, unknown>) => Buffer }
  | Promise<unknown>;

/** A proxy between a client and a service, over real sockets. */
export interface FaultyProxy {
  readonly url: string;
  readonly requests: ProxiedRequest[];
  close(): Promise<void>;
}

/** Starts a proxy; `choose` returns the fault of a request, or `undefined` to pass it on. */
export async function startFaultyProxy(
  target: string,
  choose: (request: ProxiedRequest) => Fault | undefined,
): Promise<FaultyProxy> {
  const requests: ProxiedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const received = { method, path, headers, body: (await buffer(incoming)).toString() };
    requests.push(received);
    const fault = choose(received);
    if (fault === 'hang') return;
    if (fault === 'reset') return void incoming.socket.destroy();
    if (typeof fault === 'object' && 'endless' in fault) {
      outgoing.writeHead(fault.status ?? 200, fault.headers);
      const chunks = Readable.from(repeat(fault.endless));
      return void pipeline(chunks, outgoing, () => undefined); // until the client disconnects
    }
    if (typeof fault === 'object' && 'status' in fault) {
      outgoing.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    if (fault instanceof Promise) await fault;
    await passOn(target, received, outgoing, fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function* repeat(text: string): Generator<string> {
  for (;;) yield text.repeat(Math.ceil(65_536 / text.length));
}

async function passOn(target: string, received: ProxiedRequest, outgoing: ServerResponse, fault: Fault | undefined) {
  const { method, path, body } = received;
  const headers = { ...received.headers, 'accept-encoding': 'identity' };
  const upstream = request(target + path, { method, headers, agent: false });
  upstream.end(body);
  const [response] = (await once(upstream, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const { 'content-length': _length, 'transfer-encoding': _coding, trailer: _trailer, ...kept } = response.headers;
  if (fault === 'lose') return void outgoing.socket?.destroy();
  const edited = typeof fault === 'object' && 'edit' in fault ? fault.edit(bytes, kept) : bytes;
  outgoing.writeHead(response.statusCode ?? 502, kept);
  if (fault !== 'cut' && fault !== 'stall') return void outgoing.end(edited);
  outgoing.write(bytes.subarray(0, bytes.length / 2));
  if (fault === 'cut') setImmediate(() => outgoing.socket?.destroy());
}
