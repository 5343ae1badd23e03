import { storedCounts } from '../counts/counts.ts';
import { leafRowsAimed } from '../counts/span.ts';
import type { SpanMemory } from '../counts/span-memory.ts';
import type { TenantId } from '../store.ts';
import { isCounted, type SubscriptionFilter, selectsOne } from '../subscription-filter.ts';
import {
  type Page,
  type PagePosition,
  type PageQuery,
  type PageStore,
  readCountedPage,
  readPlacedPage,
  startAt,
} from './counted-page.ts';
import type { SubscriptionOrder } from './page-sql.ts';
import type { WalkMemory } from './walk-memory.ts';

/** The store, and what is cached between pages: leaves of the counts, and places of walks. */
export interface PageContext {
  readonly store: PageStore;
  readonly spans?: SpanMemory;
  readonly walks?: WalkMemory;
}

/**
 * Reads up to `size` records from a position, in the requested order (for a `before` position, the
 * nearest ones before it), and the total. The following page of a walk needs no counts, if its
 * place is known.
 */
export async function readPage(context: PageContext, tenant: TenantId, query: PageQuery): Promise<Page> {
  const { store } = context;
  const { filter, order, position } = query;
  const walks = isNarrow(filter) ? undefined : context.walks;
  const place = walks?.find(tenant, query);
  if (place !== undefined) {
    const placed = { ...query, isBounded: isBounded(filter, order, position) };
    const page = await readPlacedPage(store, tenant, placed, startAt(position), place);
    if (page.revision === place.revision) {
      walks?.note(tenant, query, page, place.passed);
      return page;
    }
  }
  const page = await readUnplacedPage(context, tenant, query);
  if (position.kind === 'offset') walks?.note(tenant, query, page, position.skip);
  return page;
}

/**
 * Reads a page and its total. In the order of `createdDate` and with a filter that the counts know
 * (`isCounted`), a page costs at most two to three times as much as page 1. It takes one statement,
 * and more only where the counts must find its first record.
 */
async function readUnplacedPage({ store, spans }: PageContext, tenant: TenantId, asked: PageQuery): Promise<Page> {
  const { filter, order, position } = asked;
  const query = { ...asked, isDeep: isDeep(filter, order, position) };
  if (isNarrow(filter)) {
    const narrow = { ...query, isBounded: true, filter: { ...filter, recordsMax: narrowRowsMax + 1 } };
    const page = await readCountedPage(store, tenant, narrow, storedCounts(filter));
    if (page.total <= narrowRowsMax) return page;
  }
  const hasBounds = filter.afterSeconds !== undefined || filter.beforeSeconds !== undefined;
  const bounded = { ...query, isBounded: isBounded(filter, order, position) };
  if (spans === undefined || !isCounted(filter) || !(hasBounds || query.isDeep))
    return readCountedPage(store, tenant, bounded, storedCounts(filter));
  return await spans.use(store, tenant, filter, (counts) => readCountedPage(store, tenant, bounded, counts));
}

/** Up to this many records, stepping from the first one costs no more than stepping in a leaf. */
const nearStepsMax = leafRowsAimed / 2;

/** Whether a page begins at a key, or so near to the first record that it is reached by steps. */
const isNear = (position: PagePosition): boolean => position.kind !== 'offset' || position.skip <= nearStepsMax;

/** Whether the counts must find the first record of a page. */
const isDeep = (filter: SubscriptionFilter, { column }: SubscriptionOrder, position: PagePosition): boolean =>
  !isNear(position) && isCounted(filter) && column === 'created_date';

/**
 * Whether a page and its total cost about the same for any number of records: an index has the
 * filter's records in the requested order, and the counts have the total and the first record. A
 * page of a product's records with a rare status may read all index entries of the product.
 */
function isBounded(filter: SubscriptionFilter, order: SubscriptionOrder, position: PagePosition): boolean {
  if (!isCounted(filter) || (filter.productId !== undefined && filter.statuses !== undefined)) return false;
  if (order.column === 'created_date') return true;
  const { dateColumn: _dateColumn, ...conditions } = filter;
  return Object.keys(conditions).length === 0 && isNear(position);
}

/** Up to this many records are read and sorted on the main thread, in about a millisecond. */
const narrowRowsMax = 500;

/**
 * Whether a filter selects one SIM, device or subscriber and nothing else, so that an index has
 * exactly its records.
 */
function isNarrow(filter: SubscriptionFilter): boolean {
  return selectsOne(filter) && Object.keys(filter).length === 2; // the other one is `dateColumn`
}
