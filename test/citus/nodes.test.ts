import { globSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { createAuditLog } from '../../packages/service/audit/audit-log.ts';
import { eraseRecords } from '../../packages/service/import/erase-records.ts';
import { eraseRejections } from '../../packages/service/import/erase-rejections.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { loadAtOnce } from '../../packages/service/import/load-at-once.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { eraseSubscriptions } from '../../packages/service/operator/erase.ts';
import { loadRecords } from '../../packages/service/operator/load.ts';
import type { OperatorContext } from '../../packages/service/operator/perform.ts';
import { requireTenant } from '../../packages/service/operator/require-tenant.ts';
import { createTenant, deleteTenant, showTenant } from '../../packages/service/operator/tenants.ts';
import { exportSubscriptions } from '../../packages/service/report/export-subscriptions.ts';
import { getChangesSummary } from '../../packages/service/report/get-changes-summary.ts';
import { getSubscription, getSubscriptionHistory } from '../../packages/service/report/get-subscription.ts';
import { getSubscriptionFindings } from '../../packages/service/report/get-subscription-findings.ts';
import { getSubscriptionSummary } from '../../packages/service/report/get-subscription-summary.ts';
import { listChanges } from '../../packages/service/report/list-changes.ts';
import { listSubscriptions } from '../../packages/service/report/list-subscriptions.ts';
import { parseReport } from '../../packages/service/report/parse.ts';
import { parseChanges, parseChangesSummary } from '../../packages/service/report/parse-changes.ts';
import { parseSearch } from '../../packages/service/report/parse-search.ts';
import { parseSummary } from '../../packages/service/report/parse-summary.ts';
import type { ReportContext } from '../../packages/service/report/report-query.ts';
import { checkCounts } from '../../packages/service/storage/counts/check.ts';
import { countRecords } from '../../packages/service/storage/counts/range.ts';
import { checkRecords } from '../../packages/service/storage/maintenance/check-records.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { dateCommits } from '../../packages/service/storage/tables/date-commits.ts';
import { sweepTombstones } from '../../packages/service/storage/tables/history.ts';
import {
  putRejections,
  readRejections,
  removeRejections,
} from '../../packages/service/storage/tables/import-history.ts';
import { findSubscriptionIds } from '../../packages/service/storage/tables/subscription-ids.ts';
import { readHistoryUse, sweepVersions } from '../../packages/service/storage/tables/sweep-versions.ts';
import {
  findAnyTenant,
  findTenant,
  insertTenant,
  listNamesNear,
  listTenants,
} from '../../packages/service/storage/tables/tenant.ts';
import { findRevision } from '../../packages/service/storage/tables/tenant-revision.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { postgresUrl } from '../support/engines.ts';
import { testRole, urlOf } from '../support/global-setup.ts';
import { removeRecords } from '../support/remove-records.ts';
import { subscriptionRow } from '../support/rows.ts';
import { query } from './start-cluster.ts';
import { type WatchedCoordinator, watchNodes } from './watch-nodes.ts';

// Which nodes of a cluster take part in each operation (docs/operators/citus.md): what concerns one
// tenant must not fail because of a node that another tenant is on.

type Case = (store: Store, tenant: TenantId) => Promise<unknown>;

/** The names of the members of `Store` that take a tenant first. */
type TenantOperation = {
  [Name in keyof Store]-?: FirstOf<Store[Name]> extends TenantId ? Name : never;
}[keyof Store];

/** The type of a function's first parameter; `unknown` if there is none, or of a generic type. */
type FirstOf<T> = T extends (first: infer First, ...others: never[]) => unknown
  ? [First] extends [never]
    ? unknown
    : First
  : unknown;

const rowsFrom = (first: number, count: number, given: Partial<Parameters<typeof subscriptionRow>[0]> = {}) =>
  Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${first + n}`, createdDate: first + n, ...given }));

/** One case for each operation of one tenant; the compiler, and a test, name the missing ones. */
const operations: Readonly<Record<TenantOperation, Case>> = {
  readTenant: (store, tenant) => store.readTenant(tenant, (reader) => reader.all(everyId)),
  readTenantOnce: (store, tenant) => store.readTenantOnce(tenant, { sql: everyId, values: [] }),
  async openSnapshot(store, tenant) {
    const snapshot = await store.openSnapshot(tenant, 10_000);
    try {
      for await (const batch of snapshot.streamLines(everyId, [], 10)) expect(batch.rows).toBeGreaterThan(0);
    } finally {
      await snapshot.close();
    }
  },
  async loadSubscriptions(store, tenant) {
    await store.loadSubscriptions(tenant, rowsFrom(1_000, 30)); // new
    await store.loadSubscriptions(tenant, rowsFrom(0, 30, { status: 'EXPIRED' })); // changed
    await store.loadSubscriptions(tenant, rowsFrom(0, 10), true, 'import-1');
    await removeRecords(store, tenant, ['id40', 'id41', 'missing']);
    await store.loadSubscriptions(tenant, rowsFrom(40, 2)); // they had tombstones
  },
  async openStagedLoad(store, tenant) {
    for (const dryRun of [true, false]) {
      const replacement = await store.openStagedLoad(tenant);
      await replacement.add([...rowsFrom(20, 30, { status: 'EXPIRED' }), ...rowsFrom(2_000, 10)]);
      await replacement.finish(dryRun);
      await replacement.close();
    }
  },
  async lockImport(store, tenant) {
    await (await store.lockImport(tenant))?.release();
  },
  async deleteSubscriptions(store, tenant) {
    await store.deleteSubscriptions(tenant, ['id1', 'id2', 'missing']);
    await store.deleteSubscriptions(tenant, ['id3'], { column: 'email', value: 'ada@example.com' });
  },
  async eraseRows(store, tenant) {
    while ((await store.eraseRows(tenant, 50)) > 0);
  },
  async sweepTombstones(store, tenant) {
    expect(await store.sweepTombstones(tenant, 3, 10)).toBe(2);
  },
  async sweepHistory(store, tenant) {
    const sweep = { oldest: 3, fromSeconds: 1_700_000_000, keeps: true };
    expect((await store.sweepHistory(tenant, sweep, 10)).versions).toBeGreaterThan(0);
  },
  recountSubscriptions: (store, tenant) => store.recountSubscriptions(tenant, 1_700_000_000),
  writeTenant: (store, tenant) =>
    store.writeTenant(tenant, [
      { sql: "delete from import_rejection where tenant_id = $1 and import_id < ''", values: [] },
    ]),
};

const everyId = 'select id from subscription where tenant_id = $1 order by id';

/** The other members of `Store`, and why they have no case. */
const withoutTenant: Readonly<Record<Exclude<keyof Store, TenantOperation>, string>> = {
  ...{ engine: 'a constant', servingBatchRowsMax: 'a constant', tenantBytesMax: 'a constant' },
  within: 'returns a view of the store',
  ...{ isHanging: 'sends nothing', poolUse: 'sends nothing', observePoolWaits: 'sends nothing' },
  ...{ watch: 'listens on the coordinator', changeMark: 'sends nothing', changeMarkAgeMs: 'sends nothing' },
  ...{ readDirectory: 'below: its statements', writeDirectory: 'below: its statements' },
  transact: 'below: its statements',
  eraseRemovedKeys: 'keys are on the coordinator',
  migrate: 'changes the tables of all tenants',
  checkReady: 'migrations are on the coordinator',
  ...{ examine: 'reads the catalogs of all nodes', readSize: 'reads the size of the coordinator' },
  close: 'closes connections',
};

const context = (store: Store): ReportContext => ({
  store,
  limits: defaultPageLimits,
  reportUrl: 'http://localhost/r',
  now: () => Math.floor(Date.now() / 1000),
});

const failed = (error: unknown): never => {
  throw error;
};

const operator = (store: Store): OperatorContext => {
  const { now } = context(store);
  const audit = createAuditLog({ store, now, write: () => undefined });
  return { store, now, audit, actor: { kind: 'command', user: 'test' }, onUnrecorded: failed };
};

async function drain(store: Store, tenant: TenantId, text: string): Promise<void> {
  const report = await exportSubscriptions(context(store), tenant, parseReport(text, context(store), 'json'), 10_000);
  for await (const { bytes } of report.pieces) expect(bytes.length).toBeGreaterThan(0);
  await report.close();
}

const source = (seed: number) =>
  Readable.from(
    [...syntheticRows({ count: 30, seed, until: 1_700_000_000 })].map((row) => Buffer.from(`${JSON.stringify(row)}\n`)),
  );

const reading = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
const list =
  (text: string): Case =>
  (store, tenant) =>
    listSubscriptions(context(store), tenant, parseReport(text, context(store), 'json'));
const listed = (members: object): Buffer =>
  Buffer.from(
    JSON.stringify({ id: Array.from({ length: 20 }, (_, n) => `id${n}`), iccid: ['8944500102198304826'], ...members }),
  );
const summarise =
  (text: string): Case =>
  (store, tenant) =>
    getSubscriptionSummary(store, tenant, parseSummary(text, context(store)));
const changes =
  (text: string): Case =>
  (store, tenant) =>
    listChanges(context(store), tenant, parseChanges(text, context(store), 'json'));

/** What the service does for one tenant by these operations, and by statements of the directory. */
const uses: Readonly<Record<string, Case>> = {
  insertTenant: (store) => insertTenant(store, `new-${crypto.randomUUID()}`, 1),
  createTenant: (store) => createTenant(operator(store), `new-${crypto.randomUUID()}`),
  findTenant: (store, tenant) => findTenant(store, tenant),
  findAnyTenant: (store, tenant) => findAnyTenant(store, tenant),
  findRevision: (store, tenant) => findRevision(store, tenant),
  'listSubscriptions: first page': list('size=10'),
  'listSubscriptions: deep page': list('size=10&page=4'),
  'listSubscriptions: filters': list('status=ACTIVE&after=1970-01-01T00:00:10Z&product-id=product-1&sort=-createdDate'),
  'listSubscriptions: search': list('iccid=8944500102198304826&size=5&page=2'),
  'listSubscriptions: lists': (store, tenant) =>
    listSubscriptions(context(store), tenant, parseSearch(listed({ size: 5, page: 2 }), context(store), 'json')),
  'exportSubscriptions: lists of the past': async (store, tenant) => {
    const asked = listed({ all: true, 'as-of': '2' });
    const whole = await exportSubscriptions(
      context(store),
      tenant,
      parseSearch(asked, context(store), 'ndjson'),
      10_000,
    );
    await whole.close();
  },
  'exportSubscriptions: now': (store, tenant) => drain(store, tenant, 'all=true&format=ndjson'),
  'exportSubscriptions: filtered': (store, tenant) => drain(store, tenant, 'all=true&format=csv&status=ACTIVE'),
  'exportSubscriptions: past': (store, tenant) => drain(store, tenant, 'all=true&format=ndjson&as-of=2'),
  'getSubscriptionSummary: total': summarise(''),
  'getSubscriptionSummary: by two dimensions': summarise('by=status,product-id'),
  'getSubscriptionSummary: past': summarise('by=status&as-of=2'),
  getSubscription: (store, tenant) => getSubscription(context(store), tenant, 'id5'),
  'getSubscription: past': (store, tenant) => getSubscription(context(store), tenant, 'id5', { asOf: { revision: 2 } }),
  getSubscriptionHistory: (store, tenant) => getSubscriptionHistory(context(store), tenant, 'id5'),
  getSubscriptionFindings: (store, tenant) => getSubscriptionFindings(context(store), tenant, 1_700_000_000, 10_000),
  'listChanges: first': changes('size=10'),
  'listChanges: since an instant': changes('since=2026-01-01T00:00:00Z&size=10'),
  'listChanges: newest first': changes('order=newest&kind=removed&size=10'),
  'listChanges: with the previous state': changes('before=true&kind=changed&size=10'),
  getChangesSummary: (store, tenant) =>
    getChangesSummary(context(store), tenant, parseChangesSummary('since=2026-01-01T00:00:00Z', context(store))),
  eraseRejections: (store, tenant) => eraseRejections(store, tenant, ['8944500102198304826']),
  countRecords: (store, tenant) => countRecords(store, tenant),
  'doctor: counts': (store, tenant) => store.readTenant(tenant, checkCounts),
  'doctor: records': (store, tenant) => store.readTenant(tenant, (reader) => checkRecords(reader)),
  importRecords: (store, tenant) => importRecords(store, tenant, source(1), reading),
  loadRecords: (store, tenant) =>
    loadRecords(operator(store), {
      ...reading,
      tenant,
      via: 'command',
      source: { open: () => Readable.from([Buffer.from('{}\n')]) },
      flags: { replace: false, strict: false, 'dry-run': false },
      errors: [],
      errorsMax: 1,
    }),
  'loadAtOnce: strictly': (store, tenant) => loadAtOnce(store, tenant, source(2), { ...reading, replace: false }),
  'loadAtOnce: a replacement': (store, tenant) =>
    loadAtOnce(store, tenant, source(2), { ...reading, replace: true, remove: 58 }),
  putRejections: (store, tenant) => putRejections(store, tenant, 'import-2', '{}\n'),
  readRejections: (store, tenant) => readRejections(store, tenant, 'import-2'),
  removeRejections: (store, tenant) => removeRejections(store, tenant, 'import-3', 10),
  findSubscriptionIds: (store, tenant) => findSubscriptionIds(store, tenant, { column: 'iccid', value: '1' }),
  eraseRecords: (store, tenant) =>
    eraseRecords(store, tenant, () => new Set(['id7', 'id8']), { column: 'iccid', value: '1' }),
  eraseSubscriptions: (store, tenant) => eraseSubscriptions(operator(store), tenant, { email: 'ada@example.com' }),
  dateCommits: (store, tenant) => dateCommits(store, tenant, 1_700_000_000),
  showTenant: (store, tenant) => showTenant({ store }, tenant),
  requireTenant: (store, tenant) => requireTenant(store, tenant),
  deleteTenant: (store, tenant) => deleteTenant(operator(store), tenant),
};

/** Functions of one tenant that cases above run, by the name of the case. */
const parts: Readonly<Record<string, keyof typeof uses>> = {
  ...{
    runReport: 'listSubscriptions: first page',
    readPage: 'listSubscriptions: first page',
  },
  ...{ importWhole: 'importRecords', withImportLock: 'importRecords', withWriteLock: 'deleteTenant' },
  ...{ beginDeletion: 'deleteTenant', finishDeletion: 'deleteTenant', removeImports: 'deleteTenant' },
  ...{ readOwners: 'eraseSubscriptions', settle: 'exportSubscriptions: past' },
  ...{ settleInstant: 'exportSubscriptions: past', settleSince: 'listChanges: since an instant' },
  ...{ interruptImports: 'loadRecords', interruptDead: 'showTenant', resolveMapping: 'showTenant' },
};

/** What concerns all tenants, and asks all nodes. */
const several: Readonly<Record<string, Case>> = {
  'listTenants: the list of all tenants': (store) => listTenants(store),
  'listNamesNear: the names beside one that does not exist': (store) => listNamesNear(store, 'nodes', 10),
  'readHistoryUse: the metrics of all histories': (store) =>
    readHistoryUse(store, { nowSeconds: 1_700_000_000, days: 30 }),
  'sweepVersions: the regular sweep of all tenants': (store) =>
    sweepVersions(store, { nowSeconds: 1_700_000_000, days: 30 }),
  'sweepTombstones: the regular sweep of all tenants': (store) =>
    sweepTombstones(store, { nowSeconds: 1_700_000_000, days: 90 }),
};

describe.skipIf(!inject('isCluster'))('the nodes of a cluster', () => {
  const database = `subreport_nodes_${process.pid}`;
  let superuser: string;
  let coordinator: WatchedCoordinator;
  let store: Store;

  const makeTenant = async (): Promise<TenantId> => {
    const name = `nodes-${crypto.randomUUID()}`;
    await insertTenant(store, name, 1);
    const tenant = (await findTenant(store, name))?.tenant as TenantId;
    await store.loadSubscriptions(tenant, rowsFrom(0, 60));
    await store.loadSubscriptions(tenant, rowsFrom(0, 20, { status: 'DEPLETED', email: 'ada@example.com' }));
    await removeRecords(store, tenant, ['id58', 'id59']);
    return tenant;
  };

  /** The address of a tenant's node, as `WatchedCoordinator` names it. */
  const nodeOf = async (tenant: TenantId): Promise<string> => {
    const [node] = await query(
      superuser,
      `select nodename, nodeport from citus_shards
       where shardid = get_shard_id_for_distribution_column('subscription', '${tenant}')`,
    );
    return `${testRole}@${node?.nodename}:${node?.nodeport}`;
  };

  beforeAll(async () => {
    const url = await postgresUrl();
    superuser = urlOf(url, database, 'postgres');
    await createDatabase(url, database, { owner: testRole });
    await query(superuser, `alter role ${testRole} in database ${database} set citus.log_remote_commands = on`);
    coordinator = await watchNodes(urlOf(url, database, testRole));
    store = openStore({ databaseUrl: coordinator.url, dataDir: '', poolSize: 4, onConnectionError: () => undefined });
    await store.migrate();
  });
  afterAll(async () => {
    await store.close();
    coordinator.close();
    await dropDatabase(await postgresUrl(), database);
  });

  const oneTenant = Object.entries({ ...operations, ...uses });
  test.each(oneTenant)('%s asks the node of its tenant alone, which prepares no transaction', async (name, work) => {
    const tenant = await makeTenant();
    const node = await nodeOf(tenant);
    coordinator.take();
    await work(store, tenant);
    const asked = coordinator.take();
    // the coordinator acknowledges a prepared transaction before it can be read
    expect([...asked.values()].flat().filter((command) => command.includes('PREPARE'))).toEqual([]);
    if (['insertTenant', 'createTenant'].includes(name)) expect(asked.size).toBe(1);
    else if (name === 'lockImport') expect(asked).toEqual(new Map());
    else expect([...asked.keys()], JSON.stringify([...asked], undefined, 1)).toEqual([node]);
  });

  test.each(Object.entries(several))('%s asks all nodes', async (_name, work) => {
    const tenant = await makeTenant();
    coordinator.take();
    await work(store, tenant);
    expect(coordinator.take().size).toBeGreaterThan(1);
  });

  test('every operation of the store has a case, or a reason for none', () => {
    const members = new Set([store, Object.getPrototypeOf(store)].flatMap((of) => Object.getOwnPropertyNames(of)));
    // `change` is what the operations of a change call
    for (const name of ['constructor', 'change']) members.delete(name);
    const known = Object.keys({ ...operations, ...withoutTenant });
    expect(known).toEqual(expect.arrayContaining([...members]));
  });
});

test('every function that reads or changes one tenant has a case', () => {
  const names = functionsOfOneTenant();
  expect(names.length).toBeGreaterThan(30);
  const known = Object.keys({ ...operations, ...uses, ...parts }).map((name) => name.split(':')[0]);
  // clients are on the coordinator; the names are those of all tenants, which a sweep concerns too
  const others = ['listClients', 'listNamesNear', 'requireAnyTenant', 'sweepNoted'];
  expect(names.filter((name) => !known.includes(name))).toEqual(others);
});

/** The exported functions that get the store, or a context with it, and a tenant or its name. */
function functionsOfOneTenant(): readonly string[] {
  const folder = new URL('../../packages/service/', import.meta.url).pathname;
  const files = globSync(`${folder}{auth,import,operator,report,storage}/**/*.ts`);
  const declared =
    /^export (?:async )?(?:function\*? (\w+)(?:<.*?>)?\(([\s\S]*?)\): |const (\w+) = (?:async )?\(([\s\S]*?)\)[^=]* =>)/gm;
  const names = files
    .filter((file) => !/\.test\.ts$|storage\/(?:sqlite|postgres)\//.test(file))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(declared)])
    .map(([, name, parameters, constant, others]) => ({
      name: name ?? constant ?? '',
      parameters: parameters ?? others ?? '',
    }))
    .filter(({ parameters }) => /\b(?:tenant|name): (?:TenantId|string)\b/.test(parameters))
    .filter(({ parameters }) => /: (?:Store|Directory|Reading|\w+Context|Pick<\w+Context)\b/.test(parameters))
    .map(({ name }) => name);
  return [...new Set(names)].toSorted();
}
