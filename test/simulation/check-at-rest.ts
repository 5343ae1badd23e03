import type { SubscriptionFindings } from '../../packages/contract/findings.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { defaultSummaryGroups, type SummaryGroup, summaryGroups } from '../../packages/contract/summary.ts';
import { makeVersions } from './domain.ts';
import { drawQuery } from './draw.ts';
import { expectEqual, expectSameList } from './failure.ts';
import type { Follower } from './follower.ts';
import {
  type Counts,
  findingsOf,
  isContradictory,
  productNames,
  type Query,
  reportOf,
  type State,
  summaryOf,
  type Version,
} from './model.ts';
import type { Random } from './random.ts';
import {
  type Ask,
  askFor,
  expectStatus,
  type Format,
  formatOf,
  type Page,
  readPage,
  readSummary,
  readWhole,
  type Source,
  send,
  shown,
  summaryPath,
} from './read.ts';
import type { Tally } from './tally.ts';

// Checks between rounds, when nothing runs: every report equals the model's.

/** Pages of one walk: more would take most of the time where pages are small. */
const walkPagesMax = 12;
/** A report of so many records is read completely, in both directions. */
const shortReport = 40;
/** From so many records on, the groups of the counts are split. */
const largeRecords = 25_000;

/** What to check at rest. */
export interface Asked {
  /** Queries of reports that are repeated after each change. */
  readonly reports: readonly Query[];
  /** Queries of summaries that are repeated after each change. */
  readonly summaries: readonly Query[];
}

/** Compares reports and summaries of a tenant with the model: repeated ones, and new ones. */
export async function checkReports(
  source: Source,
  state: State,
  { reports, summaries }: Asked,
  random: Random,
  tally: Tally,
): Promise<void> {
  const everything = random.pick([{}, { sort: '-createdDate' }]);
  for (const query of [everything, ...reports, drawQuery(random, 'listSubscriptions')])
    await checkReport(source, new Report(state, query), random, tally);
  const valid = reports.filter((query) => !isContradictory(query));
  await checkWhole(source, new Report(state, random.pick([{}, ...valid])), random, tally);
  await checkFindings(source, state, tally);
  for (const query of [...summaries, drawQuery(random, 'getSubscriptionSummary')])
    await checkSummary(source, state, query, tally);
  await checkRecord(source, state, random);
  if (state.size > largeRecords && random.chance(0.5)) await checkEveryPage(source, state, random, tally);
}

/** The report of a query in the model. Only `expires-within` depends on the time of a request. */
export class Report {
  readonly query: Query;
  readonly format: Format;
  readonly what: string;
  readonly #state: State;
  readonly #versions = new Map<number, readonly Version[]>();

  constructor(state: State, query: Query) {
    this.query = query;
    this.format = formatOf(query);
    this.what = JSON.stringify(query);
    this.#state = state;
  }

  /** The report at a time that a response gives. */
  at(now: number): readonly Version[] {
    const known = this.#versions.get(now) ?? reportOf(this.#state, this.query, now);
    this.#versions.set(now, known);
    return known;
  }

  with(query: Query): Report {
    return new Report(this.#state, { ...this.query, ...query });
  }
}

async function checkReport(source: Source, report: Report, random: Random, tally: Tally): Promise<void> {
  const isSearch = random.chance(0.3);
  if (isContradictory(report.query)) {
    expectStatus(await send(source, askFor(report.query, isSearch)), 400, report.what);
    tally['contradictions refused'] += 1;
    return;
  }
  if (report.query.all === 'true') return checkWhole(source, report, random, tally);
  const total = await checkNumbered(source, report, isSearch, random, tally);
  await checkMeeting(source, report, total, random, tally);
  const isShort = total <= shortReport;
  if (!isShort && random.chance(0.5)) return;
  const walk = { isSearch, pagesMax: isShort ? shortReport : walkPagesMax, random };
  await checkWalk(source, report, walk, tally);
  if (isShort || random.chance(0.4)) {
    const size = random.pick(isShort ? ['1', '2'] : ['2', '20']);
    await checkWalk(source, report.with({ sort: opposite(report.query), size }), walk, tally);
  }
}

/** The order of a query, backwards. */
function opposite({ sort = 'createdDate' }: Query): string {
  return sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
}

/**
 * Reads the first page, then in the other order the page that ends with the same record, and then
 * the second page. Each service reads another one of the first two, so that the second page is read
 * where the record is only known as the end of a page in the other order.
 */
async function checkMeeting(source: Source, report: Report, total: number, random: Random, tally: Tally) {
  const { page: _page, ...query } = report.query;
  const { sizeMax } = defaultPageLimits;
  const [min, max] = [Math.max(2, total + 1 - sizeMax), Math.min(total - 1, sizeMax)];
  if (min > max) return;
  const size = random.between(min, Math.min(max, min + 50));
  const there: Source = { ...source, service: source.service === 0 ? 1 : 0 };
  const ahead = report.with({ size: String(size) });
  const first = { ...query, size: String(size) };
  const { next, now } = await checkPage(source, ahead, askFor(first, false), 1, tally);
  const back = { sort: opposite(query), size: String(total + 1 - size) };
  await checkPage(there, report.with(back), askFor({ ...query, ...back }, false), 1, tally);
  // a report may have fewer records by now if it is of those that expire soon
  if (next !== undefined) await checkPage(there, ahead, next, 2, tally, now);
}

/** Compares pages by number: that of the query, and those around the ends. Returns the total. */
async function checkNumbered(source: Source, report: Report, isSearch: boolean, random: Random, tally: Tally) {
  const first = { ...report.query, page: report.query.page ?? '1' };
  const { pages, total } = await checkPage(source, report, askFor(first, isSearch), Number(first.page), tally);
  const further = [1, 2, pages, pages + 1, random.between(1, pages + 1), pages + 1_000];
  for (const page of further.filter((each) => each > 0 && random.chance(0.5)))
    await checkPage(source, report, askFor({ ...report.query, page: String(page) }, isSearch), page, tally);
  return total;
}

/** How to read page by page. */
interface Walk {
  readonly isSearch: boolean;
  readonly pagesMax: number;
  readonly random: Random;
}

/**
 * Follows the links from the first page, and from the last page that was read back again. Half of
 * the walks send each request to either service, as behind a load balancer: a service then reads
 * pages whose predecessors it has not read.
 */
async function checkWalk(source: Source, report: Report, { isSearch, pagesMax, random }: Walk, tally: Tally) {
  const { page: _page, ...query } = report.query;
  const isBalanced = random.chance(0.5);
  const read = async (ask: Ask, number: number, walkNow?: number): Promise<Page> => {
    const service = isBalanced ? random.pick([0, 1] as const) : source.service;
    return checkPage({ ...source, service }, report, ask, number, tally, walkNow);
  };
  let ask: Ask | undefined = askFor(query, isSearch);
  let page: Page | undefined;
  let number = 0;
  for (; ask !== undefined && number < pagesMax; ask = page.next) {
    number += 1;
    page = await read(ask, number, page?.now);
  }
  for (let back = page?.previous; back !== undefined; back = page.previous) {
    number -= 1;
    page = await read(back, number, page?.now);
  }
  expectEqual(`the page that has none before it of ${report.what}`, number, 1);
}

/** Compares one page, its headers and its links with the model. */
async function checkPage(
  source: Source,
  report: Report,
  ask: Ask,
  number: number,
  tally: Tally,
  walkNow?: number,
): Promise<Page> {
  const what = `page ${number} of ${report.what} by ${JSON.stringify(ask)}`;
  const page = await readPage(source, ask, report.query);
  tally['pages compared'] += 1;
  if (walkNow !== undefined) expectEqual(`the time of ${what}`, page.now, walkNow);
  const versions = report.at(page.now);
  const size = Number(report.query.size ?? defaultPageLimits.sizeDefault);
  const pages = Math.ceil(versions.length / size);
  const expected = versions
    .slice((number - 1) * size, number * size)
    .map((version) => shown(version, report.format, report.query));
  expectSameList(what, page.records, expected);
  expectEqual(
    `total, pages, number and links of ${what}`,
    // a page past the last one leads back to that one, if the caller needs no cursor
    [page.total, page.pages, page.number, page.next !== undefined, number <= pages && page.previous !== undefined],
    [versions.length, pages, number, number < pages, number <= pages && number > 1],
  );
  return page;
}

/**
 * Reads all pages of a large report by number, so that a page begins at many places of the counts.
 */
async function checkEveryPage(source: Source, state: State, random: Random, tally: Tally): Promise<void> {
  const query = { sort: random.pick(['createdDate', '-createdDate']), size: String(random.between(80, 120)) };
  const report = new Report(state, query);
  for (let page = 1; page <= Math.ceil(state.size / Number(query.size)); page += 1)
    await checkPage(source, report, askFor({ ...query, page: String(page) }, false), page, tally);
}

/** Compares an export, as CSV or NDJSON. */
export async function checkWhole(source: Source, report: Report, random: Random, tally: Tally): Promise<void> {
  const { size: _size, page: _page, ...rest } = report.query;
  const format = report.format === 'json' ? random.pick(['csv', 'ndjson'] as const) : report.format;
  const { records, now } = await readWhole(source, { ...rest, format }, random.chance(0.3));
  const expected = report.at(now).map((version) => shown(version, format, report.query));
  expectSameList(`the whole report ${report.what} as ${format}`, records, expected);
  tally['whole reports compared'] += 1;
}

export async function checkSummary(source: Source, state: State, query: Query, tally: Tally): Promise<void> {
  const what = `the summary ${JSON.stringify(query)}`;
  if (isContradictory(query)) {
    expectStatus(await source.session.get(source.service, source.tenant, summaryPath(query)), 400, what);
    tally['contradictions refused'] += 1;
    return;
  }
  const { total, by, now } = await readSummary(source, query);
  tally['summaries compared'] += 1;
  const names = productNames(state);
  const expected = Object.fromEntries(
    summaryGroups
      .filter((dimension) => (query.by?.split(',') ?? defaultSummaryGroups).includes(dimension))
      .map((dimension) => [dimension, rowsOf(summaryOf(state, query, now, dimension), dimension, names)]),
  );
  const sorted = Object.fromEntries(Object.entries(by).sort());
  expectEqual(what, sorted, Object.fromEntries(Object.entries(expected).sort()));
  expectEqual(`the total of ${what}`, total, reportOf(state, query, now).length);
}

/** The findings have the numbers of the model, for the time that the response names. */
async function checkFindings({ session, service, tenant }: Source, state: State, tally: Tally): Promise<void> {
  const { text } = expectStatus(await session.get(service, tenant, '/findings'), 200, 'the findings');
  const { total, evaluated_at, findings } = JSON.parse(text) as SubscriptionFindings;
  expectEqual('the records of the findings', total, state.size);
  const found = findings.map(({ kind, count }) => [kind, count]);
  expectEqual(`the findings at ${evaluated_at}`, found, findingsOf(state, Date.parse(evaluated_at)));
  tally['findings compared'] += 1;
}

/** The rows of a dimension, ordered by value, byte by byte, and `null` last. */
function rowsOf(counts: Counts, dimension: SummaryGroup, names: ReadonlyMap<string, string>) {
  const bytes = (value: string | null): Buffer => Buffer.from(value ?? '\u{10ffff}');
  return [...counts]
    .sort(([a], [b]) => Buffer.compare(bytes(a), bytes(b)))
    .map(([value, count]) => ({
      value,
      ...(dimension === 'product-id' && { name: names.get(value ?? '') }),
      count,
    }));
}

/** Compares single records: one that is there and one that is not. */
async function checkRecord({ session, service, tenant }: Source, state: State, random: Random): Promise<void> {
  const versions = [...state.values()];
  const version = versions[random.between(0, versions.length - 1)];
  if (version !== undefined) {
    const { fields } = drawQuery(random, 'getSubscription');
    const path = `/${version.record.id}${fields === undefined ? '' : `?fields=${fields}`}`;
    const { text } = expectStatus(await session.get(service, tenant, path), 200, path);
    expectEqual(`the record ${path}`, text, shown(version, 'json', { ...(fields && { fields }) }));
  }
  const { record } = random.pick(makeVersions(random.seed(), 1));
  const { status } = await session.get(service, tenant, `/${record.id}`);
  expectEqual(`the status of the record ${record.id}`, status, state.has(record.id) ? 200 : 404);
}

/** Reads all changes; afterwards the copy equals the model's state. */
export async function checkFollower(
  source: Source,
  follower: Follower,
  state: State,
  random: Random,
  tally: Tally,
): Promise<void> {
  const seen = follower.changes;
  await follower.catchUp(source, random);
  tally['changes followed'] += follower.changes - seen;
  const expected = [...state.values()].map(({ text }) => text).sort();
  expectSameList('the copy that follows the changes', [...follower.copy.values()].sort(), expected);
}

/** A page that was read before, to be revalidated with its entity tag. */
export interface KnownPage extends Page {
  readonly query: Query;
}

/** Revalidates a page with its entity tag: after a 304, it must still equal the model's. */
export async function checkEntityTag(source: Source, known: KnownPage, state: State): Promise<void> {
  const received = await send(source, askFor(known.query, false), { 'if-none-match': known.etag ?? '' });
  const expected = reportOf(state, known.query, known.now)
    .slice(0, Number(known.query.size))
    .map((version) => shown(version, 'json', known.query));
  if (received.status === 304) return expectSameList('a page that is 304 Not Modified', known.records, expected);
  expectEqual('the status of a page asked for with an entity tag', received.status, 200);
  expectEqual('a page asked for with an entity tag', received.text, `[${expected.join(',')}]`);
}
