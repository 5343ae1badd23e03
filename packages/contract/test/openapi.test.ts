import { readFileSync } from 'node:fs';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { buildOpenApi } from '../../../tools/openapi/openapi.ts';
import { committedContracts } from '../../../tools/write-contract.ts';
import { readOpenApi } from '../../service/http/reference/openapi-document.ts';
import { importRecords } from '../../service/import/import-records.ts';
import { syntheticRows } from '../../service/import/synthetic-rows.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { errorTable } from '../error.ts';
import type { ErrorCode } from '../error-code.ts';
import { TokenErrorBody, TokenResponse } from '../oauth/token.ts';
import { operations } from '../operations.ts';
import { reportParameters } from '../query.ts';
import { defaultPageLimits } from '../report.ts';
import { Subscription } from '../subscription.ts';

interface OpenApi {
  readonly paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: { name?: string }[];
        responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }>;
      }
    >
  >;
  readonly servers: { url: string }[];
}

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(committed) as OpenApi;

describe('openapi.json', () => {
  test('is what the contract builds (npm run contract writes it)', () => {
    expect(committed).toBe(committedContracts()['openapi.json']);
  });

  test('is served with the URL and the limits of the deployment', () => {
    const publicUrl = 'http://127.0.0.1:8081';
    const limits = { sizeDefault: 77, sizeMax: 5_555, firstPage: 0 } as const;
    const built = buildOpenApi({ publicUrl: 'https://reports.example.com', version: packageVersion, limits });
    const expected = JSON.parse(JSON.stringify(built).replaceAll('https://reports.example.com', publicUrl));
    expect(readOpenApi('report', { publicUrl, limits })).toEqual(expected);
  });

  test('has every operation under its name, method and path', () => {
    const found = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
    );
    expect(found.sort()).toEqual(
      Object.entries(operations)
        .map(([name, { method, path }]) => [name, method, path])
        .sort(),
    );
  });

  test('has every parameter of the report', () => {
    const names = document.paths['/connect-api/v1/subscription']?.get?.parameters
      ?.map(({ name }) => name)
      .filter((name) => name !== undefined);
    expect(names).toEqual(Object.keys(reportParameters(defaultPageLimits)));
  });

  test('documents for the report each status of the error table that it can answer', () => {
    const documented = Object.keys(document.paths['/connect-api/v1/subscription']?.get?.responses ?? {}).map(Number);
    // of other operations, or of requests that reach none
    const elsewhere = new Set([404, 405, 409, 413, 415, 422]);
    const statuses = new Set(Object.values(errorTable).map(({ status }) => status));
    expect(documented.filter((status) => status >= 400).sort()).toEqual(
      [...statuses].filter((status) => !elsewhere.has(status)).sort(),
    );
  });

  test('documents for each operation the statuses of requests that reach none', () => {
    const listener = new URL('../../service/http/listener/', import.meta.url);
    const sources = ['client-error.ts', 'guard-request.ts'].map((file) =>
      readFileSync(new URL(file, listener), 'utf8'),
    );
    const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) =>
      sources.some((source) => source.includes(`'${code}'`)),
    );
    expect(codes).toContain('REQUEST_TIMEOUT');
    const operator = JSON.parse(committedContracts()['openapi-operator.json'] ?? '') as OpenApi;
    const items = [document, operator].flatMap(({ paths }) =>
      Object.values(paths).flatMap((item) => Object.values(item)),
    );
    for (const { operationId, responses } of items) {
      // what OAuth clients post to rejects every URL with parameters, with 400
      const others = operationId.endsWith('Token') ? codes.filter((code) => code !== 'URI_TOO_LONG') : codes;
      const missing = others.filter((code) => responses[errorTable[code].status] === undefined);
      expect([operationId, missing]).toEqual([operationId, []]);
    }
  });

  test('holds no reference to nothing', () => {
    const names = [...committed.matchAll(/"\$ref": "#\/components\/(\w+)\/([^"]+)"/g)].map(
      ([, kind = '', name = '']) => [kind, name] as const,
    );
    const { components } = JSON.parse(committed) as { components: Record<string, Record<string, unknown>> };
    expect(names.filter(([kind, name]) => components[kind]?.[name] === undefined)).toEqual([]);
    expect(names.length).toBeGreaterThan(50);
  });
});

describe('the running service', () => {
  let service: TestService;
  let token: string;
  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore(), { PAGE_SIZE_MAX: '500' });
    const tenant = await service.createTenant('acme');
    token = await service.accessToken(await service.createClient(tenant));
    const source = (async function* () {
      yield Buffer.from(
        [...syntheticRows({ count: 300, seed: 9, until: 1_780_000_000 })].map((row) => JSON.stringify(row)).join('\n'),
      );
    })();
    await importRecords(service.store, tenant, source, {
      format: 'ndjson',
      dryRun: false,
      onRejected: () => undefined,
    });
  });
  afterAll(() => service.close());

  test('serves the document with its own address and bounds', async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    const served = (await response.json()) as OpenApi;
    expect(served.servers[0]?.url).toBe(service.url);
    expect(JSON.stringify(served.paths['/connect-api/v1/subscription'])).toContain('"maximum":500');
    expect(Object.keys(served.paths)).toEqual(Object.keys(document.paths));
  });

  test('answers every record as the schema says, with documented headers only', async () => {
    const response = await service.get('/v1/subscription?size=300', token);
    const records = (await response.json()) as unknown[];
    expect(records).toHaveLength(300);
    expect(records.filter((record) => !Check(Subscription, record))).toEqual([]);
    const documented = Object.keys(
      document.paths['/connect-api/v1/subscription']?.get?.responses['200']?.headers ?? {},
    ).map((name) => name.toLowerCase());
    const generic = new Set([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'cache-control',
      'vary',
      'content-encoding', // HTTP's own, for clients that ask for it
      'x-content-type-options',
      'content-security-policy',
      'referrer-policy',
    ]);
    expect([...response.headers.keys()].filter((name) => !documented.includes(name) && !generic.has(name))).toEqual([]);
  });

  test('answers tokens and refusals as the schemas say', async () => {
    const client = await service.createClient(await service.createTenant('globex'));
    const good = await service.postToken({ grant_type: 'client_credentials', ...client });
    expect(Check(TokenResponse, await good.json())).toBe(true);
    const bad = await service.postToken({ grant_type: 'password', ...client });
    expect(Check(TokenErrorBody, await bad.json())).toBe(true);
  });
});
