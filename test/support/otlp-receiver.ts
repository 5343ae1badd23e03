import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as OTLP/JSON describes it. */
export interface ReceivedSpan {
  readonly name: string;
  /** 1 is internal, 2 a server's, 3 a client's. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  /** A `code` of 2 is an error. */
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** Spans, and the resource that sent them. */
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: Pick<ReceivedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** A collector that accepts spans by OTLP over HTTP, in JSON. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Attributes of the resources, one for each request. */
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly headers: readonly NodeJS.Dict<string | string[]>[];
  /** Everything that was received. */
  readonly text: string;
  close(): Promise<void>;
}

/** Starts a collector on a loopback port, which responds with `status`. */
export async function startOtlpReceiver(status = 200): Promise<OtlpReceiver> {
  const received: { body: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ body: await text(request), headers: { ...request.headers, path: request.url } });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bodies = () => received.flatMap(({ body }) => (JSON.parse(body) as OtlpBody).resourceSpans);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get spans() {
      return bodies().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    },
    get resources() {
      return bodies().map(({ resource }) => attributesOf(resource));
    },
    get headers() {
      return received.map(({ headers }) => headers);
    },
    get text() {
      return received.map(({ body }) => body).join('\n');
    },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** The attributes of a span or a resource by name. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
