import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { calm, type Mood, originCredentials, SimulatedOrigin } from '../../../../test/origin/origin.ts';
import { MirrorError } from '../../mirror/error.ts';
import { Mirror } from '../../mirror/mirror.ts';
import { Origin } from '../../mirror/origin.ts';
import { MirrorState } from '../../mirror/state.ts';
import type { MirrorCounts } from '../../mirror/target.ts';
import { verifyTenant } from '../../mirror/tenant-check.ts';
import { ModelTenant, runModel, SimulatedClock, textOf } from './model.ts';

const unknownAges = { newAsOf: null, changesAsOf: null };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A mirror of a simulated origin, on a clock that each request advances. */
function startMirror(
  mood: Partial<Mood>,
  count: number,
  options: { perMinute?: number; msPerRequest?: number; onEvent?: (sentence: string) => void } = {},
) {
  const clock = new SimulatedClock();
  const origin = new SimulatedOrigin(1, { ...calm, ...mood }, count, clock.wallTime);
  const tenant = new ModelTenant(origin);
  const folder = mkdtempSync(join(tmpdir(), 'mirror-'));
  const state = MirrorState.open(join(folder, 'state.db'));
  closers.push(() => {
    state.close();
    rmSync(folder, { recursive: true });
  });
  const sent: string[] = [];
  /** What each page has instead of its first record, or as JSON instead of all. */
  const altered: { with?: unknown } = {};
  const fetchIt: typeof fetch = async (input, init) => {
    clock.ms += options.msPerRequest ?? 200;
    sent.push(String(input));
    const response = await origin.fetch(input, init);
    if (altered.with === undefined || !response.ok || !String(input).includes('/v1/subscription')) return response;
    const [, ...others] = (await response.json()) as unknown[];
    if (typeof altered.with === 'string') return new Response(`[${altered.with}]`);
    return Response.json([...others, altered.with]);
  };
  const urls = { baseUrl: 'http://127.0.0.1/connect-api', tokenUrl: 'http://127.0.0.1/token' };
  const reader = new Origin({ ...urls, ...originCredentials, fetch: fetchIt, clock }, options.perMinute ?? 600);
  const mirror = new Mirror(reader, tenant, state, {
    name: 'origin',
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  /** Runs later, perhaps with another account, or with a person's confirmation. */
  const walk = async ({
    afterMs = 3_700_000,
    ...run
  }: {
    afterMs?: number;
    name?: string;
    confirmed?: number;
  } = {}) => {
    clock.ms += afterMs;
    const running =
      Object.keys(run).length === 0 ? mirror : new Mirror(reader, tenant, state, { name: 'origin', ...run });
    return running.runOnce();
  };
  return { clock, origin, tenant, state, reader, mirror, walk, sent, altered };
}

describe('a mirror', () => {
  test('never removes what the origin has, and equals it after two quiet walks', async () => {
    const sum = { removals: 0, saved: 0 };
    // in 793, a walk takes 1 for the first page, because page 0 is missing
    for (const seed of [...Array(60).keys(), 793]) {
      const { violations, differences, removals, saved } = await runModel(seed);
      expect({ seed, violations, differences }).toEqual({ seed, violations: [], differences: 0 });
      sum.removals += removals;
      sum.saved += saved;
    }
    expect(sum.removals).toBeGreaterThan(50);
    expect(sum.saved).toBeGreaterThan(2); // the reads by ICCID had something to save
  });

  test('copies records whose origin adds members, without them, and names these once', async () => {
    const events: string[] = [];
    const { origin, tenant, walk } = startMirror({}, 30, { onEvent: (sentence) => events.push(sentence) });
    const known = new Map(origin.records);
    for (const [id, record] of known)
      origin.records.set(id, { ...record, apn: 'iot', product: { ...record.product, zone: 2 } } as typeof record);
    for (let walks = 0; walks < 3; walks += 1) await walk();
    expect(tenant.records).toEqual(new Map([...known].map(([id, record]) => [id, textOf(record)])));
    const named = `the origin's records have members that are not copied: "apn", "product.zone"`;
    expect(events.filter((sentence) => sentence.includes('not copied'))).toEqual([named]);
  });

  test('applies nothing of a page in which a record has a member twice, and names the member', async () => {
    const { tenant, walk, altered, origin } = startMirror({}, 30);
    await walk();
    const [first] = [...origin.records.values()].map((record) => JSON.stringify(record));
    altered.with = `${first?.slice(0, -1)},"\\u0069d":"c3ViOTk5"}`;
    await expect(walk()).rejects.toThrow("a record has the member 'id' repeatedly");
    expect(tenant.records.size).toBe(30);
  });

  test('reads a window again of which a page was missing', async () => {
    const { clock, origin, state, walk } = startMirror({ sizeMax: 10 }, 30);
    await walk();
    const { watermark } = state;
    for (let added = 0; added < 33; added += 1, clock.ms += 1_000) origin.add();
    origin.mood = { ...origin.mood, lostPage: { number: 1, as: 'empty' } };
    await walk();
    expect([watermark, state.watermark]).toEqual([expect.any(Number), watermark]);
    origin.mood = { ...origin.mood, lostPage: undefined };
    // what the window has seen is new to the walk
    expect(await walk()).toMatchObject({ fault: null, seen: 63 });
    expect(state.watermark).toBeGreaterThan(watermark ?? 0);
  });

  test('reads each page behind a missing one once', async () => {
    const { origin, walk, sent } = startMirror({ sizeMax: 10 }, 90);
    await walk();
    origin.mood = { ...origin.mood, lostPage: { number: 3, as: 'empty' } };
    sent.length = 0;
    await walk();
    const readsOf = (page: number) => sent.filter((url) => url.endsWith(`page=${page}`)).length;
    expect([3, 4, 5, 6, 7].map(readsOf)).toEqual([1, 2, 1, 1, 1]);
  });

  test('walks an hour later although the clock was set back by a year', async () => {
    const { clock, origin, tenant, state, reader } = startMirror({}, 30);
    const running = new AbortController();
    const { wallTime } = clock;
    let [waitedMs, setBackMs] = [0, 0];
    const sleep = clock.sleep.bind(clock);
    Object.assign(clock, { wallTime: () => wallTime() - setBackMs });
    clock.sleep = async (ms) => {
      setBackMs = 365 * 86_400_000;
      waitedMs += ms;
      if (waitedMs > 7_300_000 || state.walks(3).length === 3) running.abort();
      await sleep(ms);
    };
    await new Mirror(reader, tenant, state, { name: 'origin', signal: running.signal }).follow();
    expect([state.walks(3).length, origin.records.size]).toEqual([3, 30]);
  });

  test.each([1, 20])('keeps %i missing records if only the clock of this machine says how late it is', async (many) => {
    const { clock, origin, tenant, state, walk } = startMirror({}, 30);
    await walk();
    const gone = [...origin.records.keys()].slice(0, many);
    for (const id of gone) origin.records.delete(id);
    const { wallTime } = clock;
    let aheadMs = 0;
    Object.assign(clock, { wallTime: () => wallTime() + aheadMs });
    for (let walks = 0; walks < 6; walks += 1) {
      aheadMs += 32_400_000; // nine hours
      await walk({ afterMs: 5_000 });
    }
    expect(gone.filter((id) => tenant.records.has(id))).toEqual(gone);
    expect(state.doubt.unconfirmed + state.doubt.heldBack).toBe(many);
  });

  test('says how new its records are where only walks read them, also after a clock was ahead', async () => {
    const { clock, state, walk } = startMirror({ ignoresAfter: true }, 30);
    const { wallTime } = clock;
    let aheadMs = 365 * 86_400_000;
    Object.assign(clock, { wallTime: () => wallTime() + aheadMs });
    for (let walks = 0; walks < 3; walks += 1) {
      await walk();
      expect(state.ages.newAsOf).toBe(state.ages.changesAsOf);
      expect(Math.abs(clock.wallTime() - Date.parse(state.ages.newAsOf ?? ''))).toBeLessThan(600_000);
      aheadMs = 0;
    }
  });

  test('aborts the request that is under way', async () => {
    const stop = new AbortController();
    const urls = { baseUrl: 'http://127.0.0.1/connect-api', tokenUrl: 'http://127.0.0.1/token' };
    const origin = new SimulatedOrigin(1, calm, 3);
    const aborted: (boolean | undefined)[] = [];
    const fetchIt: typeof fetch = async (input, init) => {
      if (String(input).includes('/token')) return origin.fetch(input, init);
      stop.abort(new Error('stopped'));
      aborted.push(init?.signal?.aborted);
      throw new TypeError('the connection ended');
    };
    const reader = new Origin({ ...urls, ...originCredentials, fetch: fetchIt, signal: stop.signal }, 600);
    await expect(reader.read({})).rejects.toThrow('stopped');
    expect(aborted).toEqual([true]);
  });

  test('copies the member email, which a tenant loads too', async () => {
    const { origin, reader } = startMirror({}, 3);
    for (const [id, record] of origin.records)
      origin.records.set(id, { ...record, email: 'ann@example.com' } as typeof record);
    const { records } = await reader.read({});
    expect(records.map(({ email }) => email)).toEqual(Array(3).fill('ann@example.com'));
    expect([...reader.leftOut]).toEqual([]);
  });

  test('leaves more than 100 new pages to the walk', async () => {
    const { clock, origin, state, walk, sent } = startMirror({ sizeMax: 10 }, 30);
    await walk();
    const { watermark } = state;
    for (let added = 0; added < 1_200; added += 1, clock.ms += 1_000) origin.add();
    sent.length = 0;
    expect(await walk()).toMatchObject({ fault: null, seen: 1_230 });
    const pages = sent.filter((url) => url.includes('after=') && url.includes('page='));
    expect([pages.length > 100, pages.length < 115, state.watermark]).toEqual([true, true, watermark]);
  });

  test('removes a record after two walks that agree without it, and not after one', async () => {
    const { origin, tenant, state, walk } = startMirror({ sendsTotal: false }, 50);
    await walk();
    const [gone] = origin.records.keys();
    origin.records.delete(gone ?? '');
    await walk();
    const waits = 'another walk, which begins at least an hour later, must miss them too';
    expect(state.doubt).toMatchObject({ heldBack: 0, unconfirmed: 1, reason: waits });
    await walk({ afterMs: 600_000 }); // too early
    expect(tenant.records.has(gone ?? '')).toBe(true);
    await walk();
    expect(tenant.records.has(gone ?? '')).toBe(false);
    expect(state.doubt).toMatchObject({ heldBack: 0, unconfirmed: 0, reason: null });
  });

  test('removes records of which the origin removes one before each walk', async () => {
    const { origin, tenant, state, walk } = startMirror({}, 80);
    await walk();
    const gone: string[] = [];
    for (let walks = 0; walks < 10; walks += 1) {
      const [id = ''] = origin.records.keys();
      origin.records.delete(id);
      gone.push(id);
      await walk();
    }
    expect(gone.filter((id) => tenant.records.has(id))).toEqual(gone.slice(-1));
    expect(state.doubt.unconfirmed).toBe(1);
  });

  describe('holds back', () => {
    test('an account that looks empty, with or without a total, until a person confirms it', async () => {
      for (const sendsTotal of [true, false]) {
        const { origin, tenant, state, walk } = startMirror({ sendsTotal }, 150);
        for (let walks = 0; walks < 3; walks += 1) await walk();
        origin.mood = { ...origin.mood, hides: () => true };
        const { changesAsOf } = state.ages;
        for (let walks = 0; walks < 40; walks += 1) await walk();
        expect([tenant.records.size, state.doubt]).toMatchObject([
          150,
          { heldBack: 150, reason: 'the origin shows no record at all' },
        ]);
        expect(state.ages.changesAsOf).toBe(changesAsOf);
        origin.records.clear();
        await walk({ confirmed: 150 });
        expect([tenant.records.size, tenant.violations]).toEqual([0, []]);
      }
    });

    test('more removals than one of 20 records, or 50, until walks have agreed for a day', async () => {
      for (const [count, hidden] of [
        [100, 6],
        [2_000, 51],
      ] as const) {
        const { origin, tenant, state, walk } = startMirror({}, count);
        for (let walks = 0; walks < 3; walks += 1) await walk();
        const outage = new Set([...origin.records.keys()].slice(0, hidden));
        origin.mood = { ...origin.mood, hides: ({ id }) => outage.has(id) };
        const { changesAsOf } = state.ages;
        for (let walks = 0; walks < 20; walks += 1) await walk();
        expect([tenant.records.size, state.doubt.heldBack]).toEqual([count, hidden]);
        expect(state.ages.changesAsOf).toBe(changesAsOf);
        for (const id of outage) origin.records.delete(id);
        for (let walks = 0; walks < 5; walks += 1) await walk();
        expect([tenant.records.size, tenant.violations, state.doubt.heldBack]).toEqual([count - hidden, [], 0]);
      }
    });

    test.each([
      [100, 5],
      [2_000, 50],
    ])('of %d records not %d that are gone', async (count, gone) => {
      const { origin, tenant, state, walk } = startMirror({}, count);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      for (const id of [...origin.records.keys()].slice(0, gone)) origin.records.delete(id);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      expect([tenant.records.size, state.doubt.heldBack]).toEqual([count - gone, 0]);
    });

    test('what an outage hides after a day in which the account looked empty', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 150);
      for (let walks = 0; walks < 3; walks += 1) await walk();
      const [...ids] = origin.records.keys();
      const hidden = new Set(ids.slice(0, 20));
      origin.mood = { ...origin.mood, hides: () => true };
      for (let walks = 0; walks < 26; walks += 1) await walk();
      origin.mood = { ...origin.mood, hides: ({ id }) => hidden.has(id) };
      for (let walks = 0; walks < 4; walks += 1) await walk();
      expect([tenant.records.size, tenant.violations, state.doubt.heldBack]).toEqual([150, [], 20]);
    });

    test('many removals until a person confirms them', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 150);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      for (const id of [...origin.records.keys()].slice(0, 40)) origin.records.delete(id);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      expect(state.doubt).toMatchObject({ heldBack: 40, reason: 'a walk missed 40 of 150 records' });
      origin.records.delete([...origin.records.keys()][0] ?? '');
      await walk({ confirmed: 40 });
      expect([tenant.records.size, state.doubt.heldBack]).toEqual([150, 41]);
      await walk({ confirmed: 41 });
      expect([tenant.records.size, state.doubt.heldBack]).toEqual([109, 0]);
    });

    test('few removals too after a walk that missed many', async () => {
      const { origin, tenant, walk } = startMirror({ iccidFilter: 'exact' }, 150);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      const hidden = new Set([...origin.records.keys()].slice(0, 60));
      origin.mood = { ...origin.mood, hides: ({ id }) => hidden.has(id) };
      await walk();
      const few = new Set([...hidden].slice(0, 3)); // the outage ends for nearly all
      origin.mood = { ...origin.mood, hides: ({ id }) => few.has(id) };
      await walk();
      expect([tenant.records.size, tenant.removals]).toEqual([150, 0]);
    });

    test('all records of another account, until a person confirms it', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 30);
      await walk();
      const own = new Map(origin.records);
      const other = new SimulatedOrigin(2, calm, 20, undefined, 'other');
      origin.records.clear();
      for (const [id, record] of other.records) origin.records.set(id, record);
      for (let walks = 0; walks < 30; walks += 1) {
        // a person confirms what was held back before, and nothing was
        const { fault } = await walk(walks === 0 ? { confirmed: 30 } : {});
        expect(fault).toBe('held back: the account may be another one, and 0 of its 20 records are mirrored');
      }
      expect([...tenant.records.keys()].toSorted()).toEqual([...own.keys()].toSorted());
      await walk({ confirmed: 0 });
      expect([tenant.records.size, state.doubt.heldBack]).toEqual([50, 30]);
    });

    test.each([0, 4])('new records of another account too, which appears after %d windows', async (windows) => {
      const { clock, origin, reader, tenant, state, walk } = startMirror({}, 30);
      await walk();
      const running = new AbortController();
      let waits = 0;
      const exchange = () => {
        const other = new SimulatedOrigin(2, calm, 20, clock.wallTime, 'other');
        other.add();
        origin.records.clear();
        for (const [id, record] of other.records) origin.records.set(id, record);
      };
      if (windows === 0) exchange();
      const sleep = clock.sleep.bind(clock);
      clock.sleep = async (ms) => {
        waits += 1;
        if (waits === windows) exchange();
        if (waits === 30) running.abort();
        await sleep(ms);
      };
      clock.ms += 3_700_000;
      await new Mirror(reader, tenant, state, { name: 'origin', signal: running.signal }).follow();
      expect([tenant.violations, tenant.records.size]).toEqual([[], 30]);
      expect(state.walks(1)[0]?.fault).toBe(
        'held back: the account may be another one, and 0 of its 21 records are mirrored',
      );
    });

    test('the first walk with other credentials, and continues if it has seen mirrored records', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 30);
      await walk();
      const added = origin.add();
      const held = await walk({ name: 'moved' });
      const account = 'held back: the account is another one, moved';
      expect(held.fault).toBe(`${account}, and 30 of its 31 records are mirrored`);
      expect(tenant.records.has(added.id)).toBe(false);
      expect([state.ages, state.watermark]).toEqual([unknownAges, undefined]);
      expect((await walk({ name: 'moved' })).fault).toBeNull();
      expect(tenant.records.has(added.id)).toBe(true);
    });
  });

  test('keeps a record whose SIM was exchanged while every walk misses it', async () => {
    const { origin, tenant, state, walk } = startMirror({ sendsTotal: false, sizeMax: 10 }, 50);
    for (let walks = 0; walks < 2; walks += 1) await walk();
    const [swapped] = origin.records.values();
    if (swapped !== undefined) origin.records.set(swapped.id, { ...swapped, iccid: `8999${swapped.iccid.slice(4)}` });
    origin.mood = { ...origin.mood, unlists: ({ id }) => id === swapped?.id };
    for (let walks = 0; walks < 4; walks += 1) await walk();
    expect([tenant.violations, tenant.records.size]).toEqual([[], 50]);
    expect(state.walks().some(({ fault }) => fault?.startsWith('a read returned record'))).toBe(true);
  });

  test('removes no record that only its SIM speaks for, until a person confirms it', async () => {
    const { origin, tenant, state, walk } = startMirror({ dateField: 'expirationDate' }, 50);
    for (let walks = 0; walks < 2; walks += 1) await walk();
    const [gone = ''] = origin.records.keys();
    origin.records.delete(gone);
    for (let walks = 0; walks < 30; walks += 1) await walk();
    expect([tenant.records.size, state.doubt]).toMatchObject([
      50,
      { unconfirmed: 1, reason: expect.stringContaining('a SIM may have been exchanged') },
    ]);
    await walk({ confirmed: 150 });
    expect(tenant.records.size).toBe(49);
  });

  describe('of a tenant that something else has changed', () => {
    test('sends what it lacks in one walk after a restore, and removes what is gone after two', async () => {
      const events: string[] = [];
      const { origin, tenant, state, walk } = startMirror({}, 60, { onEvent: (sentence) => events.push(sentence) });
      await walk();
      tenant.backUp();
      const ids = [...origin.records.keys()];
      for (const id of ids.slice(0, 2)) origin.records.delete(id);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      for (const id of ids.slice(10, 30))
        origin.records.set(id, { ...origin.records.get(id), device_id: 'new' } as never);
      const added = origin.add();
      await walk();
      const before = new Map(tenant.records);
      tenant.restore();
      const [back = '', gone = ''] = ids;
      const returned = origin.past.get(back);
      if (returned !== undefined) origin.records.set(back, returned);
      expect((await walk()).fault).toBeNull();
      for (const id of [back, gone]) before.set(id, textOf(origin.past.get(id) as never));
      expect(tenant.records).toEqual(before);
      await walk();
      before.delete(gone);
      expect(tenant.records).toEqual(before);
      expect([tenant.records.has(added.id), tenant.violations, state.removedIds]).toEqual([true, [], [gone]]);
      expect(events).toContain(
        'the tenant is not as the mirror left it: 1 records are missing, 20 are of another version, 2 are unknown',
      );
      expect(state.ages.changesAsOf).not.toBeNull();
    });

    test('sends again what was deleted by mistake, and does not claim an age until then', async () => {
      const { origin, tenant, state, walk, sent } = startMirror({}, 60);
      await walk();
      const before = new Map(tenant.records);
      tenant.deleteSome(() => 0.1);
      expect(tenant.records.size).toBe(0);
      origin.mood = { ...origin.mood, faults: { html: 1 } };
      await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
      expect([state.ages, tenant.ages]).toEqual([unknownAges, unknownAges]);
      origin.mood = { ...origin.mood, faults: {} };
      // the window is read, and no page of the walk
      const serve = origin.fetch;
      const isWindow = (url: string) => url.includes('after=') && url.includes('page=');
      const fails = (url: string) => sent.some(isWindow) && url.includes('page=') && !isWindow(url);
      Object.assign(origin, {
        fetch: (input: string, init: RequestInit) => (fails(input) ? Response.json({}) : serve(input, init)),
      });
      sent.length = 0;
      await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
      expect(sent.some(isWindow)).toBe(true);
      expect([tenant.records.size, state.ages]).toEqual([0, unknownAges]);
      Object.assign(origin, { fetch: serve });
      await walk();
      expect([tenant.records, tenant.ages, tenant.violations]).toEqual([before, state.ages, []]);
      expect(state.ages.newAsOf).toBe(state.ages.changesAsOf);
    });

    test('does not believe a walk without changes during which the tenant was restored', async () => {
      const { origin, tenant, state, walk } = startMirror({ dateField: 'expirationDate' }, 60);
      await walk();
      tenant.backUp();
      origin.add();
      await walk();
      const { changesAsOf } = state.ages;
      const serve = origin.fetch;
      Object.assign(origin, {
        fetch: (...request: Parameters<typeof fetch>) => {
          if (String(request[0]).includes('page=2')) tenant.restore();
          return serve(...request);
        },
      });
      expect((await walk()).fault).toBe('the tenant was changed by something else meanwhile');
      expect([tenant.records.size, state.isDoubtful, state.ages.changesAsOf]).toEqual([60, true, changesAsOf]);
      Object.assign(origin, { fetch: serve });
      await walk();
      expect([tenant.records.size, tenant.ages, tenant.violations]).toEqual([61, state.ages, []]);
    });

    test.each([
      { order: 'before it is listed', equal: 59, changed: 0 },
      { order: 'once it was listed', equal: 57, changed: 2 },
    ])('is compared beside a running mirror that changes it $order', async ({ order, equal, changed }) => {
      const { origin, tenant, state, walk } = startMirror({}, 60);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      const [other = '', gone = '', altered = ''] = origin.records.keys();
      tenant.records.set(altered, '[]');
      const list = tenant.list.bind(tenant);
      tenant.list = async function* () {
        const listed = await Array.fromAsync(list());
        origin.add();
        origin.records.set(other, { ...origin.records.get(other), device_id: 'new' } as never);
        origin.records.delete(gone);
        for (let walks = 0; walks < 3; walks += 1) await walk();
        tenant.records.set(altered, '[]');
        yield* order === 'once it was listed' ? listed : list();
      };
      const found = await verifyTenant(tenant, () => state.sent());
      const differences = { missing: [], altered: [altered], unknown: [] };
      expect([tenant.records.size, found]).toEqual([60, { ...differences, equal, changed, unsent: 0 }]);
    });

    test('is compared while the mirror repairs it', async () => {
      const { tenant, state, walk } = startMirror({}, 60);
      await walk();
      const [altered = ''] = tenant.records.keys();
      tenant.records.set(altered, '[]');
      state.sendAgain();
      const list = tenant.list.bind(tenant);
      tenant.list = async function* () {
        const listed = await Array.fromAsync(list());
        await walk();
        yield* listed;
      };
      const none = { missing: [], altered: [], unknown: [], unsent: 0 };
      expect(await verifyTenant(tenant, () => state.sent())).toEqual({ ...none, equal: 59, changed: 1 });
    });

    test('is compared while the mirror removes and sends records, which are no differences', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 60);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      const apply = tenant.apply.bind(tenant);
      const found: unknown[] = [];
      const verify = async () => {
        const { missing, altered, unknown, unsent } = await verifyTenant(tenant, () => state.sent());
        found.push([[...missing, ...altered, ...unknown], unsent]);
      };
      tenant.apply = async (changes) => {
        const isChange = changes.records.length + changes.removed.length > 0;
        if (isChange) await verify();
        const applied = await apply(changes);
        if (isChange) await verify();
        return applied;
      };
      const [gone = ''] = origin.records.keys();
      origin.records.delete(gone);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      origin.add();
      await walk();
      expect([tenant.records.size, found]).toEqual([60, Array(4).fill([[], 1])]);
      await verify();
      expect(found.at(-1)).toEqual([[], 0]);
    });

    test('recognizes what it had applied itself when it was killed', async () => {
      const events: string[] = [];
      const { tenant, walk } = startMirror({}, 60, { onEvent: (sentence) => events.push(sentence) });
      const apply = tenant.apply.bind(tenant);
      tenant.apply = async (changes) => {
        await apply(changes);
        if (changes.records.length > 0) throw new TypeError('killed');
        return apply(changes);
      };
      await expect(walk()).rejects.toThrow('killed');
      tenant.apply = apply;
      expect((await walk()).fault).toBeNull();
      expect(events.filter((sentence) => sentence.startsWith('the tenant is not'))).toEqual([]);
    });

    test('claims no age after a fault within the comparison', async () => {
      const { origin, tenant, state, walk } = startMirror({}, 60);
      await walk();
      tenant.backUp();
      const [id = ''] = origin.records.keys();
      origin.records.delete(id);
      for (let walks = 0; walks < 2; walks += 1) await walk();
      tenant.restore();
      const apply = tenant.apply.bind(tenant);
      let applies = 0;
      tenant.apply = async (changes) => {
        applies += 1;
        if (applies > 1) throw new MirrorError('TARGET_FAULT', 'Cannot reach the tenant');
        return apply(changes);
      };
      await expect(walk()).rejects.toMatchObject({ code: 'TARGET_FAULT' });
      expect([state.isDoubtful, state.ages]).toEqual([false, unknownAges]);
    });

    test('sends all records again after a reload', async () => {
      const { tenant, mirror, walk } = startMirror({}, 60);
      await walk();
      const before = new Map(tenant.records);
      for (const id of tenant.records.keys()) tenant.records.set(id, '[]');
      mirror.reload();
      await walk();
      expect(tenant.records).toEqual(before);
    });

    test('sends all records again after a reload within a walk', async () => {
      const { origin, tenant, state, mirror, walk } = startMirror({ sizeMax: 10, sendsTotal: false }, 60);
      await walk();
      const serve = origin.fetch;
      const fails = (url: string) => url.includes('page=5') && !url.includes('after=');
      Object.assign(origin, {
        fetch: (input: string, init: RequestInit) => (fails(input) ? Response.json({}) : serve(input, init)),
      });
      await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
      Object.assign(origin, { fetch: serve });
      const before = new Map(tenant.records);
      for (const id of tenant.records.keys()) tenant.records.set(id, '[]');
      mirror.reload();
      expect(state.ages).toEqual(unknownAges);
      expect(await walk({ afterMs: 0 })).toMatchObject({ number: 3, fault: null });
      expect(tenant.records).toEqual(before);
      expect(state.walks()[1]?.fault).toBe('all records are sent again');
    });
  });

  test('keeps the age of the versions that the tenant has if it rejects newer ones', async () => {
    const { origin, tenant, state, walk } = startMirror({}, 150);
    await walk();
    const { changesAsOf } = state.ages;
    for (const [id, record] of origin.records) origin.records.set(id, { ...record, device_id: 'new' });
    const apply = tenant.apply.bind(tenant);
    tenant.apply = async (changes) => {
      const applied = await apply({ ...changes, records: [] });
      return { ...applied, rejections: new Map(changes.records.map(({ id }) => [id, 'device_id must be old'])) };
    };
    for (let walks = 0; walks < 2; walks += 1) expect(await walk()).toMatchObject({ fault: null, rejected: 150 });
    expect([state.staleness.rejected, state.ages.changesAsOf]).toEqual([150, changesAsOf]);
    tenant.apply = apply;
    for (const [id, record] of origin.records) origin.records.set(id, { ...record, device_id: 'newer' });
    expect(await walk()).toMatchObject({ fault: null, rejected: 0 });
    expect(Date.parse(state.ages.changesAsOf ?? '')).toBeGreaterThan(Date.parse(changesAsOf ?? ''));
  });

  test('knows the age of changes although the tenant has no version of a record that it rejects', async () => {
    const { origin, tenant, state, walk } = startMirror({}, 50);
    const [invalid = '', later = ''] = origin.records.keys();
    const refused = new Set([invalid]);
    const apply = tenant.apply.bind(tenant);
    tenant.apply = async (changes) => {
      const applied = await apply({ ...changes, records: changes.records.filter(({ id }) => !refused.has(id)) });
      const rejections = changes.records.filter(({ id }) => refused.has(id)).map(({ id }) => [id, 'too long'] as const);
      return { ...applied, rejections: new Map(rejections) };
    };
    const startedAt = async () => new Date((await walk()).startedAt * 1_000).toISOString().replace('.000Z', 'Z');
    await walk();
    const before = await startedAt();
    expect(state.ages.changesAsOf).toBe(before);
    refused.add(later);
    origin.records.set(later, { ...origin.records.get(later), device_id: 'new' } as never);
    await walk();
    expect([state.ages.changesAsOf, state.staleness]).toEqual([before, { rejected: 2, kept: 1, since: before }]);
  });

  test('tells the tenant what it has not applied, and nothing before a walk was complete', async () => {
    const { origin, tenant, walk } = startMirror({}, 150);
    const told: (MirrorCounts | undefined)[] = [];
    const apply = tenant.apply.bind(tenant);
    tenant.apply = (changes) => {
      told.push(changes.counts);
      return apply(changes);
    };
    await walk();
    expect(told.at(0)).toEqual({ rejected: null, heldBack: null, unconfirmed: null });
    expect(told.at(-1)).toEqual({ rejected: 0, heldBack: 0, unconfirmed: 0 });
    const [one] = origin.records.keys();
    origin.mood = { ...origin.mood, hides: ({ id }) => id === one };
    await walk();
    expect(told.at(-1)).toEqual({ rejected: 0, heldBack: 0, unconfirmed: 1 });
    origin.mood = { ...origin.mood, hides: ({ id }) => id !== one };
    await walk();
    expect(told.at(-1)).toEqual({ rejected: 0, heldBack: 149, unconfirmed: 0 });
  });

  describe('of an origin that limits its pages', () => {
    test.each([
      { limit: { pages: 3, as: 'rejected' } },
      { limit: { pages: 3, as: 'repeated' } },
      { limit: { pages: 3, as: 'empty' } },
      { ignores: true },
    ] as const)(
      'reads the rest in windows: $limit.as',
      async ({ limit, ignores }: { limit?: Mood['pageLimit']; ignores?: boolean }) => {
        for (const order of ['oldest first', 'newest first'] as const) {
          const mood = { sizeMax: 20, sendsTotal: false, order, pageLimit: limit, ignoresPage: ignores ?? false };
          const { tenant, walk } = startMirror(mood, 206);
          const { fault, seen } = await walk();
          expect([order, fault, seen, tenant.records.size]).toEqual([order, null, 206, 206]);
        }
      },
    );

    test('does not believe that they are all if it cannot read windows', async () => {
      const mood = { sizeMax: 20, sendsTotal: false, dateField: 'expirationDate' } as const;
      const limited = startMirror({ ...mood, pageLimit: { pages: 3, as: 'rejected' } }, 206);
      expect(await limited.walk()).toMatchObject({ fault: 'page 4 was rejected after a full page', seen: 60 });
      const ignored = startMirror({ ...mood, ignoresPage: true }, 206);
      expect(await ignored.walk()).toMatchObject({ fault: 'page 2 had nothing new after a full page', seen: 20 });
      for (const sizeMax of [10, 20, 30]) {
        const unordered = startMirror({ sizeMax, sendsTotal: false, order: 'none', ignoresPage: true }, 206);
        expect(await unordered.walk()).toMatchObject({ fault: 'page 2 had nothing new after a full page' });
      }
      // nor if the total has the same limit
      const counted = startMirror(
        { ...mood, pageLimit: { pages: 3, as: 'empty' }, sendsTotal: true, totalError: 60 - 206 },
        206,
      );
      expect(await counted.walk()).toMatchObject({ fault: 'page 4 had nothing new after a full page', seen: 60 });
    });

    test('believes the end of a report whose last page is full', async () => {
      for (const afterLastPage of ['empty', 'last page', 'first page', 'rejected'] as const) {
        const { walk } = startMirror(
          { sizeMax: 20, sendsTotal: false, afterLastPage, dateField: 'expirationDate' },
          100,
        );
        expect(await walk()).toMatchObject({ fault: null, seen: 100 });
        for (const firstPage of [0, 1] as const) {
          const small = startMirror({ afterLastPage, firstPage }, 2);
          expect(await small.walk()).toMatchObject({ fault: null, seen: 2 });
        }
        // no size that is requested for a walk is accepted, and smaller ones are
        const plain = { sendsTotal: false, afterLastPage, dateField: 'expirationDate' } as const;
        const refused = startMirror({ sizeMax: 5, rejectsLargerSize: true, ...plain }, 10);
        expect(await refused.walk()).toMatchObject({ fault: null, seen: 10 });
      }
      const limits = [{ ignoresPage: true }, { pageLimit: { pages: 1, as: 'repeated' } }] as const;
      for (const limit of limits) {
        const { walk } = startMirror({ sizeMax: 2, ...limit, dateField: 'expirationDate' }, 6);
        expect(await walk()).toMatchObject({ fault: 'page 2 had nothing new after a full page', seen: 2 });
      }
      // only large pages are limited: a page of one record behind the two shows a third
      const { origin, walk } = startMirror({ sizeMax: 2, sendsTotal: false, dateField: 'expirationDate' }, 3);
      const { fetch: serve } = origin;
      const isLimited = (url: string) => /[?&]page=[2-9]/.test(url) && !/[?&]size=1(&|$)/.test(url);
      const limited: typeof fetch = (input, init) =>
        isLimited(String(input)) ? Promise.resolve(Response.json([])) : serve(input, init);
      Object.assign(origin, { fetch: limited });
      expect(await walk()).toMatchObject({ fault: 'page 2 had nothing new after a full page', seen: 2 });
    });
  });

  test('a total that falls within a walk is no evidence, whatever was seen', async () => {
    const { origin, walk, sent } = startMirror({ sizeMax: 10, sendsTotal: true }, 60);
    expect(await walk()).toMatchObject({ fault: null, firstTotal: 60, lastTotal: 60 });
    const hidden = new Set([...origin.records.keys()].slice(-2));
    const before = sent.length;
    // six requests find out what the origin does, and the walk begins
    origin.mood = { ...origin.mood, hides: ({ id }) => sent.length > before + 9 && hidden.has(id) };
    const walked = { seen: 58, firstTotal: 60, lastTotal: 58, fault: '58 records were seen, and the total is 60' };
    expect(await walk()).toMatchObject(walked);
  });

  test('keeps the records that every walk misses, with and without a total', async () => {
    for (const sendsTotal of [true, false]) {
      const mood = { sendsTotal, sizeMax: 10, dateField: 'expirationDate' } as const;
      const { origin, tenant, walk } = startMirror(mood, 50);
      await walk();
      const [unlisted] = origin.records.keys();
      origin.mood = { ...origin.mood, unlists: ({ id }) => id === unlisted, totalError: 1 };
      const faults: (string | null)[] = [];
      for (let walks = 0; walks < 4; walks += 1) faults.push((await walk()).fault);
      // without a total, two walks agree; then the reads by ICCID find what they have missed
      if (sendsTotal) expect(new Set(faults)).toEqual(new Set(['49 records were seen, and the total is 50']));
      else expect(faults.filter((fault) => fault?.startsWith('a read returned'))).toHaveLength(2);
      expect([sendsTotal, tenant.records.size, tenant.violations]).toEqual([sendsTotal, 50, []]);
    }
  });

  test('reads all pages of a SIM before it believes that a record is absent', async () => {
    const { origin, tenant, walk } = startMirror({ sendsTotal: false, sizeMax: 5, order: 'oldest first' }, 0);
    for (let number = 0; number < 30; number += 1) {
      const record = origin.add(4_000);
      origin.records.set(record.id, { ...record, iccid: '8988000000000000001' });
    }
    await walk();
    origin.mood = { ...origin.mood, lostPage: { number: 3, as: 'end' } };
    for (let walks = 0; walks < 3; walks += 1) await walk();
    expect([tenant.records.size, tenant.violations]).toEqual([30, []]);
    const late = [...origin.records.keys()][17] ?? '';
    origin.mood = { ...origin.mood, lostPage: undefined, unlists: ({ id }) => id === late };
    for (let walks = 0; walks < 3; walks += 1) await walk();
    expect([tenant.records.size, tenant.violations]).toEqual([30, []]);
    origin.mood = { ...origin.mood, unlists: undefined };
    origin.records.delete(late);
    for (let walks = 0; walks < 3; walks += 1) await walk();
    expect([tenant.records.size, tenant.violations]).toEqual([29, []]);
  });

  test('removes nothing if the filter by ICCID does not find a known record', async () => {
    const { origin, tenant, walk } = startMirror({ sendsTotal: false }, 30);
    await walk();
    const ids = [...origin.records.keys()];
    origin.records.delete(ids[0] ?? '');
    for (const [id, record] of origin.records) origin.records.set(id, { ...record, iccid: `${record.iccid} ` });
    const serve = origin.fetch;
    Object.assign(origin, {
      fetch: (input: string, init: RequestInit) => serve(input.replace(/iccid=[^&]*/, 'iccid=none'), init),
    });
    for (let walks = 0; walks < 3; walks += 1) await walk();
    expect(tenant.removals).toBe(0);
  });

  test('says so if no record can show that its reads are right', async () => {
    const { origin, tenant, state, walk } = startMirror({}, 2);
    for (const confirmed of [undefined, undefined, 99]) {
      await walk(confirmed === undefined ? {} : { confirmed });
      origin.records.delete([...origin.records.keys()][0] ?? '');
      origin.add();
    }
    const reason = 'no record that this walk has seen was known before both walks';
    expect([tenant.removals, state.doubt.reason]).toEqual([0, reason]);
  });

  test('takes HTML with status 200, or an element without id, for a fault and not for data', async () => {
    const { origin, tenant, walk } = startMirror({}, 20);
    await walk();
    origin.mood = { ...origin.mood, faults: { html: 1 } };
    await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
    origin.mood = { ...origin.mood, faults: { object: 1 } };
    await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
    expect(tenant.records.size).toBe(20);
  });

  test.each([[null], [7], [[]], [{}], [{ id: 7 }], [{ id: '' }]])(
    'takes a page with %j for a fault, whatever else it has',
    async (element) => {
      const { altered, tenant, walk } = startMirror({}, 20);
      await walk();
      altered.with = { id: 'another' };
      expect((await walk()).seen).toBeGreaterThan(19);
      const { size } = tenant.records;
      altered.with = element;
      await expect(walk()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
      expect(tenant.records.size).toBe(size);
    },
  );

  test('is slower once for each Retry-After of a 429, and faster again after quiet minutes', async () => {
    const { origin, reader, clock, state, walk } = startMirror({ perMinute: 0 }, 20);
    const serve = origin.fetch;
    let [requests, busy] = [0, 45];
    Object.assign(origin, {
      fetch: (...request: Parameters<typeof fetch>) => {
        requests += 1;
        if (requests === busy) origin.mood = { ...origin.mood, perMinute: 100_000 };
        return serve(...request);
      },
    });
    const before = clock.ms;
    await walk(); // 15 minutes of 429
    expect(clock.ms - before).toBeGreaterThan(900_000);
    expect(reader.slowedTo).toBeLessThan(3);
    expect(state.perMinute).toBe(reader.slowedTo);
    busy = 0;
    for (let minutes = 0; minutes < 90; minutes += 1) await reader.read({ size: 10 }).then(() => clock.sleep(60_000));
    expect(reader.slowedTo).toBeNull();
    await walk();
    expect(state.perMinute).toBeUndefined();
  });

  test('keeps its limit of requests if the origin has never sent 429', async () => {
    const { state, walk } = startMirror({}, 20, { perMinute: 30 });
    await walk();
    expect(state.perMinute).toBeUndefined();
  });

  test('waits for Retry-After of a 503, and gives up after six attempts', async () => {
    const { origin, clock, mirror } = startMirror({}, 20);
    const answer = origin.fetch;
    let refusals = 3;
    Object.assign(origin, {
      fetch: async (input: string, init: RequestInit) => {
        if (input.endsWith('/token') || refusals === 0) return answer(input, init);
        refusals -= 1;
        const headers = { 'retry-after': '120' };
        return Object.defineProperty(new Response('', { status: 503, headers }), 'url', { value: input });
      },
    });
    await mirror.runOnce();
    expect(clock.ms).toBeGreaterThan(360_000);
    refusals = 7;
    await expect(mirror.runOnce()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
    expect(refusals).toBe(1);
  });

  test('that keeps running continues after faults of its tenant, and ends with any other error', async () => {
    const told: string[] = [];
    const { tenant, mirror, clock, origin } = startMirror({}, 40, { onEvent: (sentence) => told.push(sentence) });
    const apply = tenant.apply.bind(tenant);
    let refusals = 3;
    tenant.apply = async (changes) => {
      refusals -= 1;
      if (refusals >= 0) throw new MirrorError('TARGET_FAULT', 'Cannot reach the tenant');
      if (refusals < -6) throw new TypeError('another error');
      return apply(changes);
    };
    await expect(mirror.follow()).rejects.toThrow('another error');
    expect(told.filter((sentence) => sentence === 'Cannot reach the tenant')).toHaveLength(3);
    expect(clock.ms).toBeGreaterThan(180_000);
    expect([tenant.records.size, tenant.violations]).toEqual([origin.records.size, []]);
  });

  describe('that has stopped within a walk', () => {
    /** Stops while it reads page 7 of 10. */
    async function stopWithin() {
      const started = startMirror({ sizeMax: 10, sendsTotal: false }, 100);
      const { origin, clock, state, mirror, sent } = started;
      const answer = origin.fetch;
      Object.assign(origin, {
        fetch: (input: string, init: RequestInit) =>
          input.includes('page=7') ? Response.json({}) : answer(input, init),
      });
      await expect(mirror.runOnce()).rejects.toMatchObject({ code: 'ORIGIN_FAULT' });
      expect(state.walks()).toMatchObject([{ number: 1, endedAt: null, page: 7 }]);
      Object.assign(origin, { fetch: answer });
      clock.ms += 60_000;
      sent.length = 0;
      return started;
    }

    test('continues it, one page earlier', async () => {
      const { mirror, sent } = await stopWithin();
      expect(await mirror.runOnce()).toMatchObject({ number: 1, fault: null, seen: 100 });
      const pages = sent.flatMap((url) => /page=(\d+)/.exec(url)?.[1] ?? []).map(Number);
      expect(Math.min(...pages.filter((page) => page > 1))).toBe(6); // the probe has read 0 and 1
    });

    test('does not believe it if arrivals have moved its pages', async () => {
      const { mirror, origin } = await stopWithin();
      for (let number = 0; number < 60; number += 1) origin.add();
      const { fault, seen } = await mirror.runOnce();
      expect([fault, seen]).toEqual(['nothing new was on the page where it continued', 80]);
      expect(await mirror.runOnce()).toMatchObject({ number: 2, fault: null, seen: 160 });
    });
  });

  test('shows new records from a window before the walk has reached them', async () => {
    const { origin, tenant, walk, state, sent } = startMirror({ order: 'oldest first', sizeMax: 20 }, 200);
    await walk();
    const added = origin.add();
    sent.length = 0;
    await walk();
    expect(tenant.records.has(added.id)).toBe(true);
    expect(sent.some((url) => url.includes('after=') && url.includes('page='))).toBe(true);
    expect(Date.parse(state.ages.newAsOf ?? '')).toBeGreaterThanOrEqual(Date.parse(state.ages.changesAsOf ?? ''));
  });

  test('reads windows of an origin whose after includes its instant', async () => {
    const { walk, origin, sent } = startMirror({ order: 'oldest first', sizeMax: 20, isInclusive: true }, 200);
    await walk();
    origin.add();
    sent.length = 0;
    await walk();
    expect(sent.some((url) => url.includes('after=') && url.includes('page='))).toBe(true);
  });

  test('walks for six hours with tokens of five minutes, one refresh at a time', async () => {
    const { origin, clock, walk } = startMirror({ sizeMax: 20, faults: { 'refresh lost': 0.1 } }, 7_400, {
      perMinute: 1,
    });
    const begun = clock.ms;
    expect((await walk()).fault).toBeNull();
    expect(clock.ms - begun).toBeGreaterThan(6 * 3_600_000);
    expect(origin.tokenRequests.most).toBe(1);
    expect(origin.tokenRequests.refreshes).toBeGreaterThan(60);
  });

  test('has its state file alone, which only its user can read, while others may read the status', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'mirror-')), 'state.db');
    const state = MirrorState.open(file);
    closers.push(() => rmSync(dirname(file), { recursive: true }));
    expect(() => MirrorState.open(file)).toThrow(/no other process uses: current value is/);
    const status = MirrorState.read(file, ({ records }) => [records, statSync(file).mode & 0o777]);
    expect(status).toEqual([0, 0o600]);
    state.close();
    MirrorState.open(file).close();
  });
});
