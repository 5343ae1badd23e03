import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { type CutConnection, type CutPoint, openCutConnection } from '../../../../test/support/cut-connection.ts';
import { engines, openPostgres, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { clock, startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { ImportError } from '../../import/error.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { performInSteps } from '../../operator/perform.ts';
import { insertCommit } from '../../storage/commit/statements.ts';
import { openStore } from '../../storage/open-store.ts';
import { listAuditEntries } from '../../storage/tables/audit-entry.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';
import { changingRequests } from './changing-requests.ts';

/** Tables that an action changes, and the entries and responses that belong to it. */
const tables = [
  ...['tenant', 'client', 'client_secret', 'refresh_family', 'operator_token', 'auth_key', 'subscription'],
  ...['audit_entry'],
];

/** Direct access to a test's database. */
interface Database {
  /** Runs statements of this engine. */
  run(statements: Readonly<Record<'sqlite' | 'postgres', string>>): Promise<void>;
  /** All rows of the tables. */
  dump(): Promise<Readonly<Record<string, readonly object[]>>>;
  close(): Promise<void>;
}

async function openDatabase({ environment }: TestStore): Promise<Database> {
  const { DATABASE_URL: url, DATA_DIR: folder = '' } = environment;
  const dumpBy = async (select: (sql: string) => Promise<object[]> | object[]) =>
    Object.fromEntries(
      await Promise.all(tables.map(async (name) => [name, await select(`select * from ${name} order by 1, 2`)])),
    );
  if (url === undefined) {
    const database = new DatabaseSync(join(folder, 'subreport.db'));
    return {
      run: async ({ sqlite }) => database.exec(sqlite),
      dump: () => dumpBy((sql) => database.prepare(sql).all()),
      close: async () => database.close(),
    };
  }
  const client = await connectPostgres(url);
  return {
    run: async ({ postgres }) => void (await client.query(postgres)),
    dump: () => dumpBy(async (sql) => (await client.query(sql)).rows),
    close: () => client.end(),
  };
}

/** The statements that make writes of a table fail, by an error or by the end of the connection. */
const failing = (when: string, table: string, how = "raise exception 'planted'") => ({
  sqlite: `create trigger planted before ${when} on ${table} begin select raise(abort, 'planted'); end`,
  postgres: `create function planted() returns trigger language plpgsql as $$ begin ${how}; return new; end $$;
    create trigger planted before ${when} on ${table} for each row execute function planted()`,
});
const mended = (table: string) => ({
  sqlite: 'drop trigger planted',
  postgres: `drop trigger planted on ${table}; drop function planted()`,
});
const killed = 'perform pg_terminate_backend(pg_backend_pid())';

describe.each(engines)('an action is done and recorded, or neither, on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let management: TestManagement;
  let database: Database;
  let token: string;
  beforeAll(async () => {
    opened = await openTestStore();
    management = await startManagement(opened);
    database = await openDatabase(opened);
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
    // its use is recorded once a minute
    await management.send('GET', '/operator/v1/tenants', { token });
  });
  afterAll(async () => {
    await database.close();
    await management.close();
  });
  const send = (operation: string, path = '', body: object | undefined) => {
    const { method } = operatorOperations[operation as keyof typeof operatorOperations];
    const headers = {
      ...(operation === 'loadSubscriptions' && { 'content-type': 'application/x-ndjson' }),
    };
    return management.send(method, `/operator/v1${path}`, { token, headers, ...(body && { body }) });
  };

  const faults = [
    ['its entry is rejected', 'insert', 'audit_entry', undefined],
    ['its connection is killed at its entry', 'insert', 'audit_entry', killed],
  ] as const;

  test.each(changingRequests)('%s fails, and changes nothing, if %s cannot be recorded', async (...request) => {
    const [operation, , path, body] = request as [string, string, string, object?];
    for (const [what, when, table, how] of faults) {
      if (how === killed && engine === 'sqlite') continue;
      const before = await database.dump();
      await database.run(failing(when, table, how));
      const { status } = await send(operation, path, body);
      await database.run(mended(table));
      // a refused action changes nothing anyway
      const { audit_entry: entries, ...after } = await database.dump();
      const { audit_entry: entriesBefore, ...unchanged } = before;
      expect([what, after]).toEqual([what, unchanged]);
      if (status >= 400 && status < 500) continue;
      expect([what, status]).toEqual([what, expect.toSatisfy((code: number) => code >= 500)]);
      const added = (entries ?? []).slice(entriesBefore?.length) as { outcome: string }[];
      expect([what, added.filter(({ outcome }) => outcome === 'ok')]).toEqual([what, []]);
    }
    expect((await send(operation, path, body)).status).toBeLessThan(500);
  });

  test('an action in several steps whose end cannot be recorded is reported as done, and logged', async () => {
    await send('createTenant', '/tenants', { tenant: 'ending' });
    const onlyEnds = failing(
      'insert',
      'audit_entry',
      "if new.outcome <> 'started' then raise exception 'planted'; end if",
    );
    await database.run({
      ...onlyEnds,
      sqlite: onlyEnds.sqlite.replace(' begin ', " when new.outcome <> 'started' begin "),
    });
    const erased = await send('eraseSubscriptions', '/tenants/ending/subscriptions/erase', { ids: ['c3ViMQ'] });
    await database.run(mended('audit_entry'));
    expect([erased.status, erased.body]).toEqual([200, expect.objectContaining({ asked: 1, missing: 1 })]);
    expect(management.logText()).toContain('its end could not be recorded');
    expect(management.logText()).toMatch(/"id":null,[^\n]*"action":"subscription.erase"[^\n]*"outcome":"ok"/);
  });

  test('an action that is refused gets its own error even if its entry cannot be recorded', async () => {
    await database.run(failing('insert', 'audit_entry'));
    const refused = await send('createClient', '/clients', { tenant: 'nowhere' });
    await database.run(mended('audit_entry'));
    expect([refused.status, refused.body.type]).toEqual([404, 'NOT_FOUND']);
    expect(management.logText()).toMatch(/"id":null,[^\n]*"action":"client.create"[^\n]*"outcome":"refused"/);
  });

  test('a load that was refused as a whole is recorded as refused, with its reason', async () => {
    const { context } = management;
    const refused = new ImportError('BAD_ROWS', 'a row is invalid');
    const load = { name: 'records.load', target: {}, refusalOf: () => refused } as const;
    await performInSteps(context, load, async () => ({}));
    const { entries } = await listAuditEntries(context.store, { action: 'records.load' }, { limit: 2 });
    expect(entries.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['refused', 'BAD_ROWS'],
      ['started', null],
    ]);
  });

  test('a read whose use of a token or a session cannot be recorded gets its response, and the log says why', async () => {
    const page = { 'sec-fetch-site': 'same-origin' };
    const signedIn = await management.send('POST', '/console/session', { body: { token }, headers: page });
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';');
    clock.seconds += 3_600 / 4;
    for (const table of ['operator_token', 'operator_session']) {
      const before = await database.dump();
      const logged = management.logText().length;
      await database.run(failing('update', table));
      const read = await (table === 'operator_token'
        ? management.send('GET', '/operator/v1/tenants', { token })
        : management.send('GET', '/console/operator/v1/tenants', { headers: { ...page, cookie } }));
      await database.run(mended(table));
      expect([table, read.status]).toEqual([table, 200]);
      expect(management.logText().slice(logged)).toContain('planted');
      expect((await database.dump()).operator_token).toEqual(before.operator_token);
    }
  });

  test('a process that is killed between a change and its entry changes nothing', async () => {
    const program = fileURLToPath(new URL('../../../../test/support/killed-action.ts', import.meta.url));
    const child = execFile(process.execPath, [program, 'killed'], { env: { ...process.env, ...opened.environment } });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    expect(await findTenant(opened.store, 'killed')).toBeUndefined();
    expect(await insertTenant(opened.store, 'killed', 1)).toBe(true);
  });

  test('a transaction is rolled back if its work throws, and the store goes on', async () => {
    const refused = opened.store.transact(async (directory) => {
      expect(await insertTenant(directory, 'refused', 1)).toBe(true);
      expect(await findTenant(directory, 'refused')).toMatchObject({ tenant: 'refused' });
      throw new RangeError('refused');
    });
    await expect(refused).rejects.toThrow(new RangeError('refused'));
    expect(await findTenant(opened.store, 'refused')).toBeUndefined();
  });

  test.runIf(engine === 'postgres')('a transaction in which a statement failed is not reported as done', async () => {
    const done = opened.store.transact(async (directory) => {
      await insertTenant(directory, 'half', 1);
      await directory.readDirectory('select 1 / (select 0) from tenant').catch(() => undefined);
      return 'done';
    });
    await expect(done).rejects.toThrow('every statement of the transaction must have succeeded');
    expect(await findTenant(opened.store, 'half')).toBeUndefined();
  });

  test('work that does not end by its deadline is rolled back, and cannot write later', async () => {
    const late = Promise.withResolvers<void>();
    let writing: Promise<unknown> | undefined;
    const ended = opened.store.within(performance.now() + 1_500).transact(async (directory) => {
      await insertTenant(directory, 'early', 1);
      writing = late.promise.then(() => insertTenant(directory, 'late', 1));
      await writing;
    });
    await expect(ended).rejects.toMatchObject({ name: 'StorageError', code: 'UNAVAILABLE' });
    late.resolve();
    await expect(writing).rejects.toThrow();
    expect(await findTenant(opened.store, 'early')).toBeUndefined();
    expect(await findTenant(opened.store, 'late')).toBeUndefined();
  });
});

describe('a commit whose connection is lost on postgres', () => {
  let opened: TestStore;
  let way: CutConnection;
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    opened = await openPostgres(testRole);
    way = await openCutConnection(opened.environment.DATABASE_URL ?? '');
    const options = { dataDir: '', poolSize: 2, operationMs: 15_000, onConnectionError: () => undefined };
    const store = openStore({ databaseUrl: way.url, ...options });
    management = await startManagement({ ...opened, store, close: () => store.close() });
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
    // its use is recorded once a minute
    await management.send('GET', '/operator/v1/tenants', { token });
  });
  afterAll(async () => {
    await management.close();
    way.close();
    await opened.close();
  });
  const unknown = 'Cannot tell whether the change was made: the database must confirm its commit; the outcome is not';
  /** Sends a change whose commit is cut; returns the response, and whether the change was made. */
  const changes = {
    async 'a new tenant'(tenant: string, point: CutPoint) {
      way.cutAt('commit', point);
      const sent = await management.send('POST', '/operator/v1/tenants', { token, body: { tenant } });
      return { sent, isMade: (await findTenant(opened.store, tenant)) !== undefined };
    },
    async 'a load'(tenant: string, point: CutPoint) {
      await insertTenant(opened.store, tenant, 1);
      way.cutAt('commit', point, insertCommit);
      const [body = {}] = syntheticRows({ count: 1, seed: 1, until: 1_767_225_600 });
      const headers = { 'content-type': 'application/x-ndjson' };
      const path = `/operator/v1/tenants/${tenant}/subscriptions`;
      const sent = await management.send('PUT', path, { token, headers, body });
      return { sent, isMade: (await findTenant(opened.store, tenant))?.revision === 1 };
    },
  };
  const cases = (Object.keys(changes) as (keyof typeof changes)[]).flatMap((change) => [
    [change, 'is made, and so said, if the server had committed', 'reply', undefined, '', true] as const,
    [change, 'is not made if the server had not', 'before', '2', 'must be reachable', false] as const,
    [change, 'is unknown if the server cannot be asked', 'for good', '2', unknown, true] as const,
  ]);

  test.each(cases)('%s %s', async (change, _what, point, retryAfter, detail: string, isMade) => {
    const { sent, isMade: wasMade } = await changes[change](`${change}-${point}`.replaceAll(' ', '-'), point);
    const { status, headers, body } = sent;
    const isError = status >= 400;
    expect([way.wasCut(), isError, headers['retry-after'], wasMade]).toEqual([true, detail !== '', retryAfter, isMade]);
    if (isError)
      expect([status, body.type, body.detail]).toEqual([503, 'UNAVAILABLE', expect.stringContaining(detail)]);
  });
});
