import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openSqlite } from '../../../../test/support/engines.ts';
import { type EndedSpan, endedSpans, registerSpans } from '../../../../test/support/register-spans.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, startWorkers, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';

const drawn = drawOne(engines, import.meta.url);

const clientSpanId = 'b7ad6b7169203331';
const hexOf = (digit: string): string => digit.repeat(32);
const sampled = (traceId: string): string => `00-${traceId}-${clientSpanId}-01`;

/** What each request sends as its trace. */
const traceIds = {
  page: hexOf('1'),
  repeated: hexOf('2'),
  unsampled: hexOf('3'),
  token: hexOf('4'),
  export: hexOf('5'),
  load: hexOf('6'),
  failed: hexOf('7'),
};

/** The names of the spans below a span, and below each of them. */
interface SpanTree {
  readonly [name: string]: SpanTree;
}

function treeBelow(spans: readonly EndedSpan[], parent: string): SpanTree {
  const children = spans.filter(({ parentSpanId }) => parentSpanId === parent);
  return Object.fromEntries(children.map(({ name, spanId }) => [name, treeBelow(spans, spanId)]));
}

/** The names of all spans below a span. */
const namesIn = (tree: SpanTree): string[] =>
  Object.entries(tree).flatMap(([name, below]) => [name, ...namesIn(below)]);

const path = '/v1/subscription?email=hushed%40example.com&size=10';

describe.each(drawn)('traces of a service on $engine', ({ engine, openTestStore }) => {
  let service: TestService;

  beforeAll(async () => {
    const unregister = registerSpans();
    const port = await freePort();
    service = await startService(await openTestStore(), { MANAGEMENT_PORT: String(port) });
    const tenant = await service.createTenant('acme-hushed');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', email: 'hushed@example.com' })]);
    const client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
    const token = await service.accessToken(client);
    const get = async (target: string, traceparent: string, more = {}) =>
      (await service.get(target, token, { traceparent, tracestate: 'vendor=1', ...more })).text();
    await get(path, sampled(traceIds.page));
    await get(path, '00-zz-1-01', { 'x-correlation-id': 'malformed' });
    await get(path, `00-${traceIds.unsampled}-${clientSpanId}-00`);
    await get(path, sampled(traceIds.repeated));
    await get('/v1/subscription?size=hushed', sampled(traceIds.failed));
    await get('/v1/subscription?all=true&format=ndjson', sampled(traceIds.export));
    const { client_id: id, client_secret: secret } = client;
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
    await (await service.postToken(form, { traceparent: sampled(traceIds.token) })).text();
    const loaded = await fetch(`http://127.0.0.1:${port}/operator/v1/tenants/acme-hushed/subscriptions`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        traceparent: sampled(traceIds.load),
      },
      body: `${JSON.stringify({ id: 'b' })}\n`,
    });
    await loaded.text();
    await service.close(); // which ends the spans of connections
    unregister();
  });

  const spansOf = (traceId: string) => endedSpans.filter((span) => span.traceId === traceId);
  const treeOf = (name: keyof typeof traceIds) => treeBelow(spansOf(traceIds[name]), clientSpanId);

  test.each(['page', 'export', 'token', 'load'] as const)(
    'a request (%s) has its statements below its span',
    (name) => {
      const [server = '', ...others] = Object.keys(treeOf(name));
      expect(others).toEqual([]);
      expect(namesIn(treeOf(name)[server] ?? {}).join(' ')).toMatch(/SELECT (?:client|subscription|operator_token)/);
    },
  );

  test('the server span follows the semantic conventions of HTTP, and statements those of databases', () => {
    const spans = spansOf(traceIds.page);
    const server = spans.find(({ kind }) => kind === SpanKind.SERVER);
    expect(server?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/connect-api/v1/subscription',
      'network.protocol.version': '1.1',
      'url.scheme': 'http',
    });
    expect(server?.traceState).toBe('vendor=1');
    const statements = spans.filter(({ kind }) => kind === SpanKind.CLIENT).map(({ attributes }) => attributes);
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) {
      expect(statement['db.system.name']).toBe(engine === 'postgres' ? 'postgresql' : 'sqlite');
      expect(statement['db.query.text']).toMatch(/select/i);
    }
  });

  test('no span contains a value of a query, a tenant, a client, a token or an id', () => {
    const words = ['hushed', 'example.com', 'acme', 'Bearer', '8944500102198304826'];
    expect(words.filter((word) => JSON.stringify(endedSpans).includes(word))).toEqual([]);
  });

  test('a repeated request has the trace of its own request', () => {
    expect(namesIn(treeOf('repeated'))).toContain('GET /connect-api/v1/subscription');
  });

  test('a trace that its client does not sample is not recorded, but named in the log', () => {
    expect(spansOf(traceIds.unsampled)).toEqual([]);
    expect(service.log.filter((line) => line.trace_id === traceIds.unsampled)).toHaveLength(1);
  });

  test('a malformed traceparent begins a new trace', () => {
    const line = service.log.find(({ correlation_id: id }) => id === 'malformed');
    const [server] = spansOf(String(line?.trace_id)).filter(({ kind }) => kind === SpanKind.SERVER);
    expect(server?.spanId).toBe(line?.span_id);
    expect(server?.parentSpanId ?? '').toBe('');
  });

  test('each log line of a request has the ids of its server span', () => {
    for (const name of ['page', 'repeated', 'token', 'load'] as const) {
      const server = spansOf(traceIds[name]).find(({ kind }) => kind === SpanKind.SERVER);
      const lines = service.log.filter((line) => line.trace_id === traceIds[name]);
      expect(lines.map(({ span_id: id }) => id)).toEqual([server?.spanId]);
    }
  });

  test('a rejected query is no error of the service', () => {
    const server = spansOf(traceIds.failed).find(({ kind }) => kind === SpanKind.SERVER);
    expect(server?.attributes['http.response.status_code']).toBe(400);
    expect(server?.status.code).toBe(SpanStatusCode.UNSET);
  });
});

test('with --workers, an SDK that NODE_OPTIONS imports records the spans of each process', async () => {
  const file = join(tmpdir(), `subreport-spans-${process.pid}`);
  const register = new URL('../../../../test/support/register-spans.ts', import.meta.url);
  const service = await startWorkers(await openSqlite(), {
    NODE_OPTIONS: `--import ${register}`,
    SPANS_FILE: file,
  });
  const traceId = hexOf('a');
  await (await fetch(`${service.url}/readyz`, { headers: { traceparent: sampled(traceId) } })).text();
  await service.close();
  const spans = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(traceId))
    .map((line): EndedSpan => JSON.parse(line));
  rmSync(file);
  expect(Object.keys(treeBelow(spans, clientSpanId)['GET /readyz'] ?? {})).toContain('SELECT schema_migration');
  const line = service.log.find(({ trace_id: logged }) => logged === traceId);
  expect(line?.span_id).toBe(spans.find(({ kind }) => kind === SpanKind.SERVER)?.spanId);
});

test('without an SDK, a log line has no trace', async () => {
  const service = await startService(await openSqlite());
  await (await fetch(`${service.url}/healthz`, { headers: { traceparent: sampled(hexOf('b')) } })).text();
  await service.close();
  expect(service.log.filter((line) => 'trace_id' in line)).toEqual([]);
});
