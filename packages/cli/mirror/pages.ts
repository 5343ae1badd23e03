import type { Origin, OriginRecord, PageQuery, Reading } from './origin.ts';
import { createdOf, formatSeconds, type OriginFacts } from './probe.ts';

/** Takes the pages that are read, and knows which records are new. */
export interface PageSink {
  newTo(records: readonly OriginRecord[]): number;
  take(reading: Reading, nextPage: number, fault: string | undefined): Promise<void>;
}

/** Most windows after the pages of a report whose pages are limited. */
const windowsMax = 10_000;

/**
 * Reads numbered pages until two in a row have nothing new. A page without anything new, or with
 * fewer records than others, is read twice; if a later page has new records, one was missing.
 * Returns why the pages may not be all: the last one was full, and nothing tells their end from a
 * limit of pages, or from a server that ignores the number.
 */
export async function readPages(
  origin: Origin,
  facts: OriginFacts,
  query: PageQuery,
  from: number,
  sink: PageSink,
): Promise<string | undefined> {
  let shortPage: number | undefined;
  let full: readonly OriginRecord[] | undefined;
  for (let page = from; ; page += 1) {
    const { reading, isNew } = await readPage(origin, facts, query, page, sink);
    const fault = shortPage === undefined ? undefined : `page ${shortPage} had fewer records than others`;
    if (isNew) {
      await sink.take(reading, page + 1, fault);
      full = reading.records.length >= facts.pageRecords ? reading.records : undefined;
      if (full === undefined) shortPage = page;
      continue;
    }
    const beyond = await readPage(origin, facts, query, page + 1, sink);
    if (beyond.isNew) {
      await sink.take(beyond.reading, page + 2, `page ${page} was missing`);
      page += 1;
      continue;
    }
    if (full === undefined || (await isEnd(origin, facts, query, { page, full }, sink))) return undefined;
    const what = reading.isRejected ? 'was rejected' : 'had nothing new';
    return `page ${page} ${what} after a full page`;
  }
}

/** Reads a page, and once more if it looks like the end or is short. */
async function readPage(origin: Origin, facts: OriginFacts, query: PageQuery, page: number, sink: PageSink) {
  const { size, pageRecords } = facts;
  const first = await origin.read({ ...query, size, page });
  const added = sink.newTo(first.records);
  if (added > 0 && first.records.length >= pageRecords) return { reading: first, isNew: true };
  const second = await origin.read({ ...query, size, page });
  const addedAgain = sink.newTo(second.records);
  return { reading: addedAgain >= added ? second : first, isNew: Math.max(added, addedAgain) > 0 };
}

/**
 * Whether the report ends before a page, although the one before it is full: with smaller pages,
 * its last record is on a later page, which is short. A limit of pages rejects that page, and a
 * server that ignores the number sends a full one. If only pages of one record are possible, as for
 * an account of two, those of the last two records must exist, and none behind them.
 */
async function isEnd(
  origin: Origin,
  { firstPage, pageRecords }: OriginFacts,
  query: PageQuery,
  { page, full }: { page: number; full: readonly OriginRecord[] },
  sink: PageSink,
): Promise<boolean> {
  const count = (page - firstPage) * pageRecords;
  let size = pageRecords > 1 ? pageRecords - 1 : 2;
  while (size > 1 && count % size === 0) size -= 1;
  const last = firstPage + Math.floor((count - 1) / size);
  if (size === 1) {
    const ids = new Set<string>();
    for (let number = Math.max(0, last - 2); number <= last + 1; number += 1) {
      const { records } = await origin.read({ ...query, size, page: number });
      if (sink.newTo(records) > 0) return false;
      for (const { id } of records) if (full.some((record) => record.id === id)) ids.add(id);
    }
    return ids.size > 1;
  }
  // each twice; the probe may take page 0 for page 1, if that repeats it
  const numbers = firstPage === 0 ? [last, last] : [last, last, last - 1, last - 1];
  for (const number of numbers) {
    const { records } = await origin.read({ ...query, size, page: number });
    if (records.length > 0 && records.length < size && sink.newTo(records) === 0) return true;
  }
  return false;
}

/**
 * Reads the rest of a report whose pages ended too early, in windows by createdDate that begin
 * where the pages before them ended. `pages` are the first and the last of these. Returns why the
 * windows may not be all.
 */
export async function readWindows(
  origin: Origin,
  facts: OriginFacts,
  pages: { first: readonly OriginRecord[]; last: readonly OriginRecord[] },
  sink: PageSink,
  fault: string,
): Promise<string | undefined> {
  let { first, last } = pages;
  for (let windows = 1; windows <= windowsMax; windows += 1) {
    const query = facts.afterIsCreated ? windowBehind(first, last) : undefined;
    if (query === undefined) return fault;
    const seen = new Set<string>();
    const read: (readonly OriginRecord[])[] = [];
    let added = 0;
    const end = await readPages(origin, facts, query, facts.firstPage, {
      newTo: (records) => records.filter(({ id }) => !seen.has(id)).length,
      take: async (reading, nextPage, pageFault) => {
        for (const { id } of reading.records) seen.add(id);
        added += sink.newTo(reading.records);
        read.push(reading.records);
        await sink.take(reading, nextPage, pageFault);
      },
    });
    if (end === undefined && read.length > 0) return undefined;
    if (added === 0) return fault;
    // a window may be a single page: then the pages before it tell the order
    if (read.length > 1) first = read[0] ?? first;
    last = read.at(-1) ?? last;
  }
  return fault;
}

/** The records behind a page, with those of its last second; `undefined` without an order. */
function windowBehind(first: readonly OriginRecord[], last: readonly OriginRecord[]): PageQuery | undefined {
  const [from, to] = [first, last].map((records) => records.flatMap((record) => createdOf(record) ?? []));
  if (from === undefined || to === undefined || from.length === 0 || to.length === 0) return undefined;
  const [oldest, newest] = [Math.min(...to), Math.max(...to)];
  const isSorted = (sign: 1 | -1) =>
    newest > oldest && to.every((created, at) => at === 0 || (created - (to[at - 1] ?? 0)) * sign >= 0);
  const falls = first === last ? isSorted(-1) : newest <= Math.min(...from);
  const rises = first === last ? isSorted(1) : oldest >= Math.max(...from);
  if (falls === rises) return undefined;
  return falls ? { before: formatSeconds(oldest + 1) } : { after: formatSeconds(newest - 1) };
}
