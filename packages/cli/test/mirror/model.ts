import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calm, drawMood, originCredentials, randomOf, SimulatedOrigin } from '../../../../test/origin/origin.ts';
import type { Clock } from '../../../client/clock.ts';
import { MirrorError } from '../../mirror/error.ts';
import { Mirror } from '../../mirror/mirror.ts';
import { Origin, type OriginRecord } from '../../mirror/origin.ts';
import { MirrorState } from '../../mirror/state.ts';
import type { MirrorTarget } from '../../mirror/target.ts';

/** A clock that only requests and waits advance. */
export class SimulatedClock implements Clock {
  ms = 0;
  readonly now = () => this.ms;
  readonly wallTime = () => Date.UTC(2026, 10, 1) + this.ms;
  async sleep(ms: number): Promise<void> {
    this.ms += Math.max(0, ms);
  }
}

/** The tenant of a mirror, as a map that remembers every violation of safety. */
export class ModelTenant implements MirrorTarget {
  readonly records = new Map<string, string>();
  readonly violations: string[] = [];
  removals = 0;
  readonly #origin: SimulatedOrigin;
  readonly #beforeStep: () => void;

  constructor(origin: SimulatedOrigin, beforeStep: () => void = () => undefined) {
    this.#origin = origin;
    this.#beforeStep = beforeStep;
  }

  async begin(): Promise<void> {}

  async apply({ records, removed }: { records: readonly OriginRecord[]; removed: readonly string[] }) {
    this.#beforeStep();
    const ids = [...records.map(({ id }) => id), ...removed];
    if (new Set(ids).size < ids.length) this.violations.push('one load has an id twice');
    for (const record of records) this.records.set(record.id, textOf(record));
    for (const id of removed) {
      this.removals += 1;
      if (this.#origin.records.has(id)) this.violations.push(`removed ${id}, which the origin has`);
      this.records.delete(id);
    }
    this.#beforeStep();
    return new Map<string, string>();
  }
}

/** A record as text; a null status is an absent one. */
const textOf = ({ status, ...rest }: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    Object.entries({ ...rest, ...(status != null && { status }) }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/** A process that is killed. */
class Killed extends Error {}

export interface ModelResult {
  readonly violations: readonly string[];
  /** Ids that differ after two quiet walks. */
  readonly differences: number;
  readonly walks: number;
  readonly kills: number;
  readonly removals: number;
  /** Records that a read by ICCID has saved from being removed. */
  readonly saved: number;
  readonly requests: number;
}

/**
 * One history: an origin in a random mood whose data changes, a mirror that is killed at random
 * steps, then quiet walks, after which both must be equal.
 */
export async function runModel(seed: number): Promise<ModelResult> {
  const random = randomOf(seed ^ 0x5eed);
  const clock = new SimulatedClock();
  const any = drawMood(random);
  // in half of all histories nothing but the reads by ICCID shows that walks end too early
  const lostPage = { number: Math.floor(random() * 5), as: 'end' } as const;
  const drawn = random() < 0.5 ? any : { ...any, sendsTotal: false, changes: 0, faults: {}, lostPage };
  const origin = new SimulatedOrigin(seed, drawn, Math.floor(random() * 90), clock.wallTime);
  const killRate = random() < 0.5 ? 0 : 0.05;
  let kills = 0;
  const maybeKill = () => {
    if (random() >= killRate || isQuiet) return;
    kills += 1;
    throw new Killed();
  };
  let isQuiet = false;
  const tenant = new ModelTenant(origin, maybeKill);
  const folder = mkdtempSync(join(process.env.MODEL_FOLDER ?? tmpdir(), 'mirror-'));
  let running = new AbortController();
  const fetchIt: typeof fetch = async (...request) => {
    clock.ms += 200;
    try {
      maybeKill();
    } catch (killed) {
      running.abort(killed);
    }
    return origin.fetch(...request);
  };
  let walks = 0;
  const saved = new Set<string>();
  const runOnce = async () => {
    const state = MirrorState.open(join(folder, 'state.db'));
    running = new AbortController();
    try {
      const reader = new Origin(
        {
          baseUrl: 'http://127.0.0.1/connect-api',
          tokenUrl: 'http://127.0.0.1/token',
          ...originCredentials,
          fetch: fetchIt,
          clock,
          signal: running.signal,
        },
        state.perMinute ?? 600,
      );
      const mirror = new Mirror(reader, tenant, state, { name: 'origin' });
      await mirror.begin();
      await mirror.runOnce();
      walks += 1;
    } finally {
      for (const { fault } of state.walks()) if (fault?.startsWith('a read by ICCID')) saved.add(fault);
      state.close();
    }
  };
  const tolerant = async () => {
    try {
      await runOnce();
    } catch (error) {
      if (!(error instanceof Killed || error instanceof MirrorError)) throw error;
    }
    clock.ms += 900_000;
  };
  try {
    // walks that first see all records, and later miss some
    const lostFrom = Math.floor(random() * 3);
    for (let run = 0; run < 5; run += 1) {
      origin.mood = { ...drawn, lostPage: run < lostFrom ? undefined : drawn.lostPage };
      await tolerant();
      for (let changes = Math.floor(random() * 4); changes > 0; changes -= 1) origin.change();
    }
    isQuiet = true;
    const { lostPage: _, ...mood } = origin.mood;
    origin.mood = { ...mood, changes: 0, faults: {}, perMinute: calm.perMinute };
    for (let run = 0; run < 3; run += 1) {
      clock.ms += 900_000;
      await runOnce(); // the first may end a walk that began before
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const shown = (record: OriginRecord) =>
    textOf(origin.mood.showsNullStatus && record.status === 'DEPLETED' ? { ...record, status: null } : record);
  const expected = new Map([...origin.records].map(([id, record]) => [id, shown(record as never)]));
  const ids = new Set([...expected.keys(), ...tenant.records.keys()]);
  const differences = [...ids].filter((id) => expected.get(id) !== tenant.records.get(id)).length;
  return {
    violations: tenant.violations,
    differences,
    walks,
    kills,
    removals: tenant.removals,
    saved: saved.size,
    requests: origin.requests,
  };
}

// `node packages/cli/test/mirror/model.ts 2000 [FIRST]` runs as many seeds, and prints the sum
if (process.argv[1]?.endsWith('model.ts')) {
  const [count, first] = [Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 1)];
  const sum = { seeds: 0, walks: 0, kills: 0, removals: 0, saved: 0, requests: 0, violations: 0, differences: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const result = await runModel(seed);
    sum.seeds += 1;
    for (const name of ['walks', 'kills', 'removals', 'saved', 'requests', 'differences'] as const)
      sum[name] += result[name];
    sum.violations += result.violations.length;
    if (result.violations.length + result.differences > 0) console.log(seed, JSON.stringify(result));
  }
  console.log(JSON.stringify(sum));
}
