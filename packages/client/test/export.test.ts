import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ClientOptions } from '../index.ts';
import { startSha256 } from '../sha256.ts';
import { type ClientService, rejectionOf, startClientService } from './client-service.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

let shared: ClientService;
let proxy: FaultyProxy | undefined;
beforeAll(async () => {
  shared = await startClientService();
});
afterEach(() => proxy?.close());
afterAll(() => shared.service.close());

/** A client behind a proxy that treats each export with a fault. */
async function clientWith(fault: Fault, options: Partial<ClientOptions> = {}) {
  const started = await startFaultyProxy(shared.service.url, ({ path }) =>
    path.startsWith('/connect-api') ? fault : undefined,
  );
  proxy = started;
  const urls = { baseUrl: `${started.url}/connect-api`, tokenUrl: `${started.url}/oauth2/token` };
  return shared.clientOf({ ...urls, ...options } as Partial<ClientOptions>);
}

/** The export as any client receives it. */
async function rawExport(query: string): Promise<string> {
  const token = await shared.service.accessToken(shared.credentials);
  return (await shared.service.get(`/v1/subscription?all=true&${query}`, token)).text();
}

test('a verified CSV export has the bytes of the report', async () => {
  const report = await shared.clientOf().export({ status: 'ACTIVE' }, { format: 'csv' });
  const expected = await rawExport('format=csv&status=ACTIVE');
  expect(report.totalCount).toBe(shared.rows.filter(({ status }) => status === 'ACTIVE').length);
  expect(await new Response(report).text()).toBe(expected);
});

test('a verified NDJSON export has the records without the summary line', async () => {
  const report = await shared.clientOf().export({}, { format: 'ndjson' });
  const lines = (await rawExport('format=ndjson')).split('\n');
  expect(lines.at(-2)).toContain('"summary"');
  expect(await new Response(report).text()).toBe(`${lines.slice(0, -2).join('\n')}\n`);
});

test('an empty export is verified too', async () => {
  const none = { 'device-id': 'nobody' };
  expect(await new Response(await shared.clientOf().export(none, { format: 'ndjson' })).text()).toBe('');
  const csv = await new Response(await shared.clientOf().export(none, { format: 'csv' })).text();
  expect(csv.split('\r\n')).toHaveLength(2);
});

test('without verification, the bytes are those of the response', async () => {
  const report = await shared.clientOf().export({}, { format: 'ndjson', verify: false });
  expect(await new Response(report).text()).toBe(await rawExport('format=ndjson'));
});

const edit = (change: (text: string) => string): Fault => ({ edit: (body) => Buffer.from(change(body.toString())) });
const dropRow = (text: string): string =>
  text.slice(0, text.indexOf('\n') + 1) + text.slice(text.indexOf('\n', 2_000) + 1);

/** Runtimes with and without a SHA-256 of their own. */
const runtimes = { 'Node.js': process.getBuiltinModule, 'a browser': () => undefined };

describe.each(Object.entries(runtimes))('in %s', (_name, getBuiltinModule) => {
  beforeEach(() => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(getBuiltinModule);
  });
  afterEach(() => vi.restoreAllMocks());

  test.each(['csv', 'ndjson'] as const)('a %s export that was cut off or altered fails at its end', async (format) => {
    const faults: [Fault, string][] = [
      ['cut', 'CONNECTION_LOST'],
      [edit((text) => text.slice(0, -1)), 'INCOMPLETE'],
      [edit((text) => text.slice(0, text.lastIndexOf('{"summary"'))), 'INCOMPLETE'],
      [edit(dropRow), 'ROWS_DIFFER'],
      [edit((text) => text.replace('device', 'Device')), 'HASH_DIFFERS'],
    ];
    for (const [fault, code] of faults) {
      const report = await (await clientWith(fault)).export({}, { format });
      const { correlationId } = report;
      expect(await rejectionOf(new Response(report).text())).toMatchObject({ code, correlationId });
      await proxy?.close();
    }
    proxy = undefined;
  });

  test.each([0, 1, 55, 56, 63, 64, 65, 1_000])('SHA-256 of %d bytes in parts is that of Web Crypto', async (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) & 255);
    const hash = startSha256();
    for (let from = 0; from < length; from += 7) hash.update(bytes.subarray(from, from + 7));
    const expected = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
    expect(hash.digest('hex')).toBe(expected);
  });
});

test('an export whose proof a proxy has removed is UNVERIFIABLE before its first byte', async () => {
  const client = await clientWith({
    edit: (body, headers) => {
      delete headers['preference-applied'];
      return body;
    },
  });
  expect(await rejectionOf(client.export({}, { format: 'csv' }))).toMatchObject({ code: 'UNVERIFIABLE' });
});

test('a rejected export is an ApiError before its first byte', async () => {
  const query = { 'expires-within': 'soon' };
  expect(await rejectionOf(shared.clientOf().export(query, { format: 'csv' }))).toMatchObject({
    code: 'INVALID_REQUEST_PARAMS',
  });
});

test('an aborted export fails with the reason, also in the middle of its body', async () => {
  const controller = new AbortController();
  const client = await clientWith('stall');
  const report = await client.export({}, { format: 'csv', signal: controller.signal });
  const reader = report.getReader();
  await reader.read();
  const rejected = rejectionOf(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  );
  controller.abort('enough');
  expect(await rejected).toBe('enough');
});

test('a body that stops is a TimeoutError', async () => {
  const client = await clientWith('stall', { timeoutMs: 500 });
  const text = async () => new Response(await client.export({}, { format: 'csv' })).text();
  expect(await rejectionOf(text())).toMatchObject({ name: 'TimeoutError' });
});

test.each<[string, string, string]>([
  ['records than announced', 'x\n', 'ROWS_DIFFER'],
  ['bytes than a line can have', 'x', 'INCOMPLETE'],
])('an endless export ends once it has more %s', async (_name, text, code) => {
  const headers = { 'preference-applied': 'export-summary', 'x-total-count': '1000' };
  const report = await (await clientWith({ endless: text, headers })).export({}, { format: 'ndjson' });
  let bytes = 0;
  const reading = (async () => {
    for await (const chunk of report) {
      bytes += chunk.length;
      if (bytes > 16 * 2 ** 20) return;
    }
  })();
  expect(await rejectionOf(reading)).toMatchObject({ name: 'ExportError', code });
});
