import type { BothCopies } from './both-copies.ts';

/** A service, and a token for the tenant whose records it returns. */
export interface Reader {
  readonly port: number;
  readonly token: string;
}

const report = '/connect-api/v1/subscription';

interface Page {
  readonly ids: readonly string[];
  readonly total: number;
  /** The path of the following page; `undefined` on the last one. */
  readonly next: string | undefined;
}

async function readPage({ port, token }: Reader, path: string): Promise<Page> {
  const response = await send({ port, token }, path);
  const next = response.headers.get('x-next-page');
  const records = (await response.json()) as readonly { readonly id: string }[];
  const { pathname, search } = new URL(next ?? 'http://localhost');
  return {
    ids: records.map(({ id }) => id),
    total: Number(response.headers.get('x-total-count')),
    next: next === null ? undefined : pathname + search,
  };
}

const send = ({ port, token }: Reader, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });

async function readAll(reader: Reader): Promise<string[]> {
  const ids: string[] = [];
  for (let path: string | undefined = `${report}?size=1000`; path !== undefined; ) {
    const page: Page = await readPage(reader, path);
    ids.push(...page.ids);
    path = page.next;
  }
  return ids;
}

/** Of the records that existed all the time. */
export interface Walk {
  readonly stable: number;
  readonly missing: number;
  readonly twice: number;
}

/**
 * Reads both reports by their links, page by page, in an order such as `-createdDate`; the records
 * change after each page.
 */
export async function walkBoth(readers: readonly Reader[], copies: BothCopies, sort: string): Promise<readonly Walk[]> {
  const before = await readAll(readers[0] as Reader);
  const stable = new Set(before);
  const walks = readers.map((reader) => ({
    reader,
    seen: [] as string[],
    next: `${report}?sort=${sort}&size=100` as string | undefined,
  }));
  for (let step = 1; walks.some(({ next }) => next !== undefined); step += 1) {
    for (const walk of walks) {
      if (walk.next === undefined) continue;
      const page = await readPage(walk.reader, walk.next);
      walk.seen.push(...page.ids);
      walk.next = page.next;
    }
    // spread over the whole report: 7919 and the number of records have no common factor
    const removed = Array.from({ length: 10 }, (_, n) => before[((step * 10 + n) * 7919) % before.length] ?? '');
    await copies.create(10);
    await copies.remove(removed);
    for (const id of removed) stable.delete(id);
  }
  return walks.map(({ seen }) => {
    const times = Map.groupBy(seen, (id) => id);
    const of = (test: (count: number) => boolean): number =>
      [...stable].filter((id) => test(times.get(id)?.length ?? 0)).length;
    return { stable: stable.size, missing: of((count) => count === 0), twice: of((count) => count > 1) };
  });
}

/** Counts pages with a total of another moment: each page has all records of its query. */
export async function countWrongTotals(
  readers: readonly Reader[],
  copies: BothCopies,
  requests: number,
): Promise<readonly number[]> {
  const wrong = readers.map(() => 0);
  const state = { isOver: false };
  const changing = (async () => {
    while (!state.isOver) await copies.remove(await copies.create(1));
  })();
  for (let request = 0; request < requests; request += 1) {
    for (const [index, reader] of readers.entries()) {
      // few records: each is on this page
      const { ids, total } = await readPage(reader, `${report}?size=1000&after=2026-01-01T00:00:00Z`);
      if (ids.length !== total) wrong[index] = (wrong[index] ?? 0) + 1;
    }
  }
  state.isOver = true;
  await changing;
  return wrong;
}

/** Queries that no reader means: misspelled or repeated names, and values that are none. */
const wrongQueries = [
  ...['product_id=cHJvZHVjdC0wLTQ', 'produkt-id=cHJvZHVjdC0wLTQ', 'Iccid=8944500260000002838', 'tenant=2'],
  ...['iccid=8944500260000002838&iccid=8944500260000002846', 'size=10&size=20'],
  ...['after=yesterday', 'after=2024-02-30', 'before=soon', 'sort=createdDate-desc', 'size=1e2', 'page=1.5'],
];

/** What the answers to wrong requests are. */
export async function countWrongAnswers(reader: Reader) {
  const statuses: number[] = [];
  for (const query of wrongQueries) {
    const response = await send(reader, `${report}?${query}`);
    await response.bytes();
    statuses.push(response.status);
  }
  const countOf = (status: number): number => statuses.filter((each) => each === status).length;
  return { asked: wrongQueries.length, records: countOf(200), failed: countOf(500) };
}
