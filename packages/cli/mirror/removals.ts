import type { Origin, OriginRecord, PageQuery } from './origin.ts';
import { createdOf, formatSeconds, type OriginFacts } from './probe.ts';
import type { Candidate, Doubt, MirrorState, WalkState } from './state.ts';
import type { MirrorTarget } from './target.ts';
import { applyTo } from './tenant-check.ts';

/** What is asked about missing records, and on whose word. */
interface Evidence {
  readonly origin: Origin;
  readonly target: MirrorTarget;
  readonly state: MirrorState;
  readonly facts: OriginFacts;
  /** The newest walk, which is complete. */
  readonly walk: WalkState;
  /** Whether a person has confirmed that as many records are gone. */
  readonly isConfirmed: boolean;
}

/** Two walks agree about a record only if they began this many seconds apart. */
const hourSeconds = 3_600;
/** Walks that agree for as long, at least three, confirm any number of removals. */
const daySeconds = 24 * hourSeconds;
const dayWalks = 3;
/** More records than this, or than one of 20, are not removed on the word of two walks. */
const missingMax = 50;
const missingOneOf = 20;

/** Candidates per removal, in one transaction of the tenant. */
const removedTogether = 100;

/** Most pages of records of one SIM, or of one second. */
const askedPagesMax = 20;

/** The result of a read: the record exists, it is absent, or why neither is proven. */
type Verdict = OriginRecord | 'absent' | { readonly unknown: string };

/**
 * Removes records that two complete walks have not seen, an hour apart, and that reads by ICCID and
 * by createdDate do not return either. If a read returns one, the walks have missed records: they
 * are no evidence any more. Returns what is missing, but kept.
 */
export async function confirmRemovals(evidence: Evidence): Promise<Doubt> {
  const { state, walk, isConfirmed } = evidence;
  const none: Doubt = { heldBack: 0, unconfirmed: 0, reason: null, walk: walk.number };
  if (walk.missing === 0) return none;
  const before = state.completeBefore(walk, hourSeconds);
  const implausible = isConfirmed ? undefined : (doubtOf(walk) ?? (before && doubtOf(before)));
  const first = implausible === undefined ? before : agreedForDay(state, walk);
  const reason = first && (await removeSince(evidence, first));
  const left = state.countMissing(walk.number);
  if (left === 0) return none;
  if (implausible !== undefined) return { ...none, heldBack: left, reason: reason ?? implausible };
  const waits = 'another walk, which begins at least an hour later, must miss them too';
  return { ...none, unconfirmed: left, reason: reason ?? waits };
}

/** Why a person must confirm what a walk has not seen; `undefined` if nobody must. */
export function doubtOf({ seen, missing }: WalkState): string | undefined {
  if (seen === 0) return 'the origin shows no record at all';
  const isMuch = missing > missingMax || missing * missingOneOf > seen + missing;
  return isMuch ? `a walk missed ${missing} of ${seen + missing} records` : undefined;
}

/** The walk since which all walks have agreed for a day. An account that looks empty never does. */
function agreedForDay(state: MirrorState, walk: WalkState): WalkState | undefined {
  const first = walk.seen === 0 ? undefined : state.completeBefore(walk, daySeconds, 1);
  return first !== undefined && state.countComplete(first.number, 1) >= dayWalks ? first : undefined;
}

/** Removes what no walk has seen since one. Returns why some of it was kept. */
async function removeSince(evidence: Evidence, first: WalkState): Promise<string | undefined> {
  const { origin, target, state } = evidence;
  let kept: string | undefined;
  for (let after = ''; ; ) {
    const candidates = state.candidates(first.number, after, removedTogether);
    after = candidates.at(-1)?.id ?? '';
    if (candidates.length === 0) return kept;
    const known = state.anySeen(evidence.walk.number, first.number);
    if (known !== undefined && !isRecord(await readSim(evidence, known))) return unfoundByIccid;
    if (known === undefined && evidence.walk.seen > 0) return noneKnown;
    const canAskDates = known !== undefined && isRecord(await readSecond(evidence, known, new Map()));
    const gone: string[] = [];
    const seconds: Seconds = new Map();
    for (const candidate of candidates) {
      let verdict = await readSim(evidence, candidate);
      // its SIM may have been exchanged
      if (verdict === 'absent' && canAskDates && candidate.created !== null)
        verdict = await readSecond(evidence, candidate, seconds);
      else if (verdict === 'absent' && !evidence.isConfirmed) verdict = unfoundByDate;
      if (verdict === 'absent') gone.push(candidate.id);
      else if (isRecord(verdict)) return keepFound(evidence, first, verdict);
      else kept ??= verdict.unknown;
    }
    if (gone.length === 0) continue;
    // from here on, the tenant may have them or not
    state.transact(() => {
      for (const id of gone) state.sendAgain(id);
    });
    await applyTo(target, state, { removed: gone });
    state.transact(() => state.removed(gone, new Date(origin.clock.wallTime()).toISOString()));
  }
}

const isRecord = (verdict: Verdict): verdict is OriginRecord => typeof verdict === 'object' && 'id' in verdict;

/** If reads do not return a record that a walk has seen, absence means nothing. */
const unfoundByIccid = 'a read by ICCID does not return a record that the walks have seen';
const noneKnown = 'no record that this walk has seen was known before both walks';
const unfoundByDate: Verdict = {
  unknown: 'a SIM may have been exchanged, and a read by createdDate does not return a record that the walks have seen',
};

/** Records by the second of their createdDate; `undefined` if there are too many. */
type Seconds = Map<number, readonly OriginRecord[] | undefined>;

/** Asks for a record by its createdDate. */
async function readSecond(evidence: Evidence, { id, created }: Candidate, seconds: Seconds): Promise<Verdict> {
  if (created === null) return unfoundByDate;
  if (!seconds.has(created)) {
    const query = { after: formatSeconds(created - 1), before: formatSeconds(created + 1) };
    seconds.set(created, await readAllOf(evidence, query, () => true));
  }
  const records = seconds.get(created);
  if (records === undefined)
    return { unknown: `the read of what was created with record '${id}' is rejected, or too long` };
  const isOutside = (record: OriginRecord) => Math.abs((createdOf(record) ?? 0) - created) > 1;
  if (records.some(isOutside)) return { unknown: `the read by createdDate of record '${id}' returns other dates` };
  return records.find((record) => record.id === id) ?? 'absent';
}

async function readSim(evidence: Evidence, { id, iccid }: Candidate): Promise<Verdict> {
  if (iccid === null) return { unknown: `record '${id}' has no ICCID to ask for` };
  for (let read = 1; read <= 2; read += 1) {
    const records = await readAllOf(evidence, { iccid }, (record) => record.iccid === iccid);
    const found = records?.find((record) => record.id === id);
    if (found !== undefined) return found;
    if (records === undefined) return { unknown: `the read by the ICCID of record '${id}' is rejected, or too long` };
    if (records.some((record) => record.iccid !== iccid))
      return { unknown: `the read by the ICCID of record '${id}' returns other SIMs` };
  }
  return 'absent';
}

/**
 * All records of a query; `undefined` if the read is rejected or has too many pages. After a full
 * page, the following ones are read until one has nothing new. Pages are numbered from 0 or 1, and
 * the probe may be wrong about which, so page 1 may repeat the first page and ends nothing.
 */
async function readAllOf(
  { origin, facts: { size, pageRecords } }: Pick<Evidence, 'origin' | 'facts'>,
  query: PageQuery,
  isSelected: (record: OriginRecord) => boolean,
): Promise<readonly OriginRecord[] | undefined> {
  const first = await origin.read({ ...query, size });
  if (first.isRejected) return undefined;
  const found = new Map(first.records.map((record) => [record.id, record]));
  let isFull = first.records.length >= pageRecords && first.records.every(isSelected);
  for (let page = 1; isFull && page < askedPagesMax; page += 1) {
    const { records } = await origin.read({ ...query, size, page });
    const before = found.size;
    for (const record of records) found.set(record.id, record);
    isFull = page === 1 || found.size > before;
  }
  return isFull ? undefined : [...found.values()];
}

/** Keeps a record that the walks have missed. Returns why they are no evidence. */
async function keepFound({ target, state, walk }: Evidence, first: WalkState, found: OriginRecord): Promise<string> {
  const differing = state.differing([found]);
  if (differing.length > 0) state.transact(() => state.expect(differing, walk.number));
  const applied = await applyTo(target, state, { records: differing });
  const fault = `a read returned record '${found.id}', which the walk had missed`;
  state.transact(() => {
    state.see([found], { walk: walk.number, byWalk: false }, { ...applied, differing });
    for (const { number } of state.walks(Number.MAX_SAFE_INTEGER))
      if (number >= first.number) state.updateWalk(number, { fault });
  });
  return fault;
}
