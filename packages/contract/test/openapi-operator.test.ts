import { readFileSync } from 'node:fs';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { freePort } from '../../../tools/free-port.ts';
import { committedContracts } from '../../../tools/write-contract.ts';
import { syntheticRows } from '../../service/import/synthetic-rows.ts';
import { LoadSummary, loadParameters } from '../load.ts';
import { operatorApi, operatorOperations } from '../operator/operations.ts';

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { operationId: string; parameters?: { name?: string; in?: string }[] }>
  >;
}

const committed = readFileSync(new URL('../../../openapi-operator.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as OpenApi;
const page = readFileSync(new URL('../../../docs/operators/operator.md', import.meta.url), 'utf8');
const { path: loadPath } = operatorOperations.loadSubscriptions;

describe('openapi-operator.json', () => {
  test('equals the document built from the contract (npm run contract writes it)', () => {
    expect(committed).toBe(committedContracts()['openapi-operator.json']);
  });

  test('has every operation of the management listener with its name, method and path', () => {
    const found = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
    );
    const expected = Object.entries(operatorOperations).map(([name, { method, path }]) => [name, method, path]);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('has every query parameter of a load', () => {
    const parameters = document.paths[loadPath]?.put?.parameters ?? [];
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    expect(names).toEqual(Object.keys(loadParameters));
  });
});

describe('docs/operators/operator.md', () => {
  test('names every operation of the management listener by method and path', () => {
    for (const { method, path } of Object.values(operatorOperations)) expect(page).toContain(`\`${method} ${path}\``);
  });

  test('has a row for every query parameter of a load, and for no other', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)=(?:true|N|JSON)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(Object.keys(loadParameters));
  });

  test('shows a response that fits the schema', () => {
    const [, example = ''] = /```json\n([^`]*)```/.exec(page) ?? [];
    expect(Check(LoadSummary, JSON.parse(example))).toBe(true);
  });
});

describe('the management listener', () => {
  let service: TestService;
  let management: string;
  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    service = await startService(
      await engines[0].openTestStore(),
      { MANAGEMENT_PORT: String(port) },
      { tokenFailuresPerMinute: 1_000_000 },
    );
  });
  afterAll(() => service.close());

  test('serves its OpenAPI document, and a page of it, without a token', async () => {
    const served = (await (await fetch(`${management}/openapi.json`)).json()) as OpenApi;
    expect(served.paths).toEqual(document.paths);
    const docs = await fetch(`${management}/docs`);
    expect([docs.status, docs.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  });

  test('an access token of a client opens no operation of the operator', async () => {
    const tenant = await service.createTenant('initech');
    const client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
    const token = await service.accessToken(client);
    const statuses = Object.values(operatorApi).map(async ({ method, path }) => {
      const url = management + path.replaceAll(/\{\w+\}/g, 'initech');
      const response = await fetch(url, { method, headers: { authorization: `Bearer ${token}` } });
      return [method, path, response.status];
    });
    expect(await Promise.all(statuses)).toEqual(
      Object.values(operatorApi).map(({ method, path }) => [method, path, 401]),
    );
  });

  test('responds to a load, a dry run and a replacement as LoadSummary says', async () => {
    const tenant = await service.createTenant('acme');
    const token = await service.accessToken(await service.createClient(tenant, { scopes: ['subscription:write'] }));
    const rows = [...syntheticRows({ count: 20, seed: 9, until: 1_780_000_000 })];
    const body = `${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"id":"x"}\n`;
    const put = async (query: string, text: string): Promise<unknown> => {
      const response = await fetch(`${management}${loadPath.replace('{tenant}', tenant)}${query}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: text,
      });
      return response.json();
    };
    for (const [query, text] of [
      ['', body],
      ['?dry-run=true', body],
      ['?replace=true&remove=20', ''],
    ] as const) {
      const summary = await put(query, text);
      expect(Check(LoadSummary, summary), JSON.stringify(summary)).toBe(true);
    }
  });
});
