import { parseInstant } from '../../contract/instant.ts';
import { MirrorError } from './error.ts';
import type { Origin, OriginRecord, Reading } from './origin.ts';

/** What a mirror must know of its origin before it walks. */
export interface OriginFacts {
  /** Number of the first page. */
  readonly firstPage: 0 | 1;
  /** The `size` that is requested, if any is accepted, and the records of a full page then. */
  readonly size: number | undefined;
  readonly pageRecords: number;
  /** Whether `after` compares createdDate, so that new records can be read alone. */
  readonly afterIsCreated: boolean;
  /** The clock of the origin, UTC epoch seconds. */
  readonly originAt: number;
  /** The first page. */
  readonly first: Reading;
}

const sizes = [1_000, 500, 200, 100, 50, 20, 10];

/** Finds the facts with as few requests as possible, about six. */
export async function probeOrigin(origin: Origin): Promise<OriginFacts> {
  const { size, first } = await findSize(origin);
  const firstPage = await findFirstPage(origin, size, first);
  return {
    firstPage,
    size,
    pageRecords: first.records.length,
    afterIsCreated: await comparesCreated(origin, size, first),
    originAt: first.dateSeconds,
    first,
  };
}

/** The largest size that is accepted; a server may send fewer records than that. */
async function findSize(origin: Origin): Promise<{ readonly size: number | undefined; readonly first: Reading }> {
  for (const size of sizes) {
    const first = await origin.read({ size });
    if (!first.isRejected) return { size, first };
  }
  const first = await origin.read({});
  if (!first.isRejected) return { size: undefined, first };
  throw new MirrorError(
    'ORIGIN_FAULT',
    'Cannot read the origin: it must accept the report without parameters: current value is a rejection',
  );
}

/** Arrivals may shift a page meanwhile, so pages are compared by what they share. */
async function findFirstPage(origin: Origin, size: number | undefined, first: Reading): Promise<0 | 1> {
  const zero = await origin.read({ size, page: 0 });
  if (zero.isRejected || zero.records.length === 0) return 1;
  const one = await origin.read({ size, page: 1 });
  return share(one.records, first.records) > 0.5 ? 1 : 0;
}

function share(records: readonly OriginRecord[], others: readonly OriginRecord[]): number {
  const ids = new Set(others.map(({ id }) => id));
  return records.length === 0 ? 0 : records.filter(({ id }) => ids.has(id)).length / records.length;
}

/** Whether `after` a date selects exactly the known records that were created later. */
async function comparesCreated(origin: Origin, size: number | undefined, { records }: Reading): Promise<boolean> {
  const dates = records.flatMap((record) => createdOf(record) ?? []).toSorted((a, b) => a - b);
  const pivot = dates[Math.floor(dates.length / 2)];
  if (pivot === undefined || pivot === dates[0] || pivot === dates.at(-1)) return false;
  const after = formatSeconds(pivot);
  const selected = await origin.read({ size, after });
  if (selected.isRejected || selected.records.length === 0) return false;
  const created = selected.records.map(createdOf);
  return created.every((seconds) => seconds !== undefined && seconds >= pivot);
}

/** createdDate in UTC epoch seconds; `undefined` if it is not a date. */
export function createdOf({ createdDate }: OriginRecord): number | undefined {
  return typeof createdDate === 'string' ? parseInstant(createdDate)?.seconds : undefined;
}

/** An instant as every server of the API accepts it, without fractional seconds. */
export const formatSeconds = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
