import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Subscription } from '../../../contract/subscription.ts';

/** A request to the server below. `query` is not decoded. */
export interface ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly form: URLSearchParams;
}

/** Its response. A `body` replaces the JSON. */
export interface ServerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
  readonly body?: string | Uint8Array;
}

/** Wraps the correct behavior: changes a request before it, or a response after it. */
export interface Behavior {
  readonly request?: (request: ServerRequest) => ServerRequest;
  readonly response?: (response: ServerResponse, request: ServerRequest) => ServerResponse;
}

/** What the specification leaves open. */
export interface Variant {
  readonly firstPage: 0 | 1;
  readonly afterLastPage: 'empty' | 'last page' | 'rejected';
  readonly sizeMax: number;
  readonly rejectsLargerSize: boolean;
  readonly sendsHeaders: boolean;
}

export const ordinary: Variant = {
  firstPage: 1,
  afterLastPage: 'empty',
  sizeMax: 1000,
  rejectsLargerSize: true,
  sendsHeaders: true,
};

export const credentials = { clientId: 'acme-reporting', clientSecret: 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe' };

const json = { 'content-type': 'application/json' };
const reject = (status: number, body: unknown, headers: Record<string, string> = {}): ServerResponse => ({
  status,
  headers: { ...json, ...headers },
  json: body,
});

/**
 * A server of the published API over a list of records, written from docs/contributors/spec.md
 * alone.
 */
export class ConnectServer {
  behavior: Behavior = {};
  variant: Variant = ordinary;
  records: readonly Subscription[];
  #issued = 0;
  readonly #server = createServer((incoming, outgoing) => {
    void this.#serve(incoming).then(({ status, headers, json: value, body }) => {
      outgoing.writeHead(status, headers).end(body ?? JSON.stringify(value));
    });
  });

  constructor(records: readonly Subscription[]) {
    this.records = records;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get target() {
    return { baseUrl: `${this.url}/connect-api`, tokenUrl: `${this.url}/token`, ...credentials };
  }

  async #serve(incoming: IncomingMessage): Promise<ServerResponse> {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const [path = '', query = ''] = (incoming.url ?? '').split('?');
    const headers = incoming.headers as Record<string, string>;
    const received = { method: incoming.method ?? '', path, query, headers, form: new URLSearchParams(text) };
    const request = this.behavior.request?.(received) ?? received;
    const response = request.path === '/token' ? this.#token(request) : this.#report(request);
    return this.behavior.response?.(response, request) ?? response;
  }

  #token({ form, headers }: ServerRequest): ServerResponse {
    const [grant, id, secret] = ['grant_type', 'client_id', 'client_secret'].map((name) => form.get(name));
    if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
      return reject(415, { error: 'invalid_request' });
    if (id !== credentials.clientId || secret !== credentials.clientSecret)
      return reject(401, { error: 'invalid_client' });
    if (grant === null) return reject(400, { error: 'invalid_request' });
    if (grant !== 'client_credentials' && grant !== 'refresh_token')
      return reject(400, { error: 'unsupported_grant_type' });
    const isKnown = /^refresh-\d+$/.test(form.get('refresh_token') ?? '');
    if (grant === 'refresh_token' && !isKnown) return reject(400, { error: 'invalid_grant' });
    this.#issued += 1;
    const tokens = { access_token: `access-${this.#issued}`, refresh_token: `refresh-${this.#issued}` };
    return {
      status: 200,
      headers: { ...json, 'cache-control': 'no-store' },
      json: { ...tokens, token_type: 'Bearer', expires_in: 300, refresh_expires_in: 1800 },
    };
  }

  #report({ path, query, headers }: ServerRequest): ServerResponse {
    if (!/^Bearer access-\d+$/.test(headers.authorization ?? ''))
      return reject(401, { type: 'UNAUTHORISED', messages: ['no token'] }, { 'www-authenticate': 'Bearer' });
    if (path !== '/connect-api/v1/subscription') return reject(404, { type: 'NOT_FOUND', messages: ['no such path'] });
    const parameters = new URLSearchParams(query);
    const { firstPage, sizeMax, rejectsLargerSize, afterLastPage } = this.variant;
    const [wanted, number] = [integer(parameters, 'size', 20), integer(parameters, 'page', firstPage)];
    const isValid = wanted >= 1 && number >= firstPage && !(rejectsLargerSize && wanted > sizeMax);
    if (!isValid) return reject(400, { type: 'INVALID_REQUEST_PARAMS', messages: ['a parameter is not valid'] });
    const size = Math.min(wanted, sizeMax);
    const pages = Math.ceil(this.records.length / size);
    const isPast = number - firstPage >= pages;
    if (isPast && afterLastPage === 'rejected' && pages > 0)
      return reject(404, { type: 'NOT_FOUND', messages: ['no page'] });
    const at = isPast && afterLastPage === 'last page' ? Math.max(pages - 1, 0) : number - firstPage;
    parameters.set('page', String(number + 1));
    const next = `${this.url}${path}?${parameters}`;
    const paging = {
      ...(at + 1 < pages && { 'x-next-page': next }),
      'x-total-count': String(this.records.length),
      'x-total-pages': String(pages),
      'x-current-page': String(number),
      'x-count-per-page': String(size),
    };
    return {
      status: 200,
      headers: { ...json, ...(this.variant.sendsHeaders && paging) },
      json: this.records.slice(at * size, (at + 1) * size),
    };
  }
}

/** An integer parameter; `NaN` if it is malformed. */
function integer(parameters: URLSearchParams, name: string, fallback: number): number {
  const text = parameters.get(name);
  if (text === null) return fallback;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
