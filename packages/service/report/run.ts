import type { ListParameter, Lists } from '../../contract/listed-values.ts';
import { findMissing, pageStoreOf } from '../storage/read/listed.ts';
import { type PageContext, readPage } from '../storage/read/page.ts';
import type { PageQuery, PageRecords } from '../storage/read/page-sql.ts';
import type { Page } from '../storage/read/page-statements.ts';
import type { PastRevision } from '../storage/read/past.ts';
import type { TenantId, TenantReader } from '../storage/store.ts';
import { listColumns } from './filters.ts';

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

/**
 * Reads the page of a plan, and the listed values that no record has. On SQLite, another thread
 * reads lists: a thousand values take a few milliseconds.
 */
export async function runReport(
  context: PageContext,
  tenant: TenantId,
  plan: PageQuery,
  lists: Lists = [],
): Promise<ReportPage> {
  if (lists.length === 0) return toReportPage(plan, await readPage(context, tenant, plan));
  const { store } = context;
  return store.readTenant(tenant, async (reader) => {
    const notFound = await findNotFound(reader, lists);
    const page = await readPage({ store: pageStoreOf(store.engine, reader) }, tenant, plan);
    return { ...toReportPage(plan, page), notFound };
  });
}

function toReportPage({ position, size }: PageQuery, page: Page): ReportPage {
  const { records, total, isBeyondKey, hasMore, revision } = page;
  const read = { records, total, revision };
  if (position.kind === 'before') return { ...read, hasNext: isBeyondKey, hasPrevious: hasMore };
  // of a page by its number, the page before it has a record
  const hasPrevious = position.kind === 'offset' ? position.skip > 0 && position.skip - size < total : isBeyondKey;
  return { ...read, hasNext: hasMore, hasPrevious };
}

/** Finds the listed values that no record has, at a revision or of the present. */
export const findNotFound = (reader: TenantReader, lists: Lists, at?: PastRevision): Promise<NotFound> =>
  Promise.all(lists.map(async ([name, list]) => [name, await findMissing(reader, listColumns[name], list, at)]));
