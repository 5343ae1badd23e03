import { execFileSync } from 'node:child_process';
import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { readConfig } from '../../src/cli/config.ts';
import { openReadyStore } from '../../src/cli/store-session.ts';
import { importRecords } from '../../src/import/import-records.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import { checkCounts } from '../../src/storage/counts/check.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { engines, type KeptTestStore, onCluster, openPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { testRole } from '../support/global-setup.ts';
import { runCommand, startCommand } from '../support/run-command.ts';

// three batches, of 1,000, 3,000 and 1,000 rows
const lines = [...syntheticRows({ count: 5_000, seed: 5, until: 1_767_225_600 })].map((row) => JSON.stringify(row));
const ndjson = Buffer.from(`${lines.join('\n')}\n`);
const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;

/** The state of the records' indexes, read without the store and its locks. */
interface Indexes {
  /** Their definitions, and SQLite's statistics of them. */
  readonly all: readonly string[];
  /** Rows of the resume point of the first load. */
  readonly resumedFrom: number;
}

async function readIndexes({ environment }: KeptTestStore): Promise<Indexes> {
  const { DATABASE_URL: url, DATA_DIR: folder = '' } = environment;
  if (url === undefined) {
    const database = new DatabaseSync(join(folder, 'subreport.db'), { readOnly: true });
    const textOf = (sql: string): string[] =>
      database
        .prepare(sql)
        .all()
        .map(({ text }) => String(text));
    const all =
      textOf(`select coalesce(sql, name) as text from sqlite_schema where type = 'index' and tbl_name = 'subscription'
      union all select idx || ' ' || stat from sqlite_stat1 where tbl = 'subscription' order by 1`);
    const [rows] = textOf('select coalesce(max(rows_read), 0) as text from subscription_import');
    database.close();
    return { all, resumedFrom: Number(rows) };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("select indexdef from pg_indexes where tablename = 'subscription' order by 1");
    await client.query("select set_config('app.tenant', 'first', false)");
    const points = await client.query('select coalesce(max(rows_read), 0) as n from subscription_import');
    return { all: rows.map(({ indexdef }) => indexdef), resumedFrom: Number(points.rows[0].n) };
  } finally {
    await client.end();
  }
}

const tenantOf = async (store: Store) => (await findTenant(store, 'first'))?.tenant as TenantId;

/** Imports in this process, and calls `between` after the second batch. */
async function load(opened: KeptTestStore, defersIndexes: boolean, between: (indexes: Indexes) => unknown) {
  const source = async function* () {
    yield ndjson.subarray(0, -1_000);
    await between(await untilSecondBatch(opened));
    yield ndjson.subarray(-1_000);
  };
  const { store } = opened;
  return importRecords(store, await tenantOf(store), source(), { ...options, defersIndexes });
}

const untilSecondBatch = (opened: KeptTestStore): Promise<Indexes> =>
  eventually(async () => {
    const indexes = await readIndexes(opened);
    if (indexes.resumedFrom !== 4_000) throw new Error('the second batch is not loaded yet');
    return indexes;
  });

async function recordsOf(store: Store) {
  return store.readTenant(await tenantOf(store), async (reader) => ({
    rows: await reader.all('select id, revision, record from subscription where tenant_id = $1 order by id'),
    problems: (await checkCounts(reader)).problems,
  }));
}

// on Citus, a first load keeps the indexes
describe.each(onCluster ? engines.slice(0, 1) : engines)('a first load into $engine', ({ openTestStore }) => {
  let opened: KeptTestStore;
  let whole: Indexes;
  beforeEach(async () => {
    opened = await openTestStore();
    await insertTenant(opened.store, 'first', 1);
    whole = await readIndexes(opened);
  });
  afterEach(() => opened.close());
  /** Starts an import in a process of its own, and kills it after its second batch. */
  const kill = async (): Promise<void> => {
    await opened.closeStores();
    const file = join(opened.environment.DATA_DIR ?? '', 'rows.ndjson');
    execFileSync('mkfifo', [file]);
    const { child, ended } = startCommand(['import', file, '--tenant', 'first'], opened);
    const pipe = createWriteStream(file);
    pipe.on('error', () => undefined);
    pipe.write(ndjson.subarray(0, ndjson.length - 1_000));
    await untilSecondBatch(opened);
    child.kill('SIGKILL');
    await ended;
    pipe.destroy();
    rmSync(file);
    writeFileSync(file, ndjson);
  };

  test('goes without most indexes, and ends with all of them and with the same records and counts', async () => {
    const during: Indexes[] = [];
    const summary = await load(opened, true, (indexes) => during.push(indexes));
    expect(summary).toMatchObject({ read: 5_000, inserted: 5_000 });
    expect(during[0]?.all.length).toBeLessThan(whole.all.length);
    expect((await readIndexes(opened)).all).toEqual(whole.all);
    const ordinary = await openTestStore();
    await insertTenant(ordinary.store, 'first', 1);
    await load(ordinary, false, (indexes) => expect(indexes.all).toEqual(whole.all));
    expect(await recordsOf(opened.store)).toEqual(await recordsOf(ordinary.store));
    expect((await recordsOf(opened.store)).problems).toEqual([]);
    await ordinary.close();
  });

  test('keeps all indexes if the store has records', async () => {
    const source = Readable.from([Buffer.from(`${lines[0]}\n`)]);
    await importRecords(opened.store, await tenantOf(opened.store), source, options);
    await load(opened, true, (indexes) => expect(indexes.all).toEqual(whole.all));
  });

  test('that is killed and resumed ends with all indexes', async () => {
    await kill();
    expect((await readIndexes(opened)).all.length).toBeLessThan(whole.all.length);
    const file = join(opened.environment.DATA_DIR ?? '', 'rows.ndjson');
    const args = ['import', file, '--tenant', 'first', '--resume', '--json'];
    const { code, stdout, stderr } = await runCommand(args, opened);
    expect([code, stderr, JSON.parse(stdout)]).toMatchObject([0, '', { resumed_from: 4_000, inserted: 5_000 }]);
    expect((await readIndexes(opened)).all).toEqual(whole.all);
    const { rows, problems } = await recordsOf(opened.openAgain());
    expect([rows.length, problems]).toEqual([5_000, []]);
  });

  test('that is killed leaves a store that doctor finds incomplete, and that a service completes at its start', async () => {
    await kill();
    const found = await runCommand(['doctor'], opened);
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('has left out subscription_activation')]);
    const built: unknown[] = [];
    const events = { onConnectionError: () => undefined, onIndexes: (what: unknown) => built.push(what) };
    await (await openReadyStore(readConfig(opened.environment), events)).close();
    const names = expect.arrayContaining(['subscription_activation', 'subscription_email']);
    expect(built).toEqual([{ names }, { names, seconds: expect.any(Number) }]);
    expect((await readIndexes(opened)).all).toEqual(whole.all);
    expect((await runCommand(['doctor'], opened)).code).toBe(0);
  });
});

describe.skipIf(onCluster)('two first loads into postgres', () => {
  let opened: KeptTestStore;
  let whole: Indexes;
  beforeEach(async () => {
    opened = await openPostgres(testRole);
    whole = await readIndexes(opened);
    for (const name of ['first', 'second']) await insertTenant(opened.store, name, 1);
  });
  afterEach(() => opened.close());
  /** Loads into the other tenant; `end` is called when all its rows are stored. */
  const loadSecond = async (end: () => void) => {
    const second = (await findTenant(opened.store, 'second'))?.tenant as TenantId;
    return importRecords(opened.store, second, Readable.from([ndjson]), {
      ...options,
      defersIndexes: true,
      onCounts: end,
    });
  };

  test('neither ends before the indexes exist, and building them beside a load leaves them to it', async () => {
    const ends: string[] = [];
    let ending: Promise<unknown> | undefined;
    await load(opened, true, async (before) => {
      const stored = Promise.withResolvers<void>();
      ending = loadSecond(stored.resolve).then(async () => ends.push(...(await readIndexes(opened)).all));
      await stored.promise;
      await opened.store.buildIndexes();
      expect((await readIndexes(opened)).all).toEqual(before.all);
      expect(before.all.length).toBeLessThan(whole.all.length);
      expect(ends).toEqual([]);
    });
    expect((await readIndexes(opened)).all).toEqual(whole.all);
    await ending;
    expect(ends).toEqual(whole.all);
  });

  test('one that fails ends beside the other, and leaves the indexes to it', async () => {
    const broken = async function* () {
      yield ndjson.subarray(0, -1_000);
      throw new Error('the source broke');
    };
    await load(opened, true, async () => {
      const second = (await findTenant(opened.store, 'second'))?.tenant as TenantId;
      const failing = importRecords(opened.store, second, broken(), { ...options, defersIndexes: true });
      await expect(failing).rejects.toThrow('the source broke');
    });
    expect((await readIndexes(opened)).all).toEqual(whole.all);
  });

  test('entries of the audit log are added meanwhile', async () => {
    await load(opened, true, async () => {
      const entry = { actor: { kind: 'service', id: null, name: null }, address: null, action: 'doctor.run' } as const;
      const event = {
        ...entry,
        tenant: null,
        clientId: null,
        outcome: 'ok',
        error: null,
        correlationId: null,
      } as const;
      const audit = createAuditLog({ store: opened.store, now: () => 1, write: () => undefined });
      await audit.record([{ ...event, details: {} }]);
    });
  });

  test('the indexes are built while an entry of the audit log is being added', { timeout: 20_000 }, async () => {
    const adding = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await adding.connect();
    await load(opened, true, async () => {
      await adding.query('begin');
      await adding.query(`insert into audit_entry (recorded_at, actor_kind, action, outcome, details)
        values (1, 'service', 'doctor.run', 'ok', '{}')`);
    });
    expect((await readIndexes(opened)).all).toEqual(whole.all);
    await adding.end();
  });
});

describe('a first load into the embedded store', () => {
  let opened: KeptTestStore;
  beforeEach(async () => {
    opened = await engines[0].openTestStore();
    await insertTenant(opened.store, 'first', 1);
  });
  afterEach(() => opened.close());

  test('keeps all indexes if another process has the store open', async () => {
    const { all } = await readIndexes(opened);
    opened.openAgain();
    await load(opened, true, (indexes) => expect(indexes.all).toEqual(all));
  });

  test('excludes other processes until it ends', async () => {
    await load(opened, true, () => expect(() => opened.openAgain()).toThrow('no first import may be running'));
    await opened.openAgain().checkReady();
  });
});
