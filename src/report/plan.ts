import { type DateField, dateFields } from '../contract/query.ts';
import type { SubscriptionOrder } from '../storage/page-sql.ts';
import type { DateColumn, SubscriptionFilter } from '../storage/subscription-filter.ts';
import type { PagePosition } from '../storage/subscription-page.ts';
import type { ReportQuery } from './parse.ts';

/** What is to be read: which records, in which order, from where, how many. */
export interface ReportPlan {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  readonly size: number;
}

const columns: Readonly<Record<DateField, DateColumn>> = {
  created: 'created_date',
  activation: 'activation_date',
  expiration: 'expiration_date',
};

/** Turns a query into what the store is asked. `firstPage` is the number of the first page. */
export function planReport(query: ReportQuery, firstPage: number): ReportPlan {
  const { iccid, email, productId, statuses, before, after, size } = query;
  return {
    filter: {
      dateColumn: columns[query.dateField],
      ...(iccid !== undefined && { iccid }),
      ...(email !== undefined && { email }),
      ...(productId !== undefined && { productId }),
      ...(statuses !== undefined && { statuses }),
      // Dates are kept in whole seconds. A second s is after 5.2 if s > 5, and before 5.2 if s < 6.
      ...(after !== undefined && { afterSeconds: after.seconds }),
      ...(before !== undefined && { beforeSeconds: before.seconds + (before.nanos > 0 ? 1 : 0) }),
    },
    order: planOrder(query.sort),
    position: planPosition(query, firstPage),
    size,
  };
}

function planOrder(sort: ReportQuery['sort']): SubscriptionOrder {
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  const field = (Object.keys(dateFields) as DateField[]).find((each) => dateFields[each] === name) ?? 'created';
  return { column: columns[field], descending };
}

function planPosition({ cursor, page, size }: ReportQuery, firstPage: number): PagePosition {
  if (cursor !== undefined) return { kind: cursor.direction, key: cursor.key };
  return { kind: 'offset', skip: (page - firstPage) * size };
}
