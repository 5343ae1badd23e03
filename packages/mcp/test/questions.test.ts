import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines } from '../../../test/support/engines.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { formatInstant } from '../../contract/instant.ts';
import { checkRow } from '../../service/import/check-row.ts';
import { type SyntheticRow, syntheticRows } from '../../service/import/synthetic-rows.ts';
import { directoryStatement, type TenantId } from '../../service/storage/store.ts';
import { type Assistant, answerIn, connectOldest, recordsIn, type Table } from './assistant.ts';

// Questions of people in finance and support, each with the calls that answer it. The figures are
// counted here, from the rows that were loaded on three days.

const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const midnight = now - (now % day);
/** When each version of the records was loaded. */
const loadedAt = [midnight - 40 * day, midnight - 20 * day, midnight - 22 * 3_600];
const [first = 0, second = 0, third = 0] = loadedAt;
const monthAgo = formatInstant(midnight - 30 * day);
const weekAgo = formatInstant(midnight - 7 * day);

/** The present records, none of which ends while the test runs or a week from then. */
const rows = [...syntheticRows({ count: 2_000, seed: 2026, until: now })].filter((row) => {
  const ends = Date.parse(row.expirationDate) / 1000;
  return [0, 7].every((days) => Math.abs(ends - now - days * day) > 1_800);
});
const products = [...new Map(rows.map(({ product }) => [product.id, product])).values()];
const isGone = (n: number): boolean => n % 150 === 7;

/** A row as it was: others used up, renewed or moved to another product since. */
function formerOf(row: SyntheticRow, n: number): SyntheticRow {
  const period = Number(row.product.period) * day;
  const ends = Date.parse(row.expirationDate) / 1000;
  return {
    ...row,
    ...(n % 2 === 0 && row.status === 'DEPLETED' && { status: 'ACTIVE' }),
    ...(n % 7 === 0 && row.auto_renew === 'true' && { expirationDate: formatInstant(ends - period) }),
    ...(n % 31 === 0 && { product: products[(n + 1) % products.length] ?? row.product }),
  };
}

const createdBefore = (seconds: number) => (row: SyntheticRow) => Date.parse(row.createdDate) < seconds * 1000;
const indexed = rows.map((row, n) => [row, n] as const);
const past = indexed.map(([row, n]) => formerOf(row, n)).filter(createdBefore(first));
const between = indexed.map(([row, n]) => (n % 4 === 0 ? row : formerOf(row, n))).filter(createdBefore(second));
const present = indexed.flatMap(([row, n]) => (isGone(n) ? [] : [row]));
const versions = [past, between, present];
const byId = (list: readonly SyntheticRow[]) => new Map(list.map((row) => [row.id, row]));
const [pastById, betweenById, presentById] = [byId(past), byId(between), byId(present)];
type Versions = ReadonlyMap<string, SyntheticRow>;

/** The records of two versions that are in both. */
const changedFrom = (before: Versions): (readonly [SyntheticRow, SyntheticRow])[] =>
  present.flatMap((row) => {
    const former = before.get(row.id);
    return former === undefined || JSON.stringify(former) === JSON.stringify(row) ? [] : [[former, row] as const];
  });
const added = (before: Versions): number => present.filter(({ id }) => !before.has(id)).length;
const removed = (before: Versions): string[] => [...before.keys()].filter((id) => !presentById.has(id));
const countBy = <T>(list: readonly T[], keyOf: (item: T) => string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const item of list) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
};
const counted = (rowsOfCounts: unknown): Record<string, number> =>
  Object.fromEntries((rowsOfCounts as [string, number][]).map(([value, count]) => [String(value), count]));
const is = (status: string) => (row: SyntheticRow) => row.status === status;
const endsWithin = (days: number) => (row: SyntheticRow) => {
  const seconds = Date.parse(row.expirationDate) / 1000;
  return seconds > now && seconds <= now + days * day;
};
const monthOf = (date: string): string => date.slice(0, 7);
const idsOf = (list: readonly Readonly<Record<string, unknown>>[]) => list.map(({ id }) => id).toSorted();
const publicOf = ({ email: _email, ...record }: SyntheticRow): Table => record;
const used = (before: Versions) => changedFrom(before).filter(([a, b]) => is('ACTIVE')(a) && is('DEPLETED')(b));
const renewals = (before: Versions) => changedFrom(before).filter(([a, b]) => a.expirationDate < b.expirationDate);

/** A SIM with several subscriptions, one of which has changed. */
const [changedBefore, changedNow] = used(betweenById)[0] ?? [];
const iccid = changedNow?.iccid ?? '';
const ofSim = present.filter((row) => row.iccid === iccid);

type Ask = (name: string, given?: Record<string, unknown>) => Promise<Table>;

/** A question, and how the calls answer it. */
const questions: readonly [question: string, answer: (ask: Ask) => Promise<void>][] = [
  [
    'How many active plans do we have?',
    async (ask) => {
      const { total } = await ask('list_subscriptions', { status: 'ACTIVE' });
      expect(total).toBe(present.filter(is('ACTIVE')).length);
    },
  ],
  [
    'Which SIMs expire within a week and do not renew?',
    async (ask) => {
      const given = { 'expires-within': '7d', 'auto-renew': false, sort: 'expirationDate', size: 50 };
      const page = await ask('list_subscriptions', given);
      const rest = page.next_cursor
        ? recordsIn(await ask('list_subscriptions', { ...given, cursor: page.next_cursor }))
        : [];
      const expected = present.filter((row) => row.auto_renew === 'false' && endsWithin(7)(row));
      expect([page.total, idsOf([...recordsIn(page), ...rest])]).toEqual([expected.length, idsOf(expected)]);
    },
  ],
  [
    'How many active plans did we have a month ago?',
    async (ask) => {
      const { total } = await ask('list_subscriptions', { status: 'ACTIVE', as_of: monthAgo });
      expect(total).toBe(past.filter(is('ACTIVE')).length);
    },
  ],
  [
    'Which subscriptions of product X were active a month ago?',
    async (ask) => {
      const product = products[3]?.id ?? '';
      const given = { 'product-id': product, status: ['ACTIVE'], as_of: monthAgo, size: 50 };
      const answer = await ask('list_subscriptions', given);
      const expected = past.filter((row) => row.product.id === product && row.status === 'ACTIVE');
      expect(expected.length).toBeGreaterThan(3);
      expect([answer.total, recordsIn(answer).length]).toEqual([expected.length, Math.min(50, expected.length)]);
      expect(idsOf(expected)).toEqual(expect.arrayContaining(idsOf(recordsIn(answer))));
    },
  ],
  [
    'How many subscriptions did we gain and lose in the last thirty days?',
    async (ask) => {
      const answer = await ask('summarize_changes', { since: monthAgo });
      expect(answer).toMatchObject({ added: added(pastById), removed: removed(pastById).length });
    },
  ],
  [
    'How many plans ran out of data in the last month?',
    async (ask) => {
      const { by } = await ask('summarize_changes', { since: monthAgo });
      const transitions = (by as { status: unknown[] }).status;
      expect(transitions).toContainEqual({ from: 'ACTIVE', to: 'DEPLETED', count: used(pastById).length });
    },
  ],
  [
    'Which SIMs ran out of data this week?',
    async (ask) => {
      const given = { since: weekAgo, field: 'status', from: 'ACTIVE', to: 'DEPLETED', before: true, size: '50' };
      const answer = await ask('list_changes', given);
      const expected = used(betweenById).map(([, row]) => row);
      expect(expected.length).toBeGreaterThan(3);
      const [some = {}] = recordsIn(answer);
      expect([idsOf(recordsIn(answer)), some.kind, some.before]).toEqual([
        idsOf(expected),
        'changed',
        { status: 'ACTIVE' },
      ]);
    },
  ],
  [
    'How are our active subscriptions spread over the products?',
    async (ask) => {
      const { by } = await ask('summarize_subscriptions', { by: ['product-id'], status: 'ACTIVE' });
      const counts = counted((by as Table)['product-id']);
      expect(counts).toEqual(countBy(present.filter(is('ACTIVE')), ({ product }) => product.id));
      const names = Object.fromEntries(((by as Table)['product-id'] as string[][]).map(([id, , name]) => [id, name]));
      expect(names).toEqual(
        Object.fromEntries(products.filter(({ id }) => id in counts).map(({ id, name }) => [id, name])),
      );
    },
  ],
  [
    'What is our best-selling product of the last twelve months?',
    async (ask) => {
      const from = midnight - 365 * day;
      const { by } = await ask('summarize_subscriptions', { by: 'product-id', created_from: formatInstant(from) });
      const sold = present.filter((row) => !createdBefore(from)(row));
      expect(counted((by as Table)['product-id'])).toEqual(countBy(sold, ({ product }) => product.id));
    },
  ],
  [
    'How many new subscriptions were there each month?',
    async (ask) => {
      const { by } = await ask('summarize_subscriptions', { by: 'month' });
      expect(counted((by as Table).month)).toEqual(countBy(present, ({ createdDate }) => monthOf(createdDate)));
    },
  ],
  [
    'How many subscriptions end on each of the next ninety days?',
    async (ask) => {
      const given = { after: midnight - 1, before: midnight + 90 * day };
      const dates = Object.fromEntries(Object.entries(given).map(([name, seconds]) => [name, formatInstant(seconds)]));
      const { by } = await ask('summarize_subscriptions', { by: 'day', date_field: 'expiration', ...dates });
      const inside = present.filter(
        ({ expirationDate: date }) => date >= formatInstant(midnight) && date < String(dates.before),
      );
      expect(counted((by as Table).day)).toEqual(countBy(inside, ({ expirationDate }) => expirationDate.slice(0, 10)));
    },
  ],
  [
    'What share of our subscriptions renews?',
    async (ask) => {
      const { by, total } = await ask('summarize_subscriptions', { by: 'auto-renew' });
      expect(total).toBe(present.length);
      expect(counted((by as Table)['auto-renew'])).toEqual(countBy(present, ({ auto_renew: renews }) => renews));
    },
  ],
  [
    'A customer reads me an ICCID: what does she have?',
    async (ask) => {
      const answer = await ask('list_subscriptions', { iccid });
      expect(answer.total).toBe(ofSim.length);
      expect(recordsIn(answer).toSorted(byIdOf)).toEqual(ofSim.map(publicOf).toSorted(byIdOf));
    },
  ],
  [
    'Why does this SIM no longer work?',
    async (ask) => {
      const listed = recordsIn(await ask('list_subscriptions', { iccid }));
      const { id = '' } = listed.find((record) => record.id === changedNow?.id) ?? {};
      const history = recordsIn(await ask('get_subscription_history', { id }));
      const [latest = {}, former = {}] = history;
      expect([latest.status, latest.committed_at]).toEqual(['DEPLETED', formatInstant(third)]);
      expect(former.status).toBe(changedBefore?.status);
    },
  ],
  [
    'What is on this device?',
    async (ask) => {
      const device = changedNow?.device_id ?? '';
      const answer = await ask('list_subscriptions', { device_id: device, size: 50 });
      expect(idsOf(recordsIn(answer))).toEqual(idsOf(present.filter((row) => row.device_id === device)));
    },
  ],
  [
    'Was this subscription active when the customer complained a week ago?',
    async (ask) => {
      const { record } = await ask('get_subscription', { id: changedNow?.id, as_of: weekAgo });
      expect(record).toEqual(publicOf(betweenById.get(changedNow?.id ?? '') as SyntheticRow));
    },
  ],
  [
    'Which subscriptions disappeared from the report this month?',
    async (ask) => {
      const answer = await ask('list_changes', { since: monthAgo, kind: ['removed'], before: 'true', size: 50 });
      expect([answer.has_more, idsOf(recordsIn(answer))]).toEqual([false, removed(pastById).toSorted()]);
    },
  ],
  [
    'Is there anything wrong with our data?',
    async (ask) => {
      const { findings, total } = await ask('list_findings');
      const counts = Object.fromEntries((findings as { kind: string; count: number }[]).map((f) => [f.kind, f.count]));
      const active = present.filter(is('ACTIVE'));
      expect([total, counts]).toEqual([
        present.length,
        {
          'no-status': present.filter(({ status }) => status === undefined).length,
          'no-email': 0,
          'created-after-activation': present.filter((row) => row.createdDate > row.activationDate).length,
          'ends-before-activation': present.filter((row) => row.expirationDate < row.activationDate).length,
          'active-past-end': 0,
          'period-zero': 0,
          'iccid-active-twice': Object.values(countBy(active, (row) => row.iccid)).filter((n) => n > 1).length,
          'device-on-two-sims': 0,
          'product-with-two-names': 0,
          'iccid-rounded': 0,
          'iccid-check-digit': 0,
          'iccid-lengths': 0,
        },
      ]);
    },
  ],
  [
    'When was this data last updated?',
    async (ask) => {
      const { changed_at: changedAt } = await ask('list_findings');
      expect(changedAt).toBe(formatInstant(third));
    },
  ],
  [
    'What did the last import do?',
    async (ask) => {
      const { by } = await ask('summarize_changes', { since: weekAgo });
      expect((by as { import: unknown[] }).import[0]).toMatchObject({
        import_id: '0198-3',
        first_at: formatInstant(third),
        renewed: renewals(betweenById).length,
        removed: removed(betweenById).length,
        added: added(betweenById),
      });
    },
  ],
  [
    'How many subscriptions renewed in the last month?',
    async (ask) => {
      const { renewed } = await ask('summarize_changes', { since: monthAgo });
      expect(renewed).toBe(renewals(pastById).length);
    },
  ],
  [
    'Which customers moved to another product, and from what to what?',
    async (ask) => {
      const { by } = await ask('summarize_changes', { since: monthAgo });
      const moves = changedFrom(pastById).filter(([a, b]) => a.product.id !== b.product.id);
      const listed = (by as { 'product-id': { from: string; to: string; count: number }[] })['product-id'];
      const counts = Object.fromEntries(listed.map(({ from, to, count }) => [`${from} ${to}`, count]));
      expect(counts).toEqual(countBy(moves, ([a, b]) => `${a.product.id} ${b.product.id}`));
    },
  ],
  [
    'How many suspended SIMs do we have?',
    async (ask) => {
      const { total, explanation } = await ask('list_subscriptions', { status: 'SUSPENDED' });
      expect([total, explanation]).toEqual([
        0,
        expect.stringContaining("No subscription of yours has the status 'SUSPENDED'"),
      ]);
      for (const status of new Set(present.map((row) => row.status)))
        if (status !== undefined) expect(explanation).toContain(`'${status}'`);
    },
  ],
  [
    'How many subscriptions have no status?',
    async (ask) => {
      const { total } = await ask('list_subscriptions', { status: 'none' });
      expect(total).toBe(present.filter(({ status }) => status === undefined).length);
    },
  ],
  [
    'Which plans were bought in advance and have not begun?',
    async (ask) => {
      const answer = await ask('list_subscriptions', { date_field: 'activation', after: formatInstant(now), size: 50 });
      const expected = present.filter((row) => row.activationDate > formatInstant(now));
      expect([answer.total, expected.length > 0]).toEqual([expected.length, true]);
      expect(idsOf(expected)).toEqual(expect.arrayContaining(idsOf(recordsIn(answer))));
    },
  ],
  [
    'Which product grew most since last month?',
    async (ask) => {
      const by = 'product-id';
      const before = await ask('summarize_subscriptions', { by, status: 'ACTIVE', 'as-of': monthAgo });
      const after = await ask('summarize_subscriptions', { by, status: 'ACTIVE' });
      const countsOf = (answer: Table) => counted((answer.by as Table)[by]);
      const productOf = ({ product }: SyntheticRow): string => product.id;
      expect(countsOf(before)).toEqual(countBy(past.filter(is('ACTIVE')), productOf));
      expect(countsOf(after)).toEqual(countBy(present.filter(is('ACTIVE')), productOf));
    },
  ],
];

const byIdOf = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): number =>
  String(a.id) < String(b.id) ? -1 : 1;

describe('an assistant answers in one or two calls', () => {
  let service: TestService;
  let assistant: Assistant;
  beforeAll(async () => {
    service = await startService(await engines[0].openTestStore());
    const tenant = await service.createTenant('acme');
    for (const [index, version] of versions.entries()) await load(tenant, version, index);
    assistant = await connectOldest(service, await service.createClient(tenant));
  });
  afterAll(async () => {
    await assistant.close();
    await service.close();
  });

  /** Replaces the records, as if on the day of the version. */
  async function load(tenant: TenantId, version: readonly SyntheticRow[], index: number): Promise<void> {
    const replacement = await service.store.openStagedLoad(tenant, `0198-${index + 1}`);
    const checked = version.map((row) => checkRow(row));
    await replacement.add(checked.map((each) => ('row' in each ? each.row : expect.unreachable())));
    await replacement.finish(false);
    await replacement.close();
    const at = loadedAt[index] ?? 0;
    const sql = 'update subscription_commit set committed_at = $2 where tenant_id = $1 and revision = $3';
    await service.store.writeTenant(tenant, [{ sql, values: [at, index + 1] }]);
    const dated = 'update tenant set history_from_at = $2, history_at = $3 where id = $1';
    await service.store.writeDirectory([directoryStatement(dated, [tenant, first, at])]);
  }

  test.each([...questions])('%s', async (_question, answer) => {
    let calls = 0;
    await answer(async (name, given = {}) => {
      calls += 1;
      const result = await assistant.call(name, given);
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(20_000);
      return answerIn(result);
    });
    expect([1, 2]).toContain(calls);
  });
});
