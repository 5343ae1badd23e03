import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as library from '../../packages/client/index.ts';
import { type ClientService, startClientService } from '../../packages/client/test/client-service.ts';

const guide = readFileSync(new URL('../../docs/readers/client.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
const folder = mkdtempSync(join(tmpdir(), 'subreport-guide-'));
let shared: ClientService;
beforeAll(async () => {
  shared = await startClientService();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await shared.service.close();
});

/** Runs code as one function, so that a block of the guide can use the names of earlier ones. */
async function runGuide(code: string, names: Record<string, unknown>): Promise<unknown> {
  const body = code.replace(/^import .*$/gm, '');
  const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => undefined);
  return AsyncFunction(...Object.keys(names), body)(...Object.values(names));
}

test('the examples of docs/readers/client.md run unchanged against a service', async () => {
  const { service, credentials, rows } = shared;
  const copy = new Map<string, unknown>();
  const controller = new AbortController();
  const stored: unknown[] = [];
  const output: unknown[] = [];
  const inFolder = (name: string) => join(folder, name);
  const saveToken = () => {
    if (copy.size === rows.length) controller.abort();
  };
  const names = {
    ...library,
    createClient: (options: object) => library.createClient({ ...options, url: service.url } as library.ClientOptions),
    process: { env: { CLIENT_ID: credentials.client_id, CLIENT_SECRET: credentials.client_secret } },
    console: { log: (...values: unknown[]) => output.push(values), error: (code: string) => output.push(code) },
    readFile: (name: string, coding: BufferEncoding) => files.readFile(inFolder(name), coding),
    writeFile: (name: string, content: string) => files.writeFile(inFolder(name), content),
    rename: (from: string, to: string) => files.rename(inFolder(from), inFolder(to)),
    rm: (name: string, options: object) => files.rm(inFolder(name), options),
    store: (record: unknown) => stored.push(record),
    copy,
    loadToken: () => undefined,
    saveToken,
    signal: controller.signal,
    id: 'nobody-has-this',
  };
  const code = `${blocks.join('\n')}
    await createClient({ clientId: process.env.CLIENT_ID, clientSecret: process.env.CLIENT_SECRET, tokenStore }).token();
    return { expiring: await expiring.total(), following: following.currentPage, tokens: await tokenStore.load() };`;
  const result = await runGuide(code, names);
  const active = rows.filter(({ status }) => status === 'ACTIVE').length;
  expect(result).toMatchObject({ following: 2, tokens: { accessToken: expect.any(String) } });
  expect(output.length).toBe(rows.filter(({ status }) => status === 'ACTIVE' || status === 'DEPLETED').length + 1);
  expect(output.at(-1)).toBe('NOT_FOUND');
  expect(stored).toHaveLength(rows.length);
  expect(copy.size).toBe(rows.length);
  expect(readFileSync(inFolder('report.csv'), 'utf8').split('\r\n')).toHaveLength(active + 2);
});

test('docs/readers/client.md names every error class and code of the library', () => {
  const source = readFileSync(new URL('../../packages/client/error.ts', import.meta.url), 'utf8');
  const codes = [...source.matchAll(/^export type \w+ErrorCode =([^;]+);/gm)].flatMap(
    ([, union = '']) => union.match(/'[A-Z_]+'/g) ?? [],
  );
  const classes = Object.keys(library).filter((name) => name.endsWith('Error'));
  expect([codes.length, classes.length]).toEqual([13, 8]);
  for (const name of [...codes.map((code) => code.replaceAll("'", '')), ...classes])
    expect(guide).toContain(`\`${name}\``);
});
