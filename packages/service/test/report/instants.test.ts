import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../../../test/simulation/random.ts';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { runCommand } from '../../../../test/support/run-command.ts';
import { formatInstant } from '../../../contract/instant.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { examineStore } from '../../cli/store/examine-store.ts';
import { getChangesSummary } from '../../report/get-changes-summary.ts';
import { parseChangesSummary } from '../../report/parse-changes.ts';
import type { ReportContext } from '../../report/report-query.ts';
import { findRevision, type SettledMoment } from '../../storage/read/past.ts';
import { directoryStatement, type Store, type TenantId } from '../../storage/store.ts';
import { readHistory } from '../../storage/tables/history.ts';
import { aheadOf, settleInstant } from '../../storage/tables/settle-instant.ts';
import { readHistoryUse, sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { daySeconds, idOf, replaceAll, rowOf, type VersionOf } from './history-records.ts';
import { type Change, readerOfPast } from './read-past.ts';

const drawn = drawOne(engines, import.meta.url);

// An instant is final: what was answered for it is the answer for ever, and no change that was not
// in it is missing from the changes since it (docs/readers/history.md).

const loader = fileURLToPath(new URL('../../../../test/support/load-rows.ts', import.meta.url));
/** A module that changes the clock of a process and, as its threads run it too, of its writer. */
const clockAhead = (seconds: number): string =>
  `data:text/javascript,const now = Date.now; Date.now = () => now() + ${seconds * 1000}`;
const nowMs = () => Date.now();
const nowSeconds = () => Math.floor(nowMs() / 1000);

describe.each(drawn)('an instant on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  let read: ReturnType<typeof readerOfPast>;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    context = { store, limits: defaultPageLimits, reportUrl: 'http://localhost/r', now: nowSeconds };
    read = readerOfPast(context);
  });
  afterAll(() => opened.close());

  const newTenant = () => addTenant(store, undefined, nowSeconds() - 100);
  const load = (tenant: TenantId, ...records: readonly VersionOf[]) =>
    store.loadSubscriptions(tenant, records.map(rowOf));
  /** Loads by another process, whose clock is wrong. */
  async function loadWithClock(tenant: TenantId, aheadSeconds: number, record: VersionOf): Promise<void> {
    const { code, stderr } = await runCommand([tenant, JSON.stringify([rowOf(record)])], {
      program: [process.execPath, '--import', clockAhead(aheadSeconds), loader],
      environment: opened.environment,
    });
    if (code !== 0) throw new Error(stderr);
  }
  const at = async (tenant: TenantId, instant: string): Promise<string> =>
    (await read.exported(tenant, 'format=ndjson', instant)).body;
  const present = async (tenant: TenantId): Promise<string> => (await read.exported(tenant, 'format=ndjson')).body;

  /** Expects that the changes since an instant lead from its report to the present one. */
  async function expectChangesFrom(tenant: TenantId, instant: string): Promise<void> {
    const changed = applyChanges(await at(tenant, instant), await read.changesSince(tenant, instant, 3));
    expect(changed).toEqual(linesOf(await present(tenant)));
  }

  test('a commit within the second of an instant is in the changes since it, and not in its report', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const instant = formatInstant(nowSeconds());
    const before = await at(tenant, instant);
    await load(tenant, { n: 1, version: 2 });
    await load(tenant, { n: 2, version: 1 });
    expect(await at(tenant, instant)).toBe(before);
    await expectChangesFrom(tenant, instant);
    expect((await read.changesSince(tenant, instant, 10)).map(({ id }) => id)).toContain(idOf(2));
  });

  test('what is loaded just after midnight is not in the report as of midnight', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const { record } = rowOf({ n: 1, version: 1 });
    const [change] = await read.changesSince(tenant, formatInstant(nowSeconds() - 50), 10);
    const committed = change?.committed_at ?? '';
    expect(await at(tenant, committed)).toBe('');
    expect(await read.changesSince(tenant, committed, 10)).toMatchObject([{ id: idOf(1), kind: 'added' }]);
    const second = Date.parse(committed) / 1000 + 1;
    await expect.poll(nowSeconds).toBeGreaterThanOrEqual(second);
    expect(await at(tenant, formatInstant(second))).toBe(`${record}\n`);
    expect(await read.changesSince(tenant, formatInstant(second), 10)).toEqual([]);
  });

  test('every answer for an instant stays the answer, between many commits in a second', async () => {
    for (let seed = 1; seed <= 2; seed += 1) {
      const random = new Random(seed);
      const tenant = await newTenant();
      const answers = new Map<string, string>();
      for (let step = 0; step < 10; step += 1) {
        const records = [{ n: random.between(1, 4), version: random.between(0, 4) }];
        if (random.chance(0.2)) await replaceAll(store, tenant, records);
        else await load(tenant, ...records);
        const instant = drawInstant(random);
        answers.set(instant, answers.get(instant) ?? (await at(tenant, instant)));
        const [asked = ''] = random.pick([...answers]);
        expect(await at(tenant, asked), `${asked}, seed ${seed}`).toBe(answers.get(asked));
        await expectChangesFrom(tenant, asked);
      }
      for (const [asked, body] of answers) expect(await at(tenant, asked), `${asked}, seed ${seed}`).toBe(body);
    }
  });

  test('a load that had begun when an instant was answered is not in it', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    for (let round = 0; round < 8; round += 1) {
      const loading = load(tenant, { n: 1, version: 1 + (round % 4) }, { n: 2 + round, version: 1 });
      const instant = formatInstant(nowSeconds());
      const answered = await at(tenant, instant);
      await loading;
      expect(await at(tenant, instant)).toBe(answered);
      await expectChangesFrom(tenant, instant);
    }
  });

  test.each([-daySeconds, -2, 2])(
    'a load by another process whose clock is %i s ahead changes no answer',
    async (aheadSeconds) => {
      const tenant = await newTenant();
      await load(tenant, { n: 1, version: 1 });
      const loadedAt = nowSeconds();
      await expect.poll(nowSeconds).toBeGreaterThan(loadedAt);
      const instants = [formatInstant(loadedAt), formatInstant(nowSeconds())];
      const answers = await Promise.all(instants.map((instant) => at(tenant, instant)));
      await loadWithClock(tenant, aheadSeconds, { n: 1, version: 2 });
      expect(await Promise.all(instants.map((instant) => at(tenant, instant)))).toEqual(answers);
      for (const instant of instants) await expectChangesFrom(tenant, instant);
    },
  );

  test('the summary of changes until an instant stays the answer, also for a load by a clock that is behind', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const loadedAt = nowSeconds();
    await expect.poll(nowSeconds).toBeGreaterThan(loadedAt);
    const query = `since=${formatInstant(loadedAt - 50)}&until=${formatInstant(nowSeconds())}`;
    const counted = async () => {
      const { total, by } = JSON.parse(
        String((await getChangesSummary(context, tenant, parseChangesSummary(query, context))).body),
      );
      return { total, by };
    };
    const answered = await counted();
    expect(answered.total).toBe(1);
    await loadWithClock(tenant, -daySeconds, { n: 2, version: 1 });
    expect(await counted()).toEqual(answered);
  });

  test('of two instants that are answered at once, the later one stays final', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const [earlier, later] = [nowSeconds() + 1, nowSeconds() + 2];
    const settle = (through: Store, seconds: number) => settleInstant(through, tenant, { seconds, nowSeconds: later });
    /** Another process answers the later one before this one writes. */
    const slow = new Proxy(store, {
      get(target, name: keyof Store) {
        if (name === 'writeTenant')
          return async (...args: Parameters<Store['writeTenant']>) => {
            await settle(target, later);
            return target.writeTenant(...args);
          };
        const member = target[name];
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await settle(slow, earlier);
    expect((await store.readTenant(tenant, readHistory)).kept?.lastSeconds).toBe(later);
  });

  test('a history that begins again begins after the instants that were answered', async () => {
    const changes: ((tenant: TenantId) => Promise<unknown>)[] = [
      (tenant) => load(tenant, { n: 1, version: 2 }), // after a program without history
      () => sweepVersions(store, { nowSeconds: nowSeconds(), days: 30 }),
      async (tenant) => {
        await store.writeDirectory([
          directoryStatement('update tenant set history_revision = revision, history_at = $2 where id = $1', [
            tenant,
            nowSeconds() + daySeconds,
          ]),
        ]);
        await store.recountSubscriptions(tenant, nowSeconds());
      },
    ];
    for (const change of changes) {
      const tenant = await newTenant();
      await load(tenant, { n: 1, version: 1 });
      const instant = formatInstant(nowSeconds());
      await at(tenant, instant);
      await store.writeDirectory([
        directoryStatement('update tenant set history_revision = null where id = $1', [tenant]),
      ]);
      await change(tenant);
      await expect(at(tenant, instant)).rejects.toMatchObject({ code: 'HISTORY_NOT_KEPT' });
    }
  });

  test('an instant that was settled in a discarded history is not answered from the new one', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const found = await store.readTenant(tenant, async (reader) => {
      const history = await readHistory(reader);
      return findRevision(reader, history, { seconds: (history.kept?.lastSeconds ?? 0) + 1 } as SettledMoment);
    });
    expect(found).toBeUndefined();
  });

  test('an instant is refused while the history is ahead of the clock, from the last commit by a right one', async () => {
    const tenant = await newTenant();
    await load(tenant, { n: 1, version: 1 });
    const trusted = formatInstant(nowSeconds() - 50);
    const before = await at(tenant, trusted);
    await expect.poll(nowSeconds).toBeGreaterThan(Date.parse(trusted) / 1000 + 51);
    await loadWithClock(tenant, 365.5 * daySeconds, { n: 1, version: 2 });
    await load(tenant, { n: 2, version: 1 });
    const now = formatInstant(nowSeconds());
    const refused = {
      code: 'HISTORY_NOT_KEPT',
      messages: [expect.stringMatching(/the history is 365 d ahead of the clock/)],
    };
    await expect(at(tenant, now)).rejects.toMatchObject(refused);
    await expect(read.changesSince(tenant, now, 10)).rejects.toMatchObject(refused);
    expect(await at(tenant, trusted)).toBe(before);
    await expectChangesFrom(tenant, trusted);
    expect((await read.exported(tenant, 'format=ndjson', 1)).total).toBe(1);
    const aheadDays = async () => {
      const [check] = (await examineStore(store, { now: nowSeconds })).filter(
        (each) => each.tenant === tenant && !each.ok,
      );
      const { aheadSeconds } = await readHistoryUse(store, { nowSeconds: nowSeconds(), days: 30 });
      return [check?.message.match(/is (\d+) d ahead of the clock/)?.[1], Math.floor(aheadSeconds / daySeconds)];
    };
    expect(await aheadDays()).toEqual(['365', 365]);
    await store.recountSubscriptions(tenant, nowSeconds());
    expect(await aheadDays()).toEqual([undefined, 0]);
    const begins = nowSeconds() + 1;
    await expect.poll(nowSeconds).toBeGreaterThanOrEqual(begins);
    expect(await at(tenant, formatInstant(begins))).toBe(await present(tenant));
    await load(tenant, { n: 3, version: 1 });
    await expectChangesFrom(tenant, formatInstant(begins));
    await expect(at(tenant, trusted)).rejects.toMatchObject({ code: 'HISTORY_NOT_KEPT' });
    // without a commit by a right clock, only the beginning is trusted
    const unborn = await newTenant();
    await loadWithClock(unborn, 365.5 * daySeconds, { n: 1, version: 1 });
    await expect(at(unborn, formatInstant(nowSeconds()))).rejects.toMatchObject(refused);
    const ahead = async () => (await readHistoryUse(store, { nowSeconds: nowSeconds(), days: 30 })).aheadSeconds;
    expect(await ahead()).toBeGreaterThan(daySeconds);
    // a program without history has changed it since: nothing is read at its instants any more
    await store.writeDirectory([
      directoryStatement('update tenant set history_revision = null where id = $1', [unborn]),
    ]);
    expect(await ahead()).toBeLessThan(daySeconds);
  });
});

test('clocks may differ by five seconds', () => {
  expect([-1, 0, 5, 6].map((ahead) => aheadOf(1_000 + ahead, 1_000))).toEqual([0, 0, 0, 6]);
});

/** An instant of the last seconds that has passed, often with a fraction. */
function drawInstant(random: Random): string {
  const ms = nowMs() - random.pick([0, 0, 0, 300, 1_000, 2_500]);
  return random.chance(0.4) ? formatInstant(Math.floor(ms / 1000)) : new Date(ms).toISOString();
}

const linesOf = (body: string): readonly string[] => body.split('\n').filter(Boolean).sort();

/** The lines of a report after changes, which must say what it has. */
function applyChanges(body: string, changes: readonly Change[]): readonly string[] {
  const records = new Map(linesOf(body).map((line) => [JSON.parse(line).id as string, line]));
  for (const { kind, before, committed_at: _at, import_id: _import, ...record } of changes) {
    expect(before && JSON.stringify(before)).toBe(records.get(record.id));
    if (kind === 'removed') records.delete(record.id);
    else records.set(record.id, JSON.stringify(record));
  }
  return [...records.values()].sort();
}
