import { createHash } from 'node:crypto';
import { checkSummary, checkWhole, Report } from './check-at-rest.ts';
import { drawQuery } from './draw.ts';
import { expectEqual } from './failure.ts';
import { isContradictory, type Query, type State, type Version } from './model.ts';
import { leftOf, type Moment, nameOf } from './moment.ts';
import { checkChanges, checkChangesSummary } from './past-changes.ts';
import type { Random } from './random.ts';
import { expectStatus, type Source, shown, summaryPath } from './read.ts';
import type { Tally } from './tally.ts';

// Checks of the history: reports, records and changes of a former moment equal the model's.

/** A whole report and a summary that are kept as they are; `as-of` must return the same bytes. */
const keptPaths = ['?all=true&format=csv&sort=-expirationDate', '/summary?by=status,month'];

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
    for (const moment of this.#moments) for (const id of ids) if (moment.state.has(id)) moment.erased.add(id);
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
    const untouched = { erased: new Set<string>(), mayBeSwept: false };
    this.#moments.push({ revision, token: next, seconds, state, digests, ...untouched });
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
    const all = await checkChanges(source, moment, present, random, tally);
    if (all !== undefined) {
      for (const end of [undefined, random.pick(this.#moments)])
        await checkChangesSummary(source, { start: moment, end, all, present }, random, tally);
    }
    tally['moments compared'] += 1;
  }
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
  const { size: _size, page: _page, all: _all, 'expires-within': _within, ...query } = drawn;
  const { format: _format, dates: _dates, by, ...filters } = query;
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
  const query = { ...drawQuery(random, 'getSubscription'), 'as-of': nameOf(moment, random) };
  const path = `/${id}?${new URLSearchParams(query)}`;
  const then = await session.get(service, tenant, path);
  if (moment.erased.has(id)) return expectEqual(`the status of ${path}, which was erased`, then.status, 404);
  expectEqual(`the record ${path}`, expectStatus(then, 200, path).text, shown(version, 'json', query));
  const { text } = await get(source, `/${id}/history`);
  const { versions: entries } = JSON.parse(text) as { versions: readonly HistoryEntry[] };
  const entry = entries.find(({ revision }) => revision <= moment.revision);
  expectEqual(`the version of ${id} at revision ${moment.revision}`, JSON.stringify(entry?.record), version.text);
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

const get = async ({ session, service, tenant }: Source, path: string) =>
  expectStatus(await session.get(service, tenant, path), 200, path);
