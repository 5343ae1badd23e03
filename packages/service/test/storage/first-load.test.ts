import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syntheticRecords, until } from '../../../../bench/support/data-set.ts';
import { isWhole } from '../../../../test/support/draw.ts';
import { onCluster, openPostgres } from '../../../../test/support/engines.ts';
import { testRole, urlOf } from '../../../../test/support/global-setup.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type ReadStatement, watchReads } from '../../../../test/support/watch-reads.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { plannerOptions } from '../../storage/postgres/session.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

// Right after a tenant's first load, the last ANALYZE did not know the tenant. Its statements must
// not read more than once the table is analyzed, with statistics of all columns.

const [known, loaded] = isWhole ? [1_000_000, 100_000] : [60_000, 10_000];
const rows = [...syntheticRecords(loaded, 7)];
const tables = ['', '_span', '_tombstone', '_version', '_commit', '_erasure'].map((name) => `subscription${name}`);

const fillKnown = [
  "insert into tenant (id, created_at) select 'known-' || n, 1 from generate_series(0, 999) as n",
  `insert into subscription
   select 'known-' || n % 1000, md5(n::text), d, d + 5, d + 2592000, (array['ACTIVE', 'EXPIRED', 'EXPIRED'])[n % 3 + 1],
     'product-' || n % 40, 'plan-' || n % 8, n / 3, 'device-' || n / 3, 'true', n / 12, repeat('x', 400), 1
   from generate_series(1, ${known}) as n cross join lateral (select ${until} - n % 90000000 as d) as date`,
  `insert into subscription_version select tenant_id, id, 1, 2, created_date, activation_date, expiration_date, status,
     product_id, plan_id, iccid, device_id, auto_renew, email, record from subscription where created_date % 20 = 0`,
  `insert into subscription_tombstone select tenant_id, id || 't', 2 from subscription where created_date % 20 = 0`,
  'analyze',
];

function changed(row: SubscriptionRow): SubscriptionRow {
  const expirationDate = row.expirationDate + 86_400;
  const record = { ...JSON.parse(row.record), status: 'SUSPENDED', expirationDate: formatInstant(expirationDate) };
  return { ...row, status: 'SUSPENDED', expirationDate, record: JSON.stringify(record) };
}

const one = rows[100] as SubscriptionRow;
const day = (days: number): string => formatInstant(until - days * 86_400);
const filters = [
  ...['', 'status=ACTIVE', 'status=SUSPENDED,none', `product-id=${one.productId}`, `plan-id=${one.planId}`],
  ...[`product-id=${one.productId}&status=ACTIVE`, 'auto-renew=true', `after=${day(90)}&before=${day(30)}`],
  ...[`date-field=expiration&after=${day(30)}&status=ACTIVE`, `iccid=${one.iccid}`, `email=${one.email}&status=ACTIVE`],
  `date-field=activation&after=${day(30)}&product-id=${one.productId}`,
  `created-from=${day(60)}&date-field=expiration&before=${day(0)}`,
];
const ofReport = filters.flatMap((filter) => {
  const orders = [
    '',
    'page=3',
    'page=90',
    'all=true&format=csv',
    'sort=-activationDate',
    'sort=-activationDate&page=3',
  ];
  const reports = [...orders, 'all=true&format=csv&sort=expirationDate', 'all=true&format=csv&as-of=2'];
  const counts = ['status,auto-renew', 'product-id,plan-id', 'month', 'status,product-id&as-of=2'];
  const asked = [...reports.map((more) => ['', more]), ...counts.map((by) => ['/summary', `by=${by}`])];
  return asked.map(([at, more]) => `${at}?${[filter, more].filter((each) => each !== '').join('&')}`);
});
const ofChanges = [
  '',
  '&before=true',
  '&order=newest&before=true',
  '&kind=removed',
  '&field=status',
  '&import-id=none',
];

describe.skipIf(onCluster)('the statements of a tenant that was just loaded into a large table', () => {
  let service: TestService;
  let admin: pg.Client;
  const asked = new Map<string, ReadStatement & { readonly path: string }>();
  let path = '';

  beforeAll(async () => {
    const opened = await openPostgres(testRole);
    const { DATABASE_URL: url = '' } = opened.environment;
    admin = new pg.Client({ connectionString: urlOf(url, new URL(url).pathname.slice(1), 'postgres') });
    await admin.connect();
    for (const table of tables) await admin.query(`alter table ${table} set (autovacuum_enabled = false)`);
    for (const statement of fillKnown) await admin.query(statement);
    const note = (statement: ReadStatement) => asked.set(statement.sql, { ...statement, path });
    service = await startService({ ...opened, store: watchReads(opened.store, note) });
    const { store } = opened;
    const tenant = await service.createTenant('first');
    const replacement = await store.openStagedLoad(tenant);
    await replacement.add(rows);
    await replacement.finish(false);
    await replacement.close();
    const parts = [rows.slice(0, loaded / 5).map(changed), rows.slice(0, 100).map((row) => changed(changed(row)))];
    for (const part of parts) await store.loadSubscriptions(tenant, part);
    const gone = rows.slice(-loaded / 50).map(({ id }) => id);
    await store.deleteSubscriptions(tenant, gone);
    await ask(await service.accessToken(await service.createClient(tenant)));
  });
  afterAll(async () => {
    await admin.end();
    await service.close();
  });

  async function ask(token: string): Promise<void> {
    const get = async (text: string): Promise<Response> => {
      path = text;
      const response = await service.get(`/v1/subscription${text}`, token);
      expect([text, response.status]).toEqual([text, 200]);
      return new Response(await response.text(), response);
    };
    for (const text of ofReport) {
      const next = (await get(text)).headers.get('x-next-page');
      if (next !== null) await get(next.slice(next.indexOf('?')));
    }
    for (const text of ['/findings', `/${one.id}`, `/${one.id}?as-of=2`, `/${one.id}/history`]) await get(text);
    const { next } = (await (await get('/changes?size=1000')).json()) as { readonly next: string };
    for (const since of ['', `since=${next}&`])
      for (const more of ofChanges) await get(`/changes?${since}size=100${more}`);
    for (const more of ['', '&until=3']) await get(`/changes/summary?since=${next}${more}`);
    const iccid = rows.slice(0, 500).map((row) => row.iccid);
    for (const more of [
      { all: true, format: 'csv', status: ['ACTIVE'] },
      { sort: '-createdDate', size: 50 },
    ]) {
      path = JSON.stringify({ iccid, ...more });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const url = `${service.baseUrl}/v1/subscription/search`;
      const response = await fetch(url, { method: 'POST', headers, body: path });
      expect([response.status, (await response.text()).length > 1_000]).toEqual([200, true]);
    }
  }

  /** The pages of tables and indexes that a statement reads. */
  async function visited({ sql, values }: ReadStatement, mode: string): Promise<number> {
    const literals = ['first', ...values].map((value) => (value === null ? 'null' : pg.escapeLiteral(`${value}`)));
    const text = [
      ...['begin', "set local role subreport_test; set local app.tenant = 'first'"],
      ...[`set local plan_cache_mode = ${mode}`, ...plannerOptions.map((option) => `set local ${option}`)],
      `prepare asked as ${sql}`,
    ].join(';');
    await admin.query(text);
    const explain = `explain (analyze, buffers, timing off, format json) execute asked (${literals.join(', ')})`;
    const { Plan: plan } = (await admin.query(explain)).rows[0]['QUERY PLAN'][0];
    await admin.query('rollback; deallocate asked');
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }

  test('read little more than with statistics of all columns', async () => {
    const found = [];
    for (const statement of asked.values())
      for (const mode of statement.isStream ? ['force_custom_plan'] : ['force_custom_plan', 'force_generic_plan'])
        found.push({ statement, mode, pages: await visited(statement, mode) });
    expect(found.length).toBeGreaterThan(300);
    const { rows: changes } = await admin.query(
      `select format('alter table %s alter %I set statistics 100', attrelid::regclass, attname) as sql
       from pg_attribute where attnum > 0 and attrelid = any($1::regclass[])`,
      [tables],
    );
    for (const { sql } of changes) await admin.query(sql);
    await admin.query('analyze');
    const wide = [];
    for (const { statement, mode, pages } of found) {
      const then = await visited(statement, mode);
      // of a whole report, each record may be on a page of its own
      if (pages > 500 + 3 * then + (statement.isStream ? loaded : 0))
        wide.push({ path: statement.path, mode, pages, then, sql: statement.sql });
    }
    expect(wide).toEqual([]);
  });
});
