import type { Origin, OriginRecord } from './origin.ts';
import type { OriginFacts } from './probe.ts';
import type { Candidate, MirrorState, WalkState } from './state.ts';
import type { MirrorTarget } from './target.ts';

/** Two complete walks in a row whose counts agree, the older one first in time. */
interface Evidence extends OriginFacts {
  readonly walk: WalkState;
  readonly before: WalkState;
}

/** Candidates per removal, in one transaction of the tenant. */
const removedTogether = 100;

/** Most pages of records of one SIM. */
const simPagesMax = 20;

/** The result of a read by ICCID: the record exists, it is absent, or neither is proven. */
type Verdict = OriginRecord | 'absent' | 'unknown';

/**
 * Removes records that two complete walks have not seen, whose counts agree, and that two reads by
 * ICCID do not return either. If a read returns one, the walks have missed records: they are no
 * evidence any more, and nothing is removed.
 */
export async function confirmRemovals(
  origin: Origin,
  target: MirrorTarget,
  state: MirrorState,
  evidence: Evidence,
): Promise<void> {
  const { before } = evidence;
  for (let after = ''; ; ) {
    const candidates = state.candidates(before.number, after, removedTogether);
    after = candidates.at(-1)?.id ?? '';
    if (candidates.length === 0) return;
    if (!(await findsKnown(origin, state, evidence))) return;
    const gone: string[] = [];
    for (const candidate of candidates) {
      const verdict = await readSim(origin, candidate, evidence);
      if (typeof verdict === 'object') return keepFound(target, state, verdict, evidence);
      if (verdict === 'absent') gone.push(candidate.id);
    }
    if (gone.length === 0) continue;
    await target.apply({ records: [], removed: gone, ages: state.ages });
    state.transact(() => state.removed(gone, new Date(origin.clock.wallTime()).toISOString()));
  }
}

/** Whether a read by ICCID finds a record that the walk has seen: else absence means nothing. */
async function findsKnown(origin: Origin, state: MirrorState, evidence: Evidence): Promise<boolean> {
  const known = state.anySeen(evidence.walk.number);
  if (known === undefined) return true; // an empty account: both walks and each read agree
  return typeof (await readSim(origin, known, evidence)) === 'object';
}

async function readSim(origin: Origin, { id, iccid }: Candidate, facts: OriginFacts): Promise<Verdict> {
  if (iccid === null) return 'unknown';
  for (let read = 1; read <= 2; read += 1) {
    const records = await readAllOf(origin, iccid, facts);
    const found = records?.find((record) => record.id === id);
    if (found !== undefined) return found;
    if (records === undefined || records.some((record) => record.iccid !== iccid)) return 'unknown';
  }
  return 'absent';
}

/**
 * The records of a SIM; `undefined` if the read is rejected or has too many pages. After a full
 * page, the following ones are read until one has nothing new. Pages are numbered from 0 or 1, and
 * the probe may be wrong about which, so page 1 may repeat the first page and ends nothing.
 */
async function readAllOf(origin: Origin, iccid: string, { size, pageRecords }: OriginFacts) {
  const first = await origin.read({ iccid, size });
  if (first.isRejected) return undefined;
  const found = new Map(first.records.map((record) => [record.id, record]));
  let isFull = first.records.length >= pageRecords && first.records.every((record) => record.iccid === iccid);
  for (let page = 1; isFull && page < simPagesMax; page += 1) {
    const { records } = await origin.read({ iccid, size, page });
    const before = found.size;
    for (const record of records) found.set(record.id, record);
    isFull = page === 1 || found.size > before;
  }
  return isFull ? undefined : [...found.values()];
}

/** Keeps a record that the walks have missed. */
async function keepFound(target: MirrorTarget, state: MirrorState, found: OriginRecord, { walk, before }: Evidence) {
  const differing = state.differing([found]);
  if (differing.length > 0) state.transact(() => state.expect(differing, walk.number));
  const rejections = await target.apply({ records: differing, removed: [], ages: state.ages });
  state.transact(() => {
    state.see([found], { walk: walk.number, byWalk: false }, rejections);
    const fault = `a read by ICCID returned record '${found.id}', which the walk had missed`;
    for (const { number } of [walk, before]) state.updateWalk(number, { fault });
  });
}
