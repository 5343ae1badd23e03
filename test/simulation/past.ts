import { createHash } from 'node:crypto';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { checkSummary, checkWhole, Report } from './check-at-rest.ts';
import { drawQuery } from './draw.ts';
import { Difference, expectEqual, expectSameList } from './failure.ts';
import { isContradictory, type Query, type State, type Version } from './model.ts';
import type { Random } from './random.ts';
import { expectStatus, type Source, summaryPath } from './read.ts';
import type { Tally } from './tally.ts';

// Checks of the history: reports, records and changes of a former moment equal the model's.

/** A moment at which nothing ran. */
interface Moment {
  readonly revision: number;
  /** A change token of then. */
  readonly token: string;
  /**
   * The first second after the change, in UTC epoch seconds; absent if another change was committed
   * before it.
   */
  seconds: number | undefined;
  readonly state: State;
  /** Digests of the responses to `keptPaths`. */
  readonly digests: readonly string[];
  /** Ids of its records that have been erased since. */
  readonly erased: Set<string>;
  /** Whether its versions or tombstones may have been swept. */
  mayBeSwept: boolean;
}

/** A whole report and a summary that are kept as they are; `as-of` must return the same bytes. */
const keptPaths = ['?all=true&format=csv&sort=-expirationDate', '/summary?by=status,month'];

/** A change as `before=true` describes it. */
interface DescribedChange {
  readonly id: string;
  readonly removed?: true;
  readonly kind: string;
  readonly committed_at?: string;
  readonly import_id?: string;
  readonly before?: object;
}

interface HistoryEntry {
  readonly revision: number;
  readonly record?: object;
  readonly erased?: true;
}

/** The former moments of one tenant. */
export class Past {
  #moments: Moment[] = [];
  #hasBeenSwept = false;
  #discarded: number | undefined;

  /** The history ends: with its tenant, or by an erasure of which the model does not know all. */
  forget(): void {
    this.#moments = [];
  }

  /** A restore begins a new history, of which the last moment of the old one is no part. */
  discard(): void {
    this.#discarded = this.#moments.at(-1)?.revision ?? this.#discarded;
    this.forget();
  }

  erase(ids: readonly string[]): void {
    for (const { state, erased } of this.#moments) for (const id of ids) if (state.has(id)) erased.add(id);
  }

  /** Afterwards the history may begin later, and only its revisions are of now. */
  sweep(): void {
    this.#hasBeenSwept = true;
    for (const moment of this.#moments) Object.assign(moment, { mayBeSwept: true, seconds: undefined });
  }

  /** Something is about to change: an instant within this second would be ambiguous. */
  endSecond(): void {
    const last = this.#moments.at(-1);
    if (last?.seconds !== undefined && last.seconds > Math.floor(Date.now() / 1000)) last.seconds = undefined;
  }

  /** Keeps the present moment. */
  async remember(source: Source, state: State): Promise<void> {
    const seconds = this.#hasBeenSwept ? undefined : Math.floor(Date.now() / 1000) + 1;
    const { headers } = await get(source, summaryPath({ by: 'status' }));
    const { next } = JSON.parse((await get(source, '/changes?since=now')).text) as { next: string };
    const revision = Number(headers.get('x-revision'));
    if (this.#moments.at(-1)?.revision === revision) return;
    const digests = await Promise.all(keptPaths.map(async (path) => digestOf((await get(source, path)).text)));
    this.#moments.push({ revision, token: next, seconds, state, digests, erased: new Set(), mayBeSwept: false });
  }

  /** Compares the kept responses of all moments with those of now, byte by byte. */
  async compareKept(session: Source['session'], tenant: string, tally: Tally): Promise<void> {
    for (const [index, { revision, digests, erased, mayBeSwept }] of this.#moments.entries()) {
      if (erased.size > 0) continue;
      for (const [which, path] of keptPaths.entries()) {
        const past = `${path}&as-of=${revision}`;
        const response = await session.get(index % 2 === 0 ? 0 : 1, tenant, past);
        if (response.status === 410 && mayBeSwept) break;
        expectEqual(`the digest of ${past}`, digestOf(expectStatus(response, 200, past).text), digests[which]);
        tally['kept responses compared'] += 1;
      }
    }
  }

  /** Compares one of the kept moments with the model. */
  async check(source: Source, present: State, random: Random, tally: Tally): Promise<void> {
    const { session, service, tenant } = source;
    if (this.#discarded !== undefined) {
      const path = summaryPath({ 'as-of': String(this.#discarded) });
      expectStatus(await session.get(service, tenant, path), 410, `${path} of a discarded history`);
    }
    if (this.#moments.length === 0) return;
    const moment = random.pick(this.#moments);
    // a whole report: a summary of then may be in memory although its moment has been swept
    const path = `?all=true&format=ndjson&as-of=${moment.revision}`;
    const first = await session.get(service, tenant, path);
    if (first.status === 410 && moment.mayBeSwept) {
      this.#moments = this.#moments.filter(({ revision }) => revision > moment.revision);
      return;
    }
    const what = `the moment of revision ${moment.revision}`;
    expectEqual(`the status of ${what}`, first.status, 200);
    expectEqual(`the revision of ${what}`, first.headers.get('x-revision'), String(moment.revision));
    expectEqual(`the erased records of ${what}`, Number(first.headers.get('x-erased-count')), moment.erased.size);
    await checkReports(source, moment, random, tally);
    await checkRecord(source, moment, random);
    await checkChanges(source, moment, present, random, tally);
    tally['moments compared'] += 1;
  }
}

/** The records of a moment that have not been erased. */
const leftOf = ({ state, erased }: Moment): State => new Map([...state].filter(([id]) => !erased.has(id)));

/** A moment as a parameter: its revision or its instant. */
const nameOf = (moment: Moment, random: Random): string => instantOf(moment, random) ?? String(moment.revision);

/** Its instant, sometimes; absent if it has none that has come. */
function instantOf({ seconds }: Moment, random: Random): string | undefined {
  const ms = (seconds ?? Number.POSITIVE_INFINITY) * 1000 + random.pick([0, 500]);
  return random.chance(0.5) && ms <= Date.now() ? new Date(ms).toISOString() : undefined;
}

/** Whole reports and summaries, of everything and of a drawn filter. */
async function checkReports(source: Source, moment: Moment, random: Random, tally: Tally): Promise<void> {
  const state = leftOf(moment);
  for (const drawn of [{}, drawQuery(random, 'listSubscriptions')]) {
    const query = pastQuery(drawn, moment, random);
    if (!isContradictory(query)) await checkWhole(source, new Report(state, query), random, tally);
  }
  await checkSummary(source, state, pastQuery(drawQuery(random, 'getSubscriptionSummary'), moment, random), tally);
}

function pastQuery(drawn: Query, moment: Moment, random: Random): Query {
  const { size: _size, page: _page, all: _all, format: _format, 'expires-within': _within, ...query } = drawn;
  const { by, ...filters } = query;
  const groups = by?.split(',').filter((group) => group !== 'day') ?? [];
  return { ...filters, ...(groups.length > 0 && { by: groups.join(',') }), 'as-of': nameOf(moment, random) };
}

/** One record as it was, and its versions. */
async function checkRecord(source: Source, moment: Moment, random: Random): Promise<void> {
  const { session, service, tenant } = source;
  const versions: Version[] = [...moment.state.values()];
  const version = versions[random.between(0, versions.length - 1)];
  if (version === undefined) return;
  const { id } = version.record;
  const path = `/${id}?as-of=${nameOf(moment, random)}`;
  const then = await session.get(service, tenant, path);
  if (moment.erased.has(id)) return expectEqual(`the status of ${path}, which was erased`, then.status, 404);
  expectEqual(`the record ${path}`, expectStatus(then, 200, path).text, version.text);
  const { text } = await get(source, `/${id}/history`);
  const { versions: entries } = JSON.parse(text) as { versions: readonly HistoryEntry[] };
  const entry = entries.find(({ revision }) => revision <= moment.revision);
  expectEqual(`the version of ${id} at revision ${moment.revision}`, JSON.stringify(entry?.record), version.text);
}

/** The changes since a moment lead from its report to the present one, and tell the former one. */
async function checkChanges(
  source: Source,
  moment: Moment,
  present: State,
  random: Random,
  tally: Tally,
): Promise<void> {
  const { token, state, erased, mayBeSwept } = moment;
  const since = instantOf(moment, random) ?? token;
  const all = await readChanges(source, since, '&before=true', random);
  if (all === undefined) {
    if (mayBeSwept) return;
    throw new Difference(`the changes since revision ${moment.revision} are refused`);
  }
  const copy = new Map([...state].map(([id, { text }]) => [id, text]));
  for (const change of all) {
    const { kind, before, committed_at: at, import_id: _importId, ...record } = change;
    const { id } = record;
    const [had, what] = [copy.get(id), `the change of ${id} since revision ${moment.revision}`];
    if (!erased.has(id)) {
      expectEqual(`the former record of ${what}`, before && JSON.stringify(before), had);
      const isUnknown = record.removed === true && had === undefined && erased.size > 0;
      const expected = record.removed ? 'removed' : had === undefined ? 'added' : 'changed';
      if (!isUnknown) expectEqual(`the kind of ${what}`, kind, expected);
      if (record.removed && had === undefined && !isUnknown) throw new Difference(`${what} is no change`);
    }
    expectEqual(`the time of ${what}`, typeof at, 'string');
    if (record.removed) copy.delete(id);
    else copy.set(id, JSON.stringify(record));
  }
  const texts = [...present.values()].map(({ text }) => text).sort();
  expectSameList(`the report of revision ${moment.revision} with the changes since`, [...copy.values()].sort(), texts);
  const wanted = random.pick(['added', 'changed', 'removed']);
  const some = await readChanges(source, since, `&kind=${wanted}`, random);
  const idsOf = (changes: readonly DescribedChange[]): string[] => changes.map(({ id }) => id);
  const expected = idsOf(all.filter(({ kind }) => kind === wanted));
  expectSameList(`the ids of changes of the kind ${wanted}`, idsOf(some ?? []), expected);
  tally['described changes compared'] += all.length;
}

/** Reads all changes; returns `undefined` if they are refused with 410. */
async function readChanges(
  { session, service, tenant }: Source,
  since: string,
  more: string,
  random: Random,
): Promise<readonly DescribedChange[] | undefined> {
  const all: DescribedChange[] = [];
  for (let [token, hasMore] = [since, true]; hasMore; ) {
    const size = random.pick([50, defaultPageLimits.sizeMax]);
    const path = `/changes?since=${token}&size=${size}${more}`;
    const received = await session.get(service, tenant, path);
    if (received.status === 410) return undefined;
    const page = JSON.parse(expectStatus(received, 200, path).text);
    all.push(...(page.changes as DescribedChange[]));
    [token, hasMore] = [page.next as string, page.has_more as boolean];
  }
  return all;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

const get = async ({ session, service, tenant }: Source, path: string) =>
  expectStatus(await session.get(service, tenant, path), 200, path);
