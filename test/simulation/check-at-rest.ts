import { Difference, expectEqual, expectSameList } from './failure.ts';
import { type Filters, makeFilters, reportOf, type State, summaryOf } from './model.ts';
import { Random } from './random.ts';
import { type Follower, type Page, queryOf, readPage, readPages, readSummary, readWhole, type Source } from './read.ts';
import type { Session } from './session.ts';
import type { Tally } from './tally.ts';

// Checks between rounds, when nothing runs: every report equals the model's.

const dimensions = ['status', 'product-id', 'auto-renew', 'month'] as const;

/** Compares pages in order, pages by number, exports and summaries of a tenant with the model. */
export async function checkReports(source: Source, state: State, seed: number, tally: Tally): Promise<void> {
  const random = new Random(seed);
  for (const filters of [{}, makeFilters(random), makeFilters(random)]) {
    const expected = reportOf(state, filters).map(({ text }) => text);
    await checkPages(source, filters, expected, random.between(30, 1_000), tally);
    await checkJump(source, filters, expected, random, tally);
    expectSameList(`the whole report ${JSON.stringify(filters)}`, await readWhole(source, filters), expected);
    tally['whole reports compared'] += 1;
    await checkSummary(source, filters, state, expected.length, tally);
  }
}

async function checkPages(source: Source, filters: Filters, expected: readonly string[], size: number, tally: Tally) {
  const what = `the pages of ${queryOf(filters, { size })}`;
  const found: string[] = [];
  for await (const { texts, total } of readPages(source, filters, size)) {
    expectEqual(`the total of ${what}`, total, expected.length);
    found.push(...texts);
    tally['pages compared'] += 1;
    if (found.length > expected.length + size) throw new Difference(`${what} does not end`);
  }
  expectSameList(what, found, expected);
}

/** Compares a page requested by its number. */
async function checkJump(source: Source, filters: Filters, expected: readonly string[], random: Random, tally: Tally) {
  const size = random.between(1, 200);
  const page = random.between(1, Math.ceil(expected.length / size) + 1);
  const query = queryOf(filters, { size, page });
  const { texts, total } = await readPage(source, query);
  tally['pages compared'] += 1;
  expectEqual(`the total of ${query}`, total, expected.length);
  expectSameList(query, texts, expected.slice((page - 1) * size, page * size));
}

async function checkSummary(source: Source, filters: Filters, state: State, expected: number, tally: Tally) {
  const { total, counts } = await readSummary(source, filters, dimensions);
  tally['summaries compared'] += 1;
  expectEqual(`the total of the summary ${JSON.stringify(filters)}`, total, expected);
  for (const dimension of dimensions) {
    const sorted = (map: ReadonlyMap<string | null, number>) =>
      [...map].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    // The months of a summary are those of date-field.
    if (dimension === 'month' && (filters['date-field'] ?? 'created') !== 'created') continue;
    const what = `the summary by ${dimension} ${JSON.stringify(filters)}`;
    expectEqual(what, sorted(counts(dimension)), sorted(summaryOf(state, filters, dimension)));
  }
}

/** Reads all changes; afterwards the copy equals the model's state. */
export async function checkFollower(source: Source, follower: Follower, state: State, tally: Tally): Promise<void> {
  const seen = follower.changes;
  await follower.catchUp(source);
  tally['changes followed'] += follower.changes - seen;
  const expected = [...state.values()].map(({ text }) => text).sort();
  expectSameList('the copy that follows the changes', [...follower.copy.values()].sort(), expected);
}

/** A page that was read before, to be revalidated with its entity tag. */
export interface KnownPage extends Page {
  readonly query: string;
}

/** Revalidates a page with its entity tag: after a 304, it must still equal the model's. */
export async function checkEntityTag(source: Source, known: KnownPage, state: State): Promise<void> {
  const { session, service, tenant } = source;
  const received = await (session as Session).get(service, tenant, known.query, { 'if-none-match': known.etag ?? '' });
  const expected = reportOf(state, {})
    .slice(0, 50)
    .map(({ text }) => text);
  if (received.status === 304) return expectSameList('a page that is 304 Not Modified', known.texts, expected);
  expectEqual('the status of a page asked for with an entity tag', received.status, 200);
  expectEqual('a page asked for with an entity tag', received.text, `[${expected.join(',')}]`);
}
