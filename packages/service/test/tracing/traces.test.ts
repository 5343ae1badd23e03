import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  const responses: Partial<Record<keyof typeof traceIds | 'malformed', string | null>> = {};

  beforeAll(async () => {
    const unregister = registerSpans();
    const port = await freePort();
    service = await startService(await openTestStore(), { MANAGEMENT_PORT: String(port) });
    const tenant = await service.createTenant('acme-hushed');
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', email: 'hushed@example.com' })]);
    const client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
    const token = await service.accessToken(client);
    const get = async (name: keyof typeof responses, target: string, traceparent: string) => {
      const response = await service.get(target, token, { traceparent, tracestate: 'vendor=1' });
      await response.text();
      responses[name] = response.headers.get('traceresponse');
    };
    await get('page', path, sampled(traceIds.page));
    await get('malformed', path, '00-zz-1-01'); // and cached
    await get('unsampled', path, `00-${traceIds.unsampled}-${clientSpanId}-00`);
    await get('repeated', path, sampled(traceIds.repeated));
    await get('failed', '/v1/subscription?size=hushed', sampled(traceIds.failed));
    await get('export', '/v1/subscription?all=true&format=ndjson', sampled(traceIds.export));
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

  test('a page has spans for token check, parse, plan, run with its statements, format and send', () => {
    const tree = treeOf('page');
    const [server = ''] = Object.keys(tree);
    expect(server).toBe('GET /connect-api/v1/subscription');
    const { run = {}, 'check token': checked = {}, ...others } = tree[server] ?? {};
    expect(Object.keys(others).sort()).toEqual(['format', 'parse', 'plan', 'send']);
    expect(namesIn(run).join(' ')).toContain('subscription');
    expect(namesIn(checked).join(' ')).toContain('SELECT client');
  });

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

  test('a repeated request reads nothing, and has the trace of its own request', () => {
    const stages = { cache: {}, 'check token': {}, parse: {}, send: {} };
    expect(treeOf('repeated')).toEqual({ 'GET /connect-api/v1/subscription': stages });
    expect(responses.repeated).toMatch(new RegExp(`^00-${traceIds.repeated}-[0-9a-f]{16}-01$`));
  });

  test('a trace that its client does not sample is not recorded, but named in the response and the log', () => {
    expect(spansOf(traceIds.unsampled)).toEqual([]);
    expect(responses.unsampled).toMatch(new RegExp(`^00-${traceIds.unsampled}-[0-9a-f]{16}-00$`));
    expect(service.log.filter((line) => line.trace_id === traceIds.unsampled)).toHaveLength(1);
  });

  test('a malformed traceparent begins a new trace', () => {
    const [, traceId = ''] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(responses.malformed ?? '') ?? [];
    const [server] = spansOf(traceId).filter(({ kind }) => kind === SpanKind.SERVER);
    expect(server?.parentSpanId ?? '').toBe('');
  });

  test('each log line of a request has the ids of its server span', () => {
    for (const name of ['page', 'repeated', 'token', 'load'] as const) {
      const server = spansOf(traceIds[name]).find(({ kind }) => kind === SpanKind.SERVER);
      const lines = service.log.filter((line) => line.trace_id === traceIds[name]);
      expect(lines.map(({ span_id: id }) => id)).toEqual([server?.spanId]);
    }
  });

  test('a rejected query ends its span with an error code, without the message', () => {
    const parse = spansOf(traceIds.failed).find(({ name }) => name === 'parse');
    expect(parse?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(parse?.attributes['error.type']).toBe('INVALID_REQUEST_PARAMS');
    const server = spansOf(traceIds.failed).find(({ kind }) => kind === SpanKind.SERVER);
    expect(server?.status.code).toBe(SpanStatusCode.UNSET);
  });

  test('an export has one span for the statement that streams its records', () => {
    const tree = treeOf('export')['GET /connect-api/v1/subscription'] ?? {};
    expect(Object.keys(tree)).toEqual(expect.arrayContaining(['plan', 'open snapshot', 'count', 'send']));
    expect(namesIn(tree)).toContain('SELECT subscription');
  });

  test('the token endpoint has spans for the client and the token, although its body is read between', () => {
    const tree = treeOf('token')['POST /oauth2/token'] ?? {};
    expect(Object.keys(tree)).toEqual(expect.arrayContaining(['authenticate client', 'issue token']));
    expect(namesIn(tree['authenticate client'] ?? {}).join(' ')).toContain('client');
  });

  test('a load has a span for each batch', () => {
    const tree = treeOf('load');
    const [batch = {}] = Object.values(tree).map((below) => below['load batch']);
    expect(Object.keys(batch).length).toBeGreaterThan(0);
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

describe('without an SDK', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openSqlite());
  });
  afterAll(() => service.close());

  const headerOf = async (traceparent?: string) => {
    const response = await fetch(`${service.url}/healthz`, {
      headers: traceparent === undefined ? {} : { traceparent },
    });
    return response.headers.get('traceresponse');
  };

  test('the log lines and the response of a request have the trace that its client sent', async () => {
    const traceId = hexOf('b');
    expect(await headerOf(sampled(traceId))).toBe(sampled(traceId));
    const lines = service.log.filter(({ trace_id: logged }) => logged === traceId);
    expect(lines.map(({ span_id: id }) => id)).toEqual([clientSpanId]);
  });

  test('a request without a valid traceparent has no trace', async () => {
    expect(await headerOf()).toBeNull();
    expect(await headerOf(`00-${hexOf('0')}-${clientSpanId}-01`)).toBeNull();
    expect(service.log.filter((line) => 'trace_id' in line && line.trace_id !== hexOf('b'))).toEqual([]);
  });
});
