import type { ListParameter, Lists } from '../../contract/listed-values.ts';
import { type FoundValues, findListed, pageStoreOf } from '../storage/read/listed.ts';
import { type PageContext, readPage } from '../storage/read/page.ts';
import type { PageRecords } from '../storage/read/page-sql.ts';
import type { PastRevision } from '../storage/read/past.ts';
import type { TenantId, TenantReader } from '../storage/store.ts';
import { hasOneCondition } from '../storage/subscription-filter.ts';
import type { Layout } from '../storage/utf8-column.ts';
import { listColumns } from './filters.ts';
import type { ReportPlan } from './plan.ts';

/** One page and the total, from one snapshot. */
export interface ReportPage {
  readonly records: PageRecords;
  /** Number of records that match the filter, on all pages. */
  readonly total: number;
  /** Whether records follow this page, and whether there are records before it. */
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** The tenant's revision in that snapshot. */
  readonly revision: number;
  /** Why no record matches, if that is known. */
  readonly explanation?: string | undefined;
  /** The listed values that no record has, if the query has lists. */
  readonly notFound?: NotFound;
}

/** The positions of the values of each list that no record has. */
export type NotFound = readonly (readonly [ListParameter, readonly number[]])[];

/** Reads the page of a plan. No other stage accesses the store. */
export async function runReport(
  context: PageContext,
  tenant: TenantId,
  plan: ReportPlan,
  layout: Layout,
): Promise<ReportPage> {
  const { position, size } = plan;
  const page = await readPage(context, tenant, { ...plan, layout });
  const { records, total, isBeyondKey, hasMore, revision } = page;
  const read = { records, total, revision };
  const around = (hasNext: boolean, hasPrevious: boolean): ReportPage => ({ ...read, hasNext, hasPrevious });
  switch (position.kind) {
    case 'before':
      return around(isBeyondKey, hasMore);
    case 'after':
      return around(hasMore, isBeyondKey);
    case 'offset':
      // the page before this one has a record
      return around(hasMore, position.skip > 0 && position.skip - size < total);
  }
}

/**
 * Reads the page of a plan with lists, and which of the listed values no record has, from one
 * snapshot. On SQLite, another thread reads it: a thousand values take a few milliseconds.
 */
export function runListed(
  { store }: PageContext,
  tenant: TenantId,
  { plan, layout, lists }: { readonly plan: ReportPlan; readonly layout: Layout; readonly lists: Lists },
): Promise<ReportPage> {
  return store.readTenant(tenant, async (reader) => {
    const found = await findLists(reader, lists);
    const context = { store: pageStoreOf(store.engine, reader), ranges: rangesOf(plan, found) };
    return { ...(await runReport(context, tenant, plan, layout)), notFound: found.map(missingOf) };
  });
}

/** The range of a filter that is only a list, whose records were counted as it was looked up. */
function rangesOf({ filter, position }: ReportPlan, [found]: readonly FoundList[]): PageContext['ranges'] {
  if (!hasOneCondition(filter) || found === undefined || position.kind !== 'offset') return undefined;
  const { records: total, revision } = found[1];
  if (revision === undefined) return undefined;
  return { find: () => ({ start: 0, total, revision, passed: position.skip }), note: () => undefined };
}

type FoundList = readonly [ListParameter, FoundValues];

const missingOf = ([name, { missing }]: FoundList) => [name, missing] as const;

const findLists = (reader: TenantReader, lists: Lists, at?: PastRevision): Promise<readonly FoundList[]> =>
  Promise.all(lists.map(async ([name, list]) => [name, await findListed(reader, listColumns[name], list, at)]));

/** Finds the listed values that no record has at a revision. */
export const findNotFound = async (reader: TenantReader, lists: Lists, at: PastRevision): Promise<NotFound> =>
  (await findLists(reader, lists, at)).map(missingOf);
