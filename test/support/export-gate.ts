import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Transform } from 'node:stream';

/** A proxy on loopback that can hold or cut exports; it forwards everything else. */
export interface ExportGate {
  readonly url: string;
  /** What happens to the following exports after half of their body. */
  mode: 'open' | 'hold' | 'cut';
  /** Resolves once the browser has closed the connection of an export that is held. */
  untilAbandoned(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a gate before a service; `exportBytes` is the size of an export. */
export async function startExportGate(service: string, exportBytes: number): Promise<ExportGate> {
  const abandoned = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const { method, headers, url: path } = request;
    const isExport = /[?&]all=true/.test(path ?? '') && gate.mode !== 'open';
    // a compressed body would be cut at an unknown place
    const sent = isExport ? { ...headers, 'accept-encoding': 'identity' } : headers;
    const forwarded = httpRequest(service + path, { method: method ?? 'GET', headers: sent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (isExport) response.on('close', () => abandoned.resolve());
      const cut = (): void => void (gate.mode === 'cut' && response.destroy());
      answer.pipe(isExport ? halted(exportBytes / 2, cut) : new PassThrough()).pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate: ExportGate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'open',
    untilAbandoned: () => abandoned.promise,
    close: () => closeServer(server),
  };
  return gate;
}

/** Passes a number of bytes on, calls `onHalt` and then passes nothing. */
function halted(bytes: number, onHalt: () => void): Transform {
  let left = bytes;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      const passed = part.subarray(0, left);
      left -= passed.length;
      if (left > 0) return done(null, passed);
      this.push(passed);
      setImmediate(onHalt);
    },
  });
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await once(server.close(), 'close');
}
