import { type DateField, dateFields } from '../../contract/query.ts';
import type { PagePosition, PageQuery, SubscriptionOrder } from '../storage/read/page-sql.ts';
import { dateColumns, planFilter } from './filters.ts';
import type { ReportQuery } from './report-query.ts';

/** Translates a query for the store. `firstPage` is the number of the first page. */
export function planReport(query: ReportQuery, firstPage: number): PageQuery {
  return {
    filter: planFilter(query),
    order: planOrder(query.sort),
    position: planPosition(query, firstPage),
    size: query.size,
    layout: query.format === 'json' ? 'array' : 'lines',
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
