import fc from 'fast-check';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { findingKinds, SubscriptionFindings } from '../../../contract/findings.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import { checkRow } from '../../import/check-row.ts';
import { findingsMoment, getSubscriptionFindings } from '../../report/get-subscription-findings.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';
import { readRevision } from '../../storage/tables/tenant-revision.ts';

const chosen = drawOne(engines, import.meta.url);

const now = 1_700_000_000;
const moment = findingsMoment(now);

/** What the findings depend on; few values each, so that records often have one in common. */
interface Drawn {
  readonly n: number;
  readonly created: number;
  readonly activated: number;
  readonly ends: number;
  readonly status: string | null;
  readonly email: string | null;
  readonly sim: number;
  readonly device: string;
  readonly product: number;
  readonly name: string | undefined;
  readonly period: number | undefined;
  readonly unit: string | undefined;
  readonly plan: string | undefined;
}

const names = ['Europe', 'Europe "5 GB"', '","period":0,"', 'ÄÖ\\', ''];
const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    n: fc.nat(60),
    created: fc.nat(3),
    activated: fc.nat(3),
    ends: fc.oneof(fc.nat(3), fc.integer({ min: moment - 1, max: moment + 1 })),
    status: fc.constantFrom('ACTIVE', 'ACTIVE', 'ACTIVE', 'EXPIRED', null),
    email: fc.constantFrom('ada@example.com', null),
    sim: fc.oneof(fc.nat(30), fc.nat(1)),
    device: fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'of-1', 'of-2', 'of-3'),
    product: fc.nat(14),
    name: fc.constantFrom(...names, undefined),
    period: fc.constantFrom(0, 1, 30, 100, undefined),
    unit: fc.constantFrom('DAYS', undefined),
    plan: fc.constantFrom('plan', undefined),
  })
  // some devices have several records, all of one SIM
  .map((each) => (each.device.startsWith('of-') ? { ...each, sim: Number(each.device.slice(3)) } : each));

const idOf = (n: number): string => `id${n}`;
/** Whether the ICCID of a SIM has another digit in the place of its check digit. */
const isMistyped = (sim: number): boolean => sim % 3 === 2;

/** The first is rounded; the others have 19 digits with a check digit, or a wrong one. */
function simOf(n: number): string {
  const digits = `894450010219830${String(n).padStart(3, '0')}`;
  let sum = 0;
  for (const [at, digit] of [...digits].entries()) {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return digits + (n === 0 ? 0 : (10 - (sum % 10) + (isMistyped(n) ? 3 : 0)) % 10);
}

function rowOf({
  n,
  created,
  activated,
  ends,
  status,
  email,
  sim,
  device,
  product,
  name,
  period,
  unit,
  plan,
}: Drawn): SubscriptionRow {
  const checked = checkRow({
    id: idOf(n),
    status,
    createdDate: formatInstant(created),
    activationDate: formatInstant(activated),
    expirationDate: formatInstant(ends),
    product: { id: `product-${product}`, name, period, period_unit: unit, plan_id: plan },
    iccid: simOf(sim),
    device_id: device,
    email,
    auto_renew: 'true',
  });
  if ('faults' in checked) throw new TypeError(JSON.stringify(checked.faults));
  return checked.row;
}

type Finding = SubscriptionFindings['findings'][number];

/** The present records with the revision of their version, and when each revision was committed. */
class Model {
  readonly records = new Map<string, Drawn & { readonly revision: number }>();

  load(batch: readonly Drawn[], revision: number): void {
    const changed = batch.filter((each) => {
      const { revision: _, ...stored } = this.records.get(idOf(each.n)) ?? { revision: 0 };
      return JSON.stringify(stored) !== JSON.stringify(each);
    });
    for (const each of changed) this.records.set(idOf(each.n), { ...each, revision });
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.records.delete(id);
  }

  /** The expected findings, with revisions in the place of commit times. */
  findings(): (Omit<Finding, 'since'> & { since: number | undefined })[] {
    const all = [...this.records.values()];
    const active = all.filter(({ status }) => status === 'ACTIVE');
    const recordKind = (kind: string, found: typeof all, sinceOf = (each: (typeof all)[number]) => each.revision) => ({
      kind,
      count: found.length,
      since: least(found.map(sinceOf)),
      examples: found
        .toSorted((a, b) => b.created - a.created || (idOf(a.n) < idOf(b.n) ? 1 : -1))
        .slice(0, 10)
        .map(({ n }) => ({ ids: [idOf(n)] })),
    });
    const named = (found: typeof all) =>
      found.flatMap(({ name, ...rest }) => (name === undefined ? [] : { ...rest, name }));
    const shared = active.filter(({ device }) => device !== '');
    const sims = groups(active, ({ sim }) => simOf(sim)).filter(([, { length }]) => length > 1);
    const devices = groups(shared, ({ device }) => device).filter(
      ([, found]) => new Set(found.map(({ sim }) => sim)).size > 1,
    );
    const products = groups(all, ({ product }) => `product-${product}`)
      .map(([value, found]) => [value, groups(named(found), ({ name }) => name).map(([, same]) => same)] as const)
      .filter(([, byName]) => byName.length > 1);
    const rounded = all.filter(({ sim }) => sim === 0);
    const mistyped = all.filter(({ sim }) => isMistyped(sim));
    const isTyped = all.length - rounded.length > 2 * mistyped.length;
    const newest = (found: typeof all) => Math.max(...found.map(({ revision }) => revision));
    const idsOf = (found: typeof all) => found.map(({ n }) => idOf(n)).toSorted();
    return [
      recordKind(
        'no-status',
        all.filter(({ status }) => status === null),
      ),
      recordKind(
        'no-email',
        all.filter(({ email }) => email === null),
      ),
      recordKind(
        'created-after-activation',
        all.filter(({ created, activated }) => created > activated),
      ),
      recordKind(
        'ends-before-activation',
        all.filter(({ ends, activated }) => ends < activated),
      ),
      recordKind(
        'active-past-end',
        active.filter(({ ends }) => ends < moment),
        ({ ends }) => ends,
      ),
      recordKind(
        'period-zero',
        all.filter(({ period }) => period === 0),
      ),
      {
        kind: 'iccid-active-twice',
        count: sims.length,
        since: least(sims.map(([, found]) => newest(found))),
        examples: sims.slice(0, 10).map(([iccid, found]) => ({ iccid, ids: idsOf(found).slice(0, 10) })),
      },
      {
        kind: 'device-on-two-sims',
        count: devices.length,
        since: least(devices.map(([, found]) => newest(found))),
        examples: devices
          .slice(0, 10)
          .map(([device, found]) => ({ device_id: device, ids: idsOf(found).slice(0, 10) })),
      },
      {
        kind: 'product-with-two-names',
        count: products.length,
        since: least(products.map(([, byName]) => Math.max(...byName.map((same) => oldest(same))))),
        examples: products.slice(0, 10).map(([product, byName]) => ({
          product_id: product,
          ids: byName.map((same) => idsOf(same)[0] ?? '').toSorted(),
        })),
      },
      recordKind('iccid-rounded', rounded.length < 5 ? [] : rounded),
      recordKind('iccid-check-digit', isTyped ? mistyped : []),
      recordKind('iccid-lengths', []), // all have one length
    ];
  }
}

const least = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);
const oldest = (found: readonly { readonly revision: number }[]): number =>
  Math.min(...found.map(({ revision }) => revision));

function groups<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const found = Map.groupBy(items, keyOf);
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe.each(chosen)('findings on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  const createTenant = (name: string) => addTenant(store, name, 0);
  const find = async (tenant: TenantId): Promise<SubscriptionFindings> =>
    JSON.parse((await getSubscriptionFindings({ store }, tenant, moment, 15_000)).body) as SubscriptionFindings;
  const commitsOf = async (tenant: TenantId): Promise<ReadonlyMap<number, string>> => {
    const sql = 'select revision, committed_at from subscription_commit where tenant_id = $1';
    const rows = await store.readTenant(tenant, (reader) => reader.all(sql));
    return new Map(rows.map((row) => [Number(row.revision), formatInstant(Number(row.committed_at))]));
  };

  test('equal those of a model after any loads and removals, for each tenant alone', async () => {
    let runs = 0;
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.uniqueArray(drawn, { maxLength: 40, selector: ({ n }) => n }) },
      { weight: 1, arbitrary: fc.array(fc.nat(60).map(idOf), { minLength: 1, maxLength: 20 }) },
    );
    await checkProperty(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        runs += 1;
        const tenants = [await createTenant(`run-${runs}-a`), await createTenant(`run-${runs}-b`)] as const;
        for (const [index, tenant] of tenants.entries()) {
          const model = new Model();
          // the second tenant has the steps in another order
          for (const each of index === 0 ? steps : steps.toReversed()) {
            if (each.every((item) => typeof item === 'string')) {
              await store.deleteSubscriptions(tenant, each);
              model.remove(each);
            } else {
              const batch = each.filter((item) => typeof item !== 'string');
              await store.loadSubscriptions(tenant, batch.map(rowOf));
              model.load(batch, await store.readTenant(tenant, readRevision));
            }
          }
          // commits of one second would have one time
          const spread =
            'update subscription_commit set committed_at = 1700000000 + revision * 10 where tenant_id = $1';
          await store.writeTenant(tenant, [{ sql: spread, values: [] }]);
          const commits = await commitsOf(tenant);
          const found = await find(tenant);
          const expected = model.findings().map(({ since, ...finding }) => {
            const time = finding.kind === 'active-past-end' && since !== undefined ? formatInstant(since) : undefined;
            const at = time ?? (since === undefined ? undefined : commits.get(since));
            return { ...finding, ...(at !== undefined && { since: at }) };
          });
          const changed = commits.get(await store.readTenant(tenant, readRevision));
          expect(found).toEqual({
            total: model.records.size,
            evaluated_at: formatInstant(moment),
            ...(changed !== undefined && { changed_at: changed }),
            findings: expected,
          });
          expect(Check(SubscriptionFindings, found)).toBe(true);
        }
      }),
      { least: 5, most: 40 },
    );
  });

  test('have every kind of the contract, in its order, also without records', async () => {
    const { total, findings } = await find(await createTenant('empty'));
    expect([total, findings.map(({ kind }) => kind)]).toEqual([0, Object.keys(findingKinds)]);
    expect(
      findings.filter(({ count, since, examples }) => count > 0 || since !== undefined || examples.length > 0),
    ).toEqual([]);
  });

  test('of a product with one name are none, whatever else its records have', async () => {
    const tenant = await createTenant('one-name');
    const others = recordFields.filter(({ path: [, part], isOptional }) => isOptional && part && part !== 'name');
    const checked = [undefined, ...others].map((other, n) => {
      const part = other === undefined ? {} : { [other.path[1] ?? '']: other.type === 'integer' ? 1 : 'x' };
      const dates = {
        createdDate: formatInstant(0),
        activationDate: formatInstant(0),
        expirationDate: formatInstant(now),
      };
      const product = { id: 'p', name: 'Europe', ...part };
      return checkRow({ id: idOf(n), ...dates, product, iccid: simOf(1), device_id: '', auto_renew: 'true' });
    });
    await store.loadSubscriptions(
      tenant,
      checked.map((each) => ('row' in each ? each.row : expect.fail())),
    );
    const { findings } = await find(tenant);
    expect(findings.find(({ kind }) => kind === 'product-with-two-names')).toMatchObject({ count: 0 });
  });

  test('of an erased record are gone, and the others remain', async () => {
    const tenant = await createTenant('erased');
    const flawed = {
      created: 2,
      activated: 1,
      ends: 0,
      status: 'ACTIVE',
      email: null,
      device: 'a',
      product: 1,
      period: 0,
      unit: undefined,
      plan: undefined,
    };
    await store.loadSubscriptions(tenant, [
      rowOf({ ...flawed, n: 1, sim: 1, name: 'Ada' }),
      rowOf({ ...flawed, n: 2, sim: 1, name: 'Bob' }),
      rowOf({ ...flawed, n: 3, sim: 2, name: 'Bob' }),
    ]);
    const counts = async () =>
      Object.fromEntries((await find(tenant)).findings.map(({ kind, count }) => [kind, count]));
    const flaws = {
      'created-after-activation': 3,
      'ends-before-activation': 3,
      'no-email': 3,
      'active-past-end': 3,
      'period-zero': 3,
    };
    expect(await counts()).toMatchObject({
      ...flaws,
      'iccid-active-twice': 1,
      'device-on-two-sims': 1,
      'product-with-two-names': 1,
    });
    const { findings } = await find(tenant);
    for (const { kind, since } of findings.filter(({ count }) => count > 0))
      expect(since, kind).toMatch(kind === 'active-past-end' ? /^1970/ : /^20\d\d-/);
    await store.deleteSubscriptions(tenant, [idOf(1)]);
    expect(await counts()).toMatchObject({
      'period-zero': 2,
      'iccid-active-twice': 0,
      'device-on-two-sims': 1,
      'product-with-two-names': 0,
    });
    expect(JSON.stringify(await find(tenant))).not.toContain('"id1"');
  });
});

test.each(chosen)(
  'ICCIDs of every length on $engine: typing errors where most fit, and none without check digits',
  async ({ openTestStore }) => {
    const { store, close } = await openTestStore();
    const tenant = await addTenant(store, 'acme', 0);
    // (length, valid, wrong): with check digits, without, and of the longest
    const known = {
      15: '492901234567897'.slice(0, 15),
      19: '8944500102198304826',
      20: '89445001021983048264',
      22: '8944500102198304826008',
    };
    const isValid = (digits: string): boolean =>
      [...digits].reverse().reduce((sum, digit, at) => {
        const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
        return sum + (value > 9 ? value - 9 : value);
      }, 0) %
        10 ===
      0;
    const fitting = (digits: string): string =>
      Array.from({ length: 10 }, (_, last) => digits.slice(0, -1) + last).find(isValid) ?? digits;
    const typed = (digits: string): string =>
      fitting(digits).slice(0, -1) + ((Number(fitting(digits).at(-1)) + 1) % 10);
    const rows = Object.values(known).flatMap((digits, kind) =>
      // the third length has no check digits
      [fitting(digits), fitting(digits), typed(digits), ...(kind === 2 ? [typed(digits), typed(digits)] : [])].map(
        (iccid, at) => ({ ...rowOf({ ...plain, n: kind * 10 + at }), iccid }),
      ),
    );
    await store.loadSubscriptions(tenant, rows);
    const { findings }: SubscriptionFindings = JSON.parse(
      (await getSubscriptionFindings({ store }, tenant, moment, 15_000)).body,
    );
    expect(findings.find(({ kind }) => kind === 'iccid-check-digit')).toMatchObject({
      count: 3,
      examples: [{ ids: ['id32'] }, { ids: ['id2'] }, { ids: ['id12'] }],
    });
    await close();
  },
);

test.each(chosen)('ICCIDs of rare lengths on $engine: at least 5, each at most 1 of 20', async ({ openTestStore }) => {
  const { store, close } = await openTestStore();
  for (const [name, counts, expected] of [
    ['of 100', { 19: 95, 20: 5 }, 5],
    ['of 99', { 19: 94, 20: 5 }, 0],
    ['four', { 19: 996, 20: 4 }, 0],
    ['together', { 18: 1, 19: 97, 20: 4 }, 5],
    ['rounded', { 18: 95, 22: 5 }, 5],
  ] as const) {
    const tenant = await addTenant(store, name, 0);
    const iccids = Object.entries(counts).flatMap(([length, count]) =>
      Array.from({ length: count }, () => '894450010219830'.padEnd(Number(length), '0')),
    );
    await store.loadSubscriptions(
      tenant,
      iccids.map((iccid, n) => ({ ...rowOf({ ...plain, n }), iccid })),
    );
    const { body } = await getSubscriptionFindings({ store }, tenant, moment, 15_000);
    const { findings }: SubscriptionFindings = JSON.parse(body);
    const found = findings.find(({ kind }) => kind === 'iccid-lengths');
    expect([name, found?.count, found?.examples.length]).toEqual([name, expected, expected]);
  }
  await close();
});

const plain: Drawn = {
  ...{ n: 0, created: 0, activated: 1, ends: 2, status: 'ACTIVE', email: null, sim: 1, device: '', product: 1 },
  ...{ name: 'a', period: 1, unit: 'DAYS', plan: 'plan' },
};
