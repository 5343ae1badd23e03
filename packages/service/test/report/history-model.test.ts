import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { createAuditLog } from '../../audit/audit-log.ts';
import { eraseSubscriptions } from '../../operator/erase.ts';
import { getSubscription } from '../../report/get-subscription.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { beginHistory } from '../../storage/tables/history.ts';
import { sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';
import {
  adasEmail,
  adasVersion,
  countVersions,
  daySeconds,
  idOf,
  replaceAll,
  rowOf,
  type VersionOf,
} from './history-records.ts';
import { type Change, readerOfPast } from './read-past.ts';

const drawn = drawOne(engines, import.meta.url);

// Reports, summaries and records of random histories are kept as the service returned them at each
// revision. Later each is read again, and the changes between any two are compared with them.
// `HISTORY_RUNS=500` compares that many histories, and prints how much was compared.

const runsGiven = Number(process.env.HISTORY_RUNS ?? 0);

/** Queries whose reports are kept at each revision. */
const exportQueries = [
  'format=ndjson',
  'format=csv&sort=-expirationDate',
  'format=ndjson&status=ACTIVE,none&created-from=1970-01-01T00:00:04Z',
  'format=csv&product-id=product-1',
  `format=ndjson&email=${adasEmail}`,
];
const summaryQueries = [
  '',
  'by=status,day,month&created-from=1970-01-01T00:00:00Z&created-to=1970-01-09T00:00:00Z',
  'status=ACTIVE&by=product-id,plan-id',
  'status=none,DEPLETED&by=status,month',
  'plan-id=plan-2',
];

/** One step of a history. */
type Step =
  | { readonly kind: 'load' | 'replace'; readonly records: readonly VersionOf[] }
  | { readonly kind: 'load and remove'; readonly records: readonly VersionOf[]; readonly removed: readonly number[] }
  | { readonly kind: 'erase'; readonly ids: readonly number[] }
  | { readonly kind: 'erase a person' | 'recount' | 'sweep tombstones' | 'sweep versions' | 'restore' };

const drawnRecords = fc.uniqueArray(fc.record({ n: fc.nat(9), version: fc.nat(4) }), {
  maxLength: 8,
  selector: ({ n }) => n,
});
const drawnStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('load' as const), records: drawnRecords }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('replace' as const), records: drawnRecords }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('load and remove' as const),
      records: drawnRecords,
      removed: fc.array(fc.nat(9), { maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('erase' as const), ids: fc.array(fc.nat(9), { maxLength: 2 }) }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'sweep versions' }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...(['erase a person', 'recount', 'sweep tombstones', 'restore'] as const).map((kind): Step => ({ kind })),
    ),
  },
);

/** Days from one step to the next, and for how many versions are kept. */
const [stepDays, keptDays] = [11, 30];

/** A stored version: current from one revision until before another one, or still. */
interface Version extends VersionOf {
  readonly from: number;
  until?: number;
}

/** What was read at a revision. */
interface Moment {
  readonly revision: number;
  readonly exports: readonly string[];
  readonly summaries: readonly string[];
  readonly token: string;
  /** The records that have been erased since. */
  readonly erased: Set<number>;
}

/** What must be left of a history. */
class Model {
  readonly moments: Moment[] = [];
  /** The oldest revision that can be read; older tokens than `tokensFrom` are rejected. */
  from = 0;
  tokensFrom = 0;
  /** Whether a restore has discarded the history, and no other has begun. */
  #isDiscarded = false;
  #versions: Version[] = [];
  /** The revision on each day of a sweep. */
  readonly #noted: { readonly day: number; readonly revision: number }[] = [];

  /** Records have other texts now, and some others are removed. */
  change(records: readonly VersionOf[], revision: number, isRemoved: (n: number) => boolean): void {
    const next = new Map(records.map(({ n, version }) => [n, version]));
    const changed = this.#versions.filter(
      ({ n, version, until }) => until === undefined && (next.has(n) ? next.get(n) !== version : isRemoved(n)),
    );
    for (const version of changed) version.until = revision;
    const present = new Set(this.#versions.flatMap(({ n, until }) => (until === undefined ? [n] : [])));
    for (const [n, version] of next) if (!present.has(n)) this.#versions.push({ n, version, from: revision });
  }

  /** A revision was made. */
  revise(revision: number): void {
    const last = this.moments.at(-1)?.revision ?? 0;
    if (revision === last || !this.#isDiscarded) return;
    [this.from, this.#isDiscarded] = [last, false];
  }

  erase(isErased: (version: Version) => boolean): void {
    const gone = this.#versions.filter(isErased);
    this.#versions = this.#versions.filter((version) => !gone.includes(version));
    for (const { revision, erased } of this.moments)
      for (const { n, from, until = Number.POSITIVE_INFINITY } of gone)
        if (from <= revision && revision < until) erased.add(n);
  }

  /** Also the records that were removed, if a version of the person is left. */
  erasePerson(): void {
    const present = new Set(this.#versions.flatMap(({ n, until }) => (until === undefined ? [n] : [])));
    const owned = new Set(
      this.#versions
        .filter(({ n, version, until }) => version === adasVersion && (until === undefined || !present.has(n)))
        .map(({ n }) => n),
    );
    this.erase(({ n, version }) => version === adasVersion || owned.has(n));
  }

  sweep(day: number, revision: number): void {
    if (this.#isDiscarded) [this.from, this.#isDiscarded] = [revision, false];
    this.#noted.push({ day, revision });
    const old = this.#noted.filter((noted) => noted.day < day - keptDays);
    this.from = Math.max(this.from, old.at(-1)?.revision ?? 0);
    this.#versions = this.#versions.filter(({ until }) => until === undefined || until > this.from);
  }

  /** The former versions that are stored. */
  get former(): number {
    return this.#versions.filter(({ until }) => until !== undefined).length;
  }

  restore(revision: number): void {
    [this.from, this.tokensFrom, this.#isDiscarded] = [revision, revision, true];
  }
}

describe.each(drawn)('the history on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  let read: ReturnType<typeof readerOfPast>;
  let tenants = 0;
  const now = Math.floor(Date.now() / 1000);
  const compared = { moments: 0, refused: 0, 'erased records': 0, 'pairs of moments': 0, changes: 0 };

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: () => now + 3_600 };
    read = readerOfPast(context);
  });
  afterAll(() => opened.close());

  const revisionOf = async (tenant: TenantId): Promise<number> => (await findTenant(store, tenant))?.revision ?? 0;

  async function take(tenant: TenantId, step: Step, model: Model, day: number): Promise<void> {
    switch (step.kind) {
      case 'load':
        await store.loadSubscriptions(tenant, step.records.map(rowOf));
        return model.change(step.records, await revisionOf(tenant), () => false);
      case 'replace':
        await replaceAll(store, tenant, step.records);
        return model.change(step.records, await revisionOf(tenant), () => true);
      case 'load and remove': {
        const removed = step.removed.filter((n) => !step.records.some((record) => record.n === n));
        const rows = step.records.map(rowOf);
        await removeRecords(store, tenant, removed.map(idOf), rows);
        return model.change(step.records, await revisionOf(tenant), (n) => removed.includes(n));
      }
      case 'erase':
        await store.deleteSubscriptions(tenant, step.ids.map(idOf));
        return model.erase(({ n }) => step.ids.includes(n));
      case 'erase a person':
        await erasePerson(tenant);
        return model.erasePerson();
      case 'recount':
        return store.recountSubscriptions(tenant, now);
      case 'sweep tombstones': {
        const until = (await revisionOf(tenant)) - 3;
        if ((await store.sweepTombstones(tenant, until, 1_000)) > 0)
          model.tokensFrom = Math.max(model.tokensFrom, until);
        return;
      }
      case 'sweep versions':
        await sweepVersions(store, { nowSeconds: now + day * daySeconds, days: keptDays });
        return model.sweep(day, await revisionOf(tenant));
      case 'restore':
        await beginHistory(store, now);
        return model.restore(await revisionOf(tenant));
    }
  }

  async function erasePerson(tenant: TenantId): Promise<void> {
    const audit = createAuditLog({ store, now: () => now, write: () => undefined });
    const onUnrecorded = (error: unknown): never => {
      throw error;
    };
    const operator = { store, now: () => now, actor: { kind: 'command', user: 'test' }, audit, onUnrecorded } as const;
    await eraseSubscriptions(operator, tenant, { email: adasEmail });
  }

  /** Reads what a later read of the past must equal. */
  const remember = async (tenant: TenantId): Promise<Moment> => ({
    revision: await revisionOf(tenant),
    exports: await Promise.all(exportQueries.map(async (query) => (await read.exported(tenant, query)).body)),
    summaries: await Promise.all(summaryQueries.map((query) => read.summarised(tenant, query))),
    token: await read.tokenNow(tenant),
    erased: new Set(),
  });

  /** The older report with the changes since is the newer one; each change says what there was. */
  async function compareChanges(tenant: TenantId, older: Moment, newer: Moment, model: Model): Promise<void> {
    const changes = read.changesSince(tenant, older.token, 3);
    if (older.revision < model.tokensFrom) return expect(changes).rejects.toMatchObject({ code: 'RESYNC_REQUIRED' });
    if (older.revision < model.from) return expect(changes).rejects.toMatchObject({ code: 'HISTORY_NOT_KEPT' });
    const then = linesOf(left(older, older.exports[0]));
    expect(apply(then, await changes)).toEqual(linesOf(newer.exports[0] ?? ''));
    compared['pairs of moments'] += 1;
    compared.changes += (await changes).length;
  }

  /** A summary without its explanation, which names products of the present only. */
  const unexplained = (summary = ''): string => summary.replace(/"explanation":".*?","by"/, '"by"');

  async function comparePast(tenant: TenantId, moment: Moment, model: Model): Promise<void> {
    const { revision, exports, summaries, erased } = moment;
    if (revision < model.from) {
      compared.refused += 1;
      const past = read.exported(tenant, exportQueries[0] ?? '', revision);
      return expect(past).rejects.toMatchObject({ code: 'HISTORY_NOT_KEPT' });
    }
    for (const [index, query] of exportQueries.entries()) {
      const past = await read.exported(tenant, query, revision);
      expect(past.body).toBe(left(moment, exports[index]));
      expect(past.total).toBe(linesOf(past.body).size - (query.startsWith('format=csv') ? 1 : 0));
      expect([past.revision, past.erased]).toEqual([revision, erased.size]);
    }
    for (const [index, query] of summaryQueries.entries()) {
      const past = await read.summarised(tenant, query, revision);
      if (erased.size === 0) expect(unexplained(past)).toBe(unexplained(summaries[index]));
    }
    for (const [id, line] of linesOf(exports[0] ?? '')) {
      const record = getSubscription(context, tenant, id, { asOf: { revision } });
      if (erased.has(Number(id.slice(2)))) await expect(record).rejects.toMatchObject({ code: 'NOT_FOUND' });
      else expect((await record).record).toBe(line);
    }
    compared.moments += 1;
    compared['erased records'] += erased.size;
  }

  test('every kept revision is read byte for byte as it was, and the changes between two lead from one to the other', async () => {
    const run = fc.asyncProperty(fc.array(drawnStep, { minLength: 2, maxLength: 8 }), async (steps) => {
      tenants += 1;
      await insertTenant(store, `history-${tenants}`, 1_700_000_000);
      const tenant = (await findTenant(store, `history-${tenants}`))?.tenant as TenantId;
      const model = new Model();
      for (const step of [{ kind: 'load', records: [{ n: 1, version: 1 }] } as const, ...steps]) {
        await take(tenant, step, model, stepDays * model.moments.length);
        const moment = await remember(tenant);
        if (step.kind !== 'restore') model.revise(moment.revision);
        for (const older of model.moments) await compareChanges(tenant, older, moment, model);
        model.moments.push(moment);
      }
      for (const moment of model.moments) await comparePast(tenant, moment, model);
      const [stored] = await store.readTenant(tenant, (reader) => reader.all(countVersions));
      expect(Number(stored?.n)).toBe(model.former);
      expect((await store.readTenant(tenant, (reader) => checkRecords(reader))).problems).toEqual([]);
    });
    if (runsGiven === 0) return checkProperty(run, { least: 2, most: 40 });
    await fc.assert(run, { numRuns: runsGiven });
    console.info(`${runsGiven} histories: ${JSON.stringify(compared)}`);
  });
});

/** The lines of a report by the ids of their records. */
function linesOf(body: string): Map<string, string> {
  const lines = body.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [/"id":"([^"]+)"/.exec(line)?.[1] ?? line, line]));
}

/** What erasures have left of a report. */
function left({ erased }: Moment, body = ''): string {
  const isErased = (line: string) =>
    [...erased].map(idOf).some((id) => line.includes(`"id":"${id}"`) || line.startsWith(`${id},`));
  return body
    .split('\n')
    .filter((line) => !isErased(line))
    .join('\n');
}

/** Applies described changes to a copy; each must say what the copy has. */
function apply(copy: ReadonlyMap<string, string>, changes: readonly Change[]): Map<string, string> {
  const result = new Map(copy);
  for (const { kind, before, committed_at: at, import_id: _importId, ...record } of changes) {
    const had = copy.get(record.id);
    expect(before && JSON.stringify(before)).toBe(had);
    expect(kind).toBe(record.removed ? 'removed' : had === undefined ? 'added' : 'changed');
    expect(at).toMatch(/Z$/);
    if (record.removed) result.delete(record.id);
    else result.set(record.id, JSON.stringify(record));
  }
  return result;
}
