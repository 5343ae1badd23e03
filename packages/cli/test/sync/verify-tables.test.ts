import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../../../test/support/databases.ts';
import { postgresUrl } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { openDestination } from '../../sync/destinations.ts';
import { runSync } from '../../sync/table/run-sync.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { startBesideFolder } from './start-beside-folder.ts';

const rows = Array.from({ length: 25 }, (_, n) =>
  subscriptionRow({ id: `s${String(n).padStart(6, '0')}`, createdDate: 1_700_000_000 + n, deviceId: `dev-${n}` }),
);

let database: string;
const { folder, service } = await startBesideFolder('verify');
let report: ChangingReport;
beforeAll(async () => {
  const server = await postgresUrl();
  await createDatabase(server, 'sync_verify');
  database = Object.assign(new URL(server), { pathname: '/sync_verify' }).href;
  report = await createChangingReport(service, 'verified', 1);
  await report.load(rows);
});
afterAll(async () => {
  await dropDatabase(await postgresUrl(), 'sync_verify');
});

const run = (...args: string[]) => runHere(['sync', ...args], environmentOf(service, report.credentials));

let count = 0;

/** A copy for one test, and SQL as another program would run it. */
interface Copy {
  readonly args: readonly string[];
  readonly to: string;
  readonly table: string;
  run(sql: string): Promise<unknown>;
}

const copies = {
  sqlite(): Copy {
    count += 1;
    const file = join(folder, `copy-${count}.db`);
    return {
      to: `sqlite:${file}`,
      table: 'copy',
      args: ['--to', `sqlite:${file}`, '--table', 'copy'],
      async run(sql) {
        const opened = new DatabaseSync(file);
        opened.exec(sql);
        opened.close();
      },
    };
  },
  postgres(): Copy {
    count += 1;
    const schema = `schema_${count}`;
    const runIn = async (sql: string) => {
      const client = new pg.Client({ connectionString: database, options: `-c search_path=${schema}` });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    return {
      to: database,
      table: `${schema}.copy`,
      args: ['--to', database, '--table', `${schema}.copy`],
      async run(sql) {
        await runIn(sql);
      },
    };
  },
};

const lateDate = '2023-11-15T00:00:00Z';
const allColumns = `status, activation_date, expiration_date, created_date, product_id, product_name, product_period,
  product_period_unit, product_plan_id, iccid, device_id, auto_renew`;

/** What somebody else does to a copy, and what `verify` says of it. */
type Alteration = readonly [sql: string, said: string];

/** Changes of the record s000001. */
const changes: Readonly<Record<keyof typeof copies | 'both', readonly Alteration[]>> = {
  both: [
    [`device_id = 'other'`, "device_id 'other', report 'dev-1'"],
    [`iccid = '8944500102198304834'`, "iccid '8944500102198304834', report '8944500102198304826'"],
    ['status = null', "status absent, report 'ACTIVE'"],
    [`product_name = ''`, "product_name '', report 'Europe 1 GB'"],
    ['product_period = 31', 'product_period 31, report 30'],
    [`status = 'active'`, "status 'active', report 'ACTIVE'"],
    [`device_id = 'dev-1 '`, "device_id 'dev-1 ', report 'dev-1'"],
    [`id = 'S'`, 'in the report, not in the copy'],
    [`created_date = '${lateDate}'`, `created_date '${lateDate}', report '2023-11-14T22:13:21Z'`],
    [`expiration_date = '${lateDate}'`, `expiration_date '${lateDate}', report '2023-12-14T22:13:30Z'`],
  ],
  sqlite: [
    ['auto_renew = 2', "auto_renew 2, report 'true'"],
    ['auto_renew = 0', "auto_renew 'false', report 'true'"],
    ['auto_renew = 0.5', "auto_renew 0.5, report 'true'"],
    [
      `created_date = '2023-11-14T22:13:21.500Z'`,
      "created_date '2023-11-14T22:13:21.500Z', report '2023-11-14T22:13:21Z'",
    ],
    ['product_period = 30.5', 'product_period 30.5, report 30'],
    // beyond the numbers of JavaScript
    ['product_period = 9007199254740993', "product_period '9007199254740993', report 30"],
    ['device_id = cast(device_id as blob)', `device_id {"0":100,"1":101,"2":118,"3":45,"4":49}, report 'dev-1'`],
    [`device_id = 'dev-1' || char(27) || '[2J'`, "device_id 'dev-1\ufffd[2J', report 'dev-1'"],
  ],
  postgres: [
    ['auto_renew = false', "auto_renew 'false', report 'true'"],
    [
      `created_date = created_date + interval '0.5 second'`,
      "created_date '2023-11-14 22:13:21.5+00', report '2023-11-14T22:13:21Z'",
    ],
    [
      `activation_date = activation_date + interval '1 microsecond'`,
      "activation_date '2023-11-14 22:13:30.000001+00', report '2023-11-14T22:13:30Z'",
    ],
    [`expiration_date = 'infinity'`, "expiration_date 'infinity', report '2023-12-14T22:13:30Z'"],
    [
      `created_date = '2023-11-14 22:13:21+00 BC'`,
      "created_date '2023-11-14 22:13:21+00 BC', report '2023-11-14T22:13:21Z'",
    ],
  ],
};

const others: Readonly<Record<keyof typeof copies | 'both', readonly Alteration[]>> = {
  both: [
    [`delete from copy where id = 's000001'`, 's000001: in the report, not in the copy'],
    [`delete from copy where id = 's000024'`, 's000024: in the report, not in the copy'],
    [
      `insert into copy (id, ${allColumns}) select 'more', ${allColumns} from copy where id = 's000001'`,
      'more: in the copy, not in the report',
    ],
    ['delete from copy', '25 differences'],
    [
      `update copy set device_id = case id when 's000001' then 'dev-2' else 'dev-1' end where id in ('s000001', 's000002')`,
      "s000001: device_id 'dev-2', report 'dev-1'\n  s000002: device_id 'dev-1', report 'dev-2'",
    ],
    ['alter table copy add column note text', 'it must have the columns of a copy, and no others; choose another one'],
    ['alter table copy drop column iccid', 'current value is a table without iccid text'],
    ['update subreport_sync set revision = 99', 'Cannot compare with the report at revision 99'],
    [`update subreport_sync set client_id = 'other'`, 'the profile must be that of its sync'],
    ['delete from subreport_sync', 'Cannot verify the copy: there must be one'],
    ['drop table copy', 'Cannot verify the copy: there must be one'],
  ],
  sqlite: [],
  postgres: [
    [
      'alter table copy alter column auto_renew type text',
      'current value is a table without auto_renew boolean with auto_renew text',
    ],
    [
      `alter table copy drop constraint copy_pkey; insert into copy select * from copy where id = 's000001'`,
      's000001: twice in the copy',
    ],
  ],
};

describe.each(Object.entries(copies))('verify of a copy in %s', (engine, copyOf) => {
  const of = <V>(all: Readonly<Record<string, readonly V[]>>): readonly V[] => [
    ...(all.both ?? []),
    ...(all[engine] ?? []),
  ];
  const alterations = [
    ...of(changes).map(
      ([change, said]) => [`update copy set ${change} where id = 's000001'`, `s000001: ${said}`] as const,
    ),
    ...of(others),
  ];

  test.each(alterations)('finds and names what differs after %s', async (sql, said) => {
    const copy = copyOf();
    if (engine === 'postgres') await copy.run(`create schema ${copy.table.split('.')[0]}`);
    expect(await run(...copy.args)).toMatchObject({ code: 0, stderr: '' });
    await copy.run(sql);
    const { code, stdout, stderr } = await run('verify', ...copy.args);
    expect([code, stdout]).toEqual([expect.any(Number), '']);
    expect(stderr).toContain(said);
    expect(code).not.toBe(0);
  });

  test('names the first 20 differences, and counts all of them', async () => {
    const copy = copyOf();
    if (engine === 'postgres') await copy.run(`create schema ${copy.table.split('.')[0]}`);
    await run(...copy.args);
    await copy.run(`update copy set device_id = 'other'`);
    const { code, stderr } = await run('verify', ...copy.args);
    expect(code).toBe(1);
    expect(stderr.match(/device_id 'other'/g)).toHaveLength(20);
    expect(stderr).toMatch(/current value is 25 rows with 25 differences\n {2}s000000: .*\n {2}and 5 more\n$/s);
  });

  test('cannot tell of a revision whose records were erased: exit code 75, until the next sync', async () => {
    const copy = copyOf();
    if (engine === 'postgres') await copy.run(`create schema ${copy.table.split('.')[0]}`);
    const changing = await createChangingReport(service, `erased-${count}`, 1);
    await changing.load(rows.slice(0, 3));
    const environment = environmentOf(service, changing.credentials);
    await runHere(['sync', ...copy.args], environment);
    await changing.erase(['s000001']);
    expect(await runHere(['sync', 'verify', ...copy.args], environment)).toMatchObject({
      code: 75,
      stdout: '',
      stderr: expect.stringMatching(/^Cannot compare with the report at revision 1: .*run 'subreport sync' first/),
    });
    await runHere(['sync', ...copy.args], environment);
    expect(await runHere(['sync', 'verify', ...copy.args], environment)).toMatchObject({ code: 0, stderr: '' });
  });

  test('--reload compares each record before it commits', async () => {
    const copy = copyOf();
    if (engine === 'postgres') await copy.run(`create schema ${copy.table.split('.')[0]}`);
    await run(...copy.args);
    const destination = await openDestination({ to: copy.to, table: copy.table, reload: true }, async () => undefined);
    const resync = destination.resync.bind(destination);
    // a table that takes another value than it is given, as one with a trigger of its owner
    destination.resync = async (batches) =>
      resync(
        (async function* () {
          for await (const batch of batches) yield batch.map((row) => row.with(-2, 'changed'));
        })(),
      );
    await expect(runSync(report.source, destination, { compare: true })).rejects.toMatchObject({
      code: 'NOT_EQUAL',
      message: expect.stringContaining("s000000: device_id 'changed', report 'dev-0'"),
    });
    expect((await run('verify', ...copy.args)).code).toBe(0);
  });
});

test('verify and --reload outlast the time limits of a role', async () => {
  const copy = copies.postgres();
  const [schema = ''] = copy.table.split('.');
  await copy.run(`create schema ${schema}`);
  const limits = ['idle_in_transaction_session_timeout', 'statement_timeout'].map((name) => `-c ${name}=300ms`);
  const url = new URL(copy.to);
  url.searchParams.set('options', limits.join(' '));
  const args = ['--to', url.href, '--table', copy.table];
  expect(await run(...args)).toMatchObject({ code: 0, stderr: '' });
  const slow = slowly(report.source.client);
  const { verifyCopy } = await import('../../sync/table/verify-copy.ts');
  const { openCopy } = await import('../../sync/destinations.ts');
  const opened = await openCopy({ to: url.href, table: copy.table });
  const found = await verifyCopy({ ...report.source, client: slow }, opened).finally(() => opened.close());
  expect(found).toMatchObject({ differences: 0, copyRows: 25, reportRows: 25 });
  const reloaded = await openDestination({ to: url.href, table: copy.table, reload: true }, async () => undefined);
  await runSync({ ...report.source, client: slow }, reloaded, { compare: true });
});

/** A client whose exports begin after a second. */
function slowly(client: ChangingReport['source']['client']): typeof client {
  return {
    ...client,
    async export(query, options) {
      await sleep(1_000);
      return client.export(query, options);
    },
  };
}
