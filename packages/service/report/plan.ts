import { type DateField, dateFields } from '../../contract/query.ts';
import type { PagePosition, SubscriptionOrder } from '../storage/read/page-sql.ts';
import type { SubscriptionFilter } from '../storage/subscription-filter.ts';
import { dateColumns, planFilter } from './filters.ts';
import type { ReportQuery } from './report-query.ts';

/** What to read: which records, in which order, from where, how many. */
export interface ReportPlan {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  readonly size: number;
}

/** Translates a query for the store. `firstPage` is the number of the first page. */
export function planReport(query: ReportQuery, firstPage: number): ReportPlan {
  return {
    filter: planFilter(query),
    order: planOrder(query.sort),
    position: planPosition(query, firstPage),
    size: query.size,
  };
}

function planOrder(sort: ReportQuery['sort']): SubscriptionOrder {
  const field = (Object.keys(dateFields) as DateField[]).find((each) => sort.endsWith(dateFields[each])) ?? 'created';
  return { column: dateColumns[field], descending: sort.startsWith('-') };
}

function planPosition({ cursor, page, size }: ReportQuery, firstPage: number): PagePosition {
  if (cursor !== undefined) return { kind: cursor.direction, orderKey: cursor.key };
  return { kind: 'offset', skip: (page - firstPage) * size };
}
