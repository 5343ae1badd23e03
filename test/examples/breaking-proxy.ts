import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Forwards the requests of a client to a service, but breaks off exports in the middle. */
export async function startBreakingProxy(target: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { authorization = '', 'content-type': type = 'text/plain', prefer = '' } = request.headers;
    const upstream = await fetch(`${target}${request.url}`, {
      headers: { authorization, 'content-type': type, prefer: String(prefer) },
      ...(request.method === 'POST' && { method: 'POST', body: await text(request) }),
    });
    const bytes = Buffer.from(await upstream.arrayBuffer());
    const applied = upstream.headers.get('preference-applied') ?? '';
    response.writeHead(upstream.status, { 'content-type': 'application/json', 'preference-applied': applied });
    if (applied === '') response.end(bytes);
    else response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
