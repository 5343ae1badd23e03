import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { operations } from '../../../contract/operations.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { reportFormats } from '../../../contract/report.ts';
import { generateOperatorToken, hashOperatorToken } from '../../auth/verify/authorize-operator.ts';
import { insertOperatorToken } from '../../storage/tables/operator-token.ts';

/** A response over HTTP/1.0. */
interface OldResponse {
  readonly head: string;
  readonly body: Buffer;
}

/** Sends a request over HTTP/1.0 and reads until the service closes the connection. */
async function sendOld(
  origin: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<OldResponse> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const fields = { host: hostname, ...(body !== '' && { 'content-length': String(body.length) }), ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.0\r\n${lines.join('')}\r\n${body}`);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf('\r\n\r\n');
  return { head: bytes.toString('latin1', 0, end), body: bytes.subarray(end + 4) };
}

const summaryAtEnd = /\{"summary":\{"rows":\d+,"sha256":"[0-9a-f]{64}"\}\}\n$/;

/** How a client knows that it has all of a response. */
function endOf({ head, body }: OldResponse): 'length' | 'summary line' | 'none' {
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length !== undefined) return Number(length) === body.length ? 'length' : 'none';
  if (/^HTTP\/1\.1 (204|304)/.test(head)) return 'length';
  return summaryAtEnd.test(body.toString('latin1')) ? 'summary line' : 'none';
}

// How a response is sent does not depend on the engine.
describe('over HTTP/1.0', () => {
  let service: TestService;
  let management: string;
  let token: string;
  let operator: string;
  const report = operations.listSubscriptions.path;
  const read = (query: string, headers = {}, method = 'GET') =>
    sendOld(service.url, method, `${report}${query}`, { authorization: `Bearer ${token}`, ...headers });

  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(await engines[0].openTestStore(), { MANAGEMENT_PORT: String(port) });
    const tenant = await service.createTenant('acme');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'one' }), subscriptionRow({ id: 'two' })]);
    token = await service.accessToken(await service.createClient(tenant));
    operator = generateOperatorToken();
    const scopes = ['operator:write'];
    const row = { id: 'op-1', name: 'test', scopes, createdAt: 0, expiresAt: null };
    await insertOperatorToken(service.store, row, hashOperatorToken(operator));
  });
  afterAll(() => service.close());

  test('every response of both listeners has a length, except whole reports that end with their summary line', async () => {
    const formats = Object.keys(reportFormats);
    const queries = ['', '?format=ndjson', ...formats.map((format) => `?all=true&format=${format}`)];
    const bodies = ['{}', ...formats.map((format) => JSON.stringify({ all: true, format }))];
    const listeners = [
      { origin: service.url, table: operations, bearer: token },
      { origin: management, table: operatorOperations, bearer: operator },
    ];
    const endless: string[] = [];
    const withSummaryLine = new Set<string>();
    let accepted = 0;
    for (const { origin, table, bearer } of listeners) {
      const pages = ['/', '/docs', '/console'].map((path) => [path, { method: 'GET', path }] as const);
      for (const [name, { method, path }] of [...Object.entries(table), ...pages]) {
        // what a request changes does not exist
        const existing = method === 'GET' ? path.replace('{tenant}', 'acme').replace('{id}', 'one') : path;
        const url = existing.replaceAll(/\{\w+\}/g, 'x');
        const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
        const requests = method === 'GET' ? queries.map((query) => [query, '']) : bodies.map((body) => ['', body]);
        for (const [query, body] of requests) {
          const response = await sendOld(origin, method, `${url}${query}`, headers, body);
          if (/^HTTP\/1\.1 200/.test(response.head)) accepted += 1;
          const end = endOf(response);
          if (end === 'none') endless.push(`${name}${query}${body}: ${response.head.split('\r\n', 1)}`);
          if (end === 'summary line') withSummaryLine.add(name);
        }
      }
    }
    expect(endless).toEqual([]);
    expect([...withSummaryLine]).toEqual(['listSubscriptions', 'searchSubscriptions']);
    expect(accepted).toBeGreaterThan(30);
  });

  test.each(['csv', 'parquet'])('a whole report as %s is rejected before its first byte', async (format) => {
    for (const response of [
      await read(`?all=true&format=${format}`),
      await read(`?all=true&format=${format}`, {}, 'HEAD'),
      await sendOld(
        service.url,
        'POST',
        operations.searchSubscriptions.path,
        { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        JSON.stringify({ all: true, format }),
      ),
    ]) {
      expect(response.head).toMatch(/^HTTP\/1\.1 406 /);
      if (response.body.length === 0) continue; // HEAD
      const { type, detail } = JSON.parse(response.body.toString());
      expect([type, detail]).toEqual(['UNACCEPTABLE', expect.stringContaining("'proxy_http_version 1.1'")]);
    }
    const proven = await read(`?all=true&format=${format}`, { prefer: 'export-summary' });
    expect([proven.head.split(' ')[1], endOf(proven)]).toEqual(['200', 'summary line']);
  });

  test('a proxy that says in Via that its client uses HTTP/1.0 gets the same response', async () => {
    const statusWith = async (via: string) => {
      const response = await service.get('/v1/subscription?all=true&format=csv', token, { via });
      await response.arrayBuffer();
      return [via, response.status];
    };
    for (const via of ['1.0 nginx', 'HTTP/1.0 nginx', '1.1 edge, 1.0 fred (old)', '1.1 a (, 1.0 b'])
      expect(await statusWith(via)).toEqual([via, 406]);
    for (const via of ['1.1 nginx', 'HTTP/2.0 caddy', '2 x1.0', '1.1 1.0.example', '1.1 a (not, 1.0 \\), 1.0 b)'])
      expect(await statusWith(via)).toEqual([via, 200]);
  });
});
