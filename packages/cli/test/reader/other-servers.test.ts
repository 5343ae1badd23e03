import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../../../test/support/run-here.ts';
import { createClient } from '../../../client/index.ts';
import { tools } from '../../../mcp/tools.ts';
import { ConnectServer, ordinary, type ServerRequest, type ServerResponse, type Variant } from './connect-server.ts';
import { accountRecords } from './records.ts';

// The reader's commands with a server of the published API that is not ours: it has no cursors.

const records = accountRecords(57);
const server = new ConnectServer(records);
const folder = mkdtempSync(join(tmpdir(), 'subreport-other-'));
const run = (...args: string[]) => runHere(args, { XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder });
const idsIn = (lines: string): string[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);

beforeAll(async () => {
  await server.listen();
  const { baseUrl, tokenUrl, clientId, clientSecret } = server.target;
  const given = { base_url: baseUrl, token_url: tokenUrl, client_id: clientId, client_secret: clientSecret };
  writeFileSync(join(folder, 'other.json'), JSON.stringify(given), { mode: 0o600 });
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  Object.assign(server, { behavior: {}, variant: { ...ordinary, sizeMax: 10, rejectsLargerSize: false } });
});

const moods: readonly [string, Partial<Variant>][] = [
  ['numbers pages in X-Next-Page', {}],
  ['numbers pages from 0', { firstPage: 0 }],
  ['sends no totals and links', { sendsHeaders: false }],
  ['sends no headers and numbers pages from 0', { sendsHeaders: false, firstPage: 0 }],
  ['sends no headers and repeats the last page', { sendsHeaders: false, afterLastPage: 'last page' }],
  ['sends no headers and rejects a page past the end', { sendsHeaders: false, afterLastPage: 'rejected' }],
];

describe.each(moods)('with a server that %s', (_does, variant) => {
  beforeEach(() => {
    Object.assign(server.variant, variant);
  });

  test('login and whoami tell the total if the server sends it, and list --all has every record once', async () => {
    const total = server.variant.sendsHeaders ? 57 : null;
    for (const args of [['login', '--credentials', join(folder, 'other.json')], ['whoami']]) {
      const { code, stdout, stderr } = await run(...args, '--json');
      expect([code, JSON.parse(stdout).subscriptions, stderr]).toEqual([0, total, '']);
    }
    const { code, stdout } = await run('list', '--all', '-o', 'ndjson', '--quiet');
    expect([code, idsIn(stdout).toSorted()]).toEqual([0, records.map(({ id }) => id).toSorted()]);
  });

  test('list names the command of the following page', async () => {
    await run('login', '--credentials', join(folder, 'other.json'));
    const { code, stderr } = await run('list', '-o', 'table');
    const next = (server.variant.firstPage + 1).toString();
    const told = server.variant.sendsHeaders ? `of 57. Next page: subreport list --page ${next}` : '10 subscriptions';
    expect([code, stderr.includes(told) ? told : stderr]).toEqual([0, told]);
  });
});

test.each([0, 1] as const)('list --all ends where a server numbers pages from %i and has one', async (firstPage) => {
  Object.assign(server.variant, { firstPage, sizeMax: 100, sendsHeaders: false, afterLastPage: 'rejected' });
  await run('login', '--credentials', join(folder, 'other.json'));
  const { code, stdout, stderr } = await run('list', '--all', '--size', '100', '-o', 'ndjson');
  expect([code, idsIn(stdout), stderr]).toEqual([0, records.map(({ id }) => id), '57 subscriptions\n']);
});

const ndjson = ['list', '--all', '-o', 'ndjson'];
const numberOf = (request: ServerRequest) => Number(new URLSearchParams(request.query).get('page') ?? 1);
const withoutLink = ({ headers: { 'x-next-page': _link, ...headers }, ...response }: ServerResponse) => ({
  ...response,
  headers,
});

test.each([true, false])('list --all fails if a server ignores page (with totals: %s)', async (sendsHeaders) => {
  Object.assign(server.variant, { sendsHeaders });
  server.behavior = {
    request: (request) => ({ ...request, query: request.query.replace(/page=\d+/, '') }),
    response: withoutLink,
  };
  await run('login', '--credentials', join(folder, 'other.json'));
  const { code, stdout, stderr } = await run(...ndjson);
  const told = 'the server must use the parameter page: pages 1 and 2 have the same 10 subscriptions';
  expect([code, idsIn(stdout).length, stderr]).toEqual([1, 10, `Cannot list all subscriptions: ${told}\n`]);
});

test.each([1, 2, 10])('list --all ends where a server repeats its only page of %i', async (records) => {
  Object.assign(server.variant, { sendsHeaders: false, afterLastPage: 'last page' });
  server.records = accountRecords(57).slice(0, records);
  await run('login', '--credentials', join(folder, 'other.json'));
  const { code, stdout } = await run(...ndjson);
  server.records = accountRecords(57);
  expect([code, idsIn(stdout).length]).toEqual([0, records]);
});

test('list --all asks for the pages of a server that sends a total and no links', async () => {
  server.behavior = { response: withoutLink };
  await run('login', '--credentials', join(folder, 'other.json'));
  expect((await run(...ndjson)).stderr).toBe('57 of 57\n');
  server.behavior = {
    response: (response, request) => withoutLink(numberOf(request) > 3 ? { ...response, json: [] } : response),
  };
  const { code, stderr } = await run(...ndjson);
  const told = 'the server must send all of them: its pages ended after 30 of 57';
  expect([code, stderr]).toEqual([1, `Cannot list all subscriptions: ${told}\n`]);
});

test('list --all of chosen fields needs the id where a server sends no links', async () => {
  Object.assign(server.variant, { sendsHeaders: false });
  const json = Array(10).fill({ status: 'ACTIVE' });
  server.behavior = { response: (response, { path }) => (path === '/token' ? response : { ...response, json }) };
  await run('login', '--credentials', join(folder, 'other.json'));
  const { code, stdout, stderr } = await run(...ndjson, '--fields', 'status');
  const told = 'the server sends no links to further pages, so --fields must have id';
  expect([code, stdout, stderr]).toEqual([2, '', `Cannot list all subscriptions: ${told}\n`]);
});

test.each([
  ['a secret with a line break', '"client_id":"a","client_secret":"q7Z2kVb9\\n"', 2, 'found U+000A after 8'],
  ['a repeated member', '"client_id":"a","client_secret":"s","client_id":"b"', 1, "given once: 'client_id' is"],
])('login names %s of a file with credentials, and sends nothing', async (_case, members, expected, said) => {
  const file = join(folder, 'faulty.json');
  writeFileSync(file, `{"base_url":"http://127.0.0.1:9/connect-api",${members}}`);
  const { code, stderr } = await run('login', '--credentials', file, '--profile', 'new');
  expect([code, stderr]).toEqual([expected, expect.stringContaining(said)]);
});

test('login sends no secret to the token endpoint of a file whose server is not that of --url', async () => {
  let requests = 0;
  const other = createServer((_request, response) => {
    requests += 1;
    response.end('{}');
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const file = join(folder, 'elsewhere.json');
  const secrets = { client_id: 'acme', client_secret: server.target.clientSecret };
  writeFileSync(file, JSON.stringify({ base_url: `${url}/connect-api`, token_url: `${url}/token`, ...secrets }));
  const { code, stderr } = await run('login', '--url', server.url, '--credentials', file);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^no token: is '.*' the URL of the service/)]);
  expect(requests).toBe(0);
  other.close();
});

test('login forgets the tokens of the client that the profile had', async () => {
  const tokens = join(folder, 'subreport/tokens/default.json');
  await run('login', '--credentials', join(folder, 'other.json'));
  await run('list');
  expect(existsSync(tokens)).toBe(true);
  await run('login', '--credentials', join(folder, 'other.json'));
  expect(existsSync(tokens)).toBe(false);
});

test('no number of records is made up where the server sends none', async () => {
  Object.assign(server.variant, { sendsHeaders: false });
  const { baseUrl, tokenUrl, clientId, clientSecret } = server.target;
  const client = createClient({ baseUrl, tokenUrl, clientId, clientSecret });
  await expect(client.subscriptions().total()).rejects.toThrow('must have X-Total-Count');
  expect(await client.subscriptions().page()).toMatchObject({ totalCount: Number.NaN, currentPage: Number.NaN });
  const call = { client, options: { correlationId: 'c', signal: new AbortController().signal } };
  const ask = (name: string) => tools[name]?.run({ ...call, appliedFilters: () => '' }, {});
  const listed = await ask('list_subscriptions');
  expect(listed).not.toHaveProperty('total');
  expect(listed?.rows).toHaveLength(10);
});

test('the client library follows links with page numbers, and none of another form', async () => {
  const { baseUrl, tokenUrl, clientId, clientSecret } = server.target;
  const client = createClient({ baseUrl, tokenUrl, clientId, clientSecret });
  expect((await client.subscriptions().toArray({ max: 57 })).length).toBe(57);
  server.behavior = {
    response: (response) => ({
      ...response,
      headers: { ...response.headers, ...('x-next-page' in response.headers && { 'x-next-page': '/elsewhere' }) },
    }),
  };
  await expect(client.subscriptions().toArray({ max: 57 })).rejects.toThrow(
    "Cannot continue the report: the response must have X-Next-Page with a new cursor or page, and records: current value is '/elsewhere'",
  );
});
