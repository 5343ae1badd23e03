import { randomUUIDv7 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres, openSqlite } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, startWorkers, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { tokenErrorStatuses } from '../../../contract/error-code.ts';
import { consoleOperations } from '../../../contract/oauth/console-session.ts';
import { operations } from '../../../contract/operations.ts';
import { importResults } from '../../../contract/operator/import.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { insertAuditEntries } from '../../storage/tables/audit-entry.ts';
import { putImport } from '../../storage/tables/import-history.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

const docs = readFileSync(new URL('../../../../docs/operators/metrics.md', import.meta.url), 'utf8');

/** A metric as the text format or a row of docs/operators/metrics.md describes it. */
interface Metric {
  readonly name: string;
  readonly type: string;
}

const exportedMetrics = (text: string): Metric[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));

/** The value of a series, written as in the text format without its value. */
function seriesValue(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

async function scrape(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

const requestCount = (operation: string, statusClass: string): string =>
  `subreport_request_duration_seconds_count{listener="public",operation="${operation}",status_class="${statusClass}"}`;

/** In UTC epoch seconds. */
const storedAt = Math.floor(Date.now() / 1000) - 60;

/** Stores two imports that have ended: one by a command, and one over HTTP that failed. */
async function storeImports(store: Store): Promise<void> {
  const none = { actorName: null, address: null, error: null, revision: null, options: [], columns: null };
  const actor = { actorKind: 'command', actorId: 'ann', format: 'ndjson' };
  const counts = { read: 5, rejected: 0, inserted: 2, updated: 2, unchanged: 1, removed: 0 };
  for (const [tenant, via, result, rejected] of [
    ['good', 'command', 'ok', 0],
    ['bad', 'http', 'failed', 3],
  ] as const) {
    const row = { ...none, ...actor, id: randomUUIDv7(), tenant, via, result };
    await putImport(store, { ...row, startedAt: storedAt, endedAt: storedAt, counts: { ...counts, rejected } });
  }
}

const changedRow = (status: string) => subscriptionRow({ id: 'a', status });

/** The metrics of these imports. */
const importMetrics = (text: string): (number | undefined)[] =>
  [
    'subreport_imports_last_day{via="command",result="ok"}',
    'subreport_imports_last_day{via="http",result="failed"}',
    'subreport_import_rows_last_day{via="command",result="accepted"}',
    'subreport_import_rows_last_day{via="http",result="rejected"}',
  ].map((series) => seriesValue(text, series));
const storedImports = [1, 1, 5, 3];

const bytesMax = 2 ** 20;

describe('GET /metrics', () => {
  let service: TestService;
  let management: string;
  let folder: string;
  beforeAll(async () => {
    const port = await freePort();
    management = `http://127.0.0.1:${port}`;
    const opened = await openSqlite();
    const { DATA_DIR: dataDir = '' } = opened.environment;
    folder = dataDir;
    const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, tenantBytesMax: bytesMax });
    await storeImports(store);
    await insertTenant(store, 'changed', storedAt);
    for (const status of ['PENDING', 'ACTIVE', 'EXPIRED'])
      await store.loadSubscriptions('changed' as TenantId, [changedRow(status)]);
    // the service reads some of it when it starts, and keeps it for minutes
    service = await startService(
      { ...opened, store, close: () => store.close().then(opened.close) },
      { MANAGEMENT_PORT: String(port) },
    );
  });
  afterAll(() => service.close());

  test('counts the imports of the last day and their rows', async () => {
    const text = await scrape(management);
    expect(importMetrics(text)).toEqual(storedImports);
    const results = [...text.matchAll(/^subreport_imports_last_day\{.*result="(.+?)"/gm)].map(([, result]) => result);
    expect(results.filter((result) => !importResults.includes(result as never))).toEqual([]);
  });

  test('says when the last backup ended, which is never at first, and what the disk has left', async () => {
    const series = 'subreport_backup_last_success_timestamp_seconds';
    expect(seriesValue(await scrape(management), series)).toBe(0);
    const [started, ok] = ['started', 'ok'].map((outcome) => ({
      ...{ recordedAt: storedAt, actorKind: 'command', actorId: 'ann', actorName: null, address: null },
      ...{
        action: 'store.backup',
        tenant: null,
        clientId: null,
        outcome,
        error: null,
        correlationId: null,
        details: '{}',
      },
    }));
    if (started === undefined || ok === undefined) throw new TypeError('there must be two entries');
    await insertAuditEntries(service.store, [{ ...started, recordedAt: storedAt + 30 }]);
    expect(seriesValue(await scrape(management), series)).toBe(0);
    await insertAuditEntries(service.store, [ok]);
    const text = await scrape(management);
    expect(seriesValue(text, series)).toBe(storedAt);
    const [free, total] = ['free', 'total'].map((space) => seriesValue(text, `subreport_disk_bytes{space="${space}"}`));
    // others write to the disk meanwhile
    const { bavail, blocks, bsize } = await statfs(folder);
    expect(Number(free) / (bavail * bsize)).toBeCloseTo(1, 0);
    expect(total).toBe(blocks * bsize);
  });

  test('counts the former versions, and the tenants that a sweep is due for', async () => {
    const text = await scrape(management);
    const of = (name: string) => seriesValue(text, `subreport_history_${name}`);
    expect([of('versions'), of('sweeps_due')]).toEqual([2, 0]);
  });

  test('says how full the fullest tenant is', async () => {
    const ratio = seriesValue(await scrape(management), 'subreport_storage_budget_ratio') ?? 0;
    const texts = ['PENDING', 'ACTIVE', 'EXPIRED'].map((status) => Buffer.byteLength(changedRow(status).record));
    const charged = texts.reduce((sum, bytes) => sum + bytes) + 800 + 2 * 300 + 3 * 150;
    expect(ratio * bytesMax).toBeCloseTo(charged, 3);
  });

  test('counts from 0, so that a rate has the first errors, refusals and loads', async () => {
    const text = await scrape(management);
    const operationsOf = (statusClass: string): string[] =>
      [
        ...text.matchAll(
          /^subreport_request_duration_seconds_count\{listener="(\w+)",operation="(\w+)",status_class="(\w+)"\} 0$/gm,
        ),
      ]
        .filter(([, , , given]) => given === statusClass)
        .map(([, listener, operation]) => `${listener} ${operation}`);
    expect(operationsOf('5xx')).toEqual(
      expect.arrayContaining(['public listSubscriptions', 'public issueToken', 'management createClient']),
    );
    expect(operationsOf('5xx')).toHaveLength(
      Object.keys({ ...operations, ...consoleOperations }).length +
        Object.keys({ ...operatorOperations, ...consoleOperations }).length +
        2 * ['page', 'unknown'].length,
    );
    for (const outcome of ['accepted', ...Object.keys(tokenErrorStatuses)])
      expect(seriesValue(text, `subreport_token_requests_total{operation="issueToken",outcome="${outcome}"}`)).toBe(0);
    for (const [name, values] of [
      ['subreport_requests_refused_total', ['reason="overload"', 'reason="rate_limit"']],
      ['subreport_load_rows_total', ['result="accepted"', 'result="rejected"']],
    ] as const)
      expect(values.map((labels) => seriesValue(text, `${name}{${labels}}`))).toEqual([0, 0]);
  });

  test('exports each metric of docs/operators/metrics.md with its type, and no other', async () => {
    const rows = [...docs.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name = '', type = '']) => ({ name, type }));
    const byName = (a: Metric, b: Metric): number => a.name.localeCompare(b.name);
    expect(exportedMetrics(await scrape(management)).sort(byName)).toEqual(rows.sort(byName));
    expect(rows.length).toBeGreaterThan(10);
  });

  test('counts repeated, rejected and unknown requests by operation, without tenant, client or URL', async () => {
    const tenant = await service.createTenant('acme-metrics');
    const client = await service.createClient(tenant);
    const token = await service.accessToken(client);
    for (const size of [10, 10, 10, 0]) await (await service.get(`/v1/subscription?size=${size}`, token)).text();
    await fetch(`${service.url}/elsewhere/acme-metrics`);
    await service.postToken({ grant_type: 'client_credentials', ...client, client_secret: 'wrong' });
    const text = await scrape(management);
    expect([
      seriesValue(text, requestCount('listSubscriptions', '2xx')),
      seriesValue(text, requestCount('listSubscriptions', '4xx')),
      seriesValue(text, requestCount('unknown', '4xx')),
      seriesValue(text, 'subreport_token_requests_total{operation="issueToken",outcome="accepted"}'),
      seriesValue(text, 'subreport_token_requests_total{operation="issueToken",outcome="invalid_client"}'),
    ]).toEqual([3, 1, 1, 1, 1]);
    for (const secret of ['acme-metrics', client.client_id, 'elsewhere', '/v1/']) expect(text).not.toContain(secret);
  });

  test('counts the rows of a load, and the time of a load without rejected rows', async () => {
    const tenant = await service.createTenant('loaded');
    const token = await service.accessToken(await service.createClient(tenant, { scopes: ['subscription:write'] }));
    await fetch(`${management}/operator/v1/tenants/loaded/subscriptions`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: '{"id":"x"}\n',
    });
    const text = await scrape(management);
    expect(seriesValue(text, 'subreport_load_rows_total{result="rejected"}')).toBe(1);
    expect(seriesValue(text, 'subreport_import_last_success_timestamp_seconds')).toBe(storedAt);
    expect(seriesValue(text, 'subreport_loads_in_progress')).toBe(0);
  });

  test('says that the service is ready, and how large its files are', async () => {
    const text = await scrape(management);
    expect(seriesValue(text, 'subreport_ready')).toBe(1);
    expect(seriesValue(text, 'subreport_change_mark_age_seconds')).toBe(0);
    for (const part of ['database', 'wal'])
      expect(seriesValue(text, `subreport_store_bytes{part="${part}"}`)).toBeGreaterThan(1_000);
  });
});

test('with PostgreSQL, the metrics contain the connections of the pool, its waits and the size', async () => {
  const port = await freePort();
  const service = await startService(await openPostgres(testRole), { MANAGEMENT_PORT: String(port) });
  try {
    await (await fetch(`${service.url}/readyz`)).text();
    await storeImports(service.store);
    const text = await scrape(`http://127.0.0.1:${port}`);
    const states = ['busy', 'idle'].map(
      (state) => seriesValue(text, `subreport_pool_connections{state="${state}"}`) ?? NaN,
    );
    expect(states.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
    expect(importMetrics(text)).toEqual(storedImports);
    expect(seriesValue(text, 'subreport_pool_wait_seconds_count')).toBeGreaterThan(0);
    // the scrape's own query found an idle connection
    expect(seriesValue(text, 'subreport_pool_waiting')).toBe(0);
    expect(seriesValue(text, 'subreport_store_bytes{part="database"}')).toBeGreaterThan(1_000_000);
  } finally {
    await service.close();
  }
});

test('with --workers 2, each scrape describes both workers and the first process', async () => {
  const port = await freePort();
  const service = await startWorkers(await openSqlite(), { MANAGEMENT_PORT: String(port) });
  try {
    const tries = Array.from({ length: 12 }, () =>
      fetch(`${service.url}/healthz`, { headers: { connection: 'close' } }).then((response) => response.text()),
    );
    await Promise.all(tries);
    for (let n = 0; n < 4; n += 1) {
      const text = await scrape(`http://127.0.0.1:${port}`);
      const values = [requestCount('getHealth', '2xx'), 'subreport_processes', 'subreport_ready'].map((series) =>
        seriesValue(text, series),
      );
      expect(values).toEqual([12, 3, 1]);
    }
    const pids = () =>
      [...service.logText().matchAll(/"pid":(\d+),[^\n]*"msg":"listening at http:\/\/127.0.0.1:\d+"/g)].map(
        ([, pid]) => pid,
      );
    const ready = () => fetch(`${service.url}/healthz`, { headers: { connection: 'close' } });
    for (const [sent, signal] of [
      [13, 'SIGTERM'], // its last counts are in its last message
      [13, 'SIGKILL'],
    ] as const) {
      const before = pids();
      if (signal === 'SIGTERM') await ready();
      process.kill(Number(before.at(-2)), signal);
      await eventually(() => expect(pids().length).toBeGreaterThan(before.length));
      await eventually(async () => {
        const text = await scrape(`http://127.0.0.1:${port}`);
        expect(
          ['subreport_processes', requestCount('getHealth', '2xx')].map((series) => seriesValue(text, series)),
        ).toEqual([3, sent]);
      });
    }
  } finally {
    await service.close();
  }
});
