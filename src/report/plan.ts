import type { Instant } from '../contract/instant.ts';
import { type DateField, dateFields } from '../contract/query.ts';
import type { PagePosition, SubscriptionOrder } from '../storage/read/page-sql.ts';
import type { DateBounds, DateColumn, SubscriptionFilter } from '../storage/subscription-filter.ts';
import type { AskedFilters, ReportQuery } from './report-query.ts';

/** What to read: which records, in which order, from where, how many. */
export interface ReportPlan {
  readonly filter: SubscriptionFilter;
  readonly order: SubscriptionOrder;
  readonly position: PagePosition;
  readonly size: number;
}

/** The column of each date. */
export const dateColumns: Readonly<Record<DateField, DateColumn>> = {
  created: 'created_date',
  activation: 'activation_date',
  expiration: 'expiration_date',
};

/** Translates a query for the store. `firstPage` is the number of the first page. */
export function planReport(query: ReportQuery, firstPage: number): ReportPlan {
  return {
    filter: planFilter(query),
    order: planOrder(query.sort),
    position: planPosition(query, firstPage),
    size: query.size,
  };
}

/** Translates the filters of a query for the store. */
export function planFilter(query: AskedFilters): SubscriptionFilter {
  const { iccid, email, productId, statuses, planId, deviceId, autoRenew } = query;
  return {
    ...planBounds(query),
    ...(iccid !== undefined && { iccid }),
    ...(email !== undefined && { email }),
    ...(productId !== undefined && { productId }),
    ...(statuses !== undefined && { statuses }),
    ...(planId !== undefined && { planId }),
    ...(deviceId !== undefined && { deviceId }),
    ...(autoRenew !== undefined && { autoRenew }),
  };
}

/**
 * All bounds of a query, one pair per date; the creation date first, as the default order and the
 * counts use it.
 */
function planBounds(query: AskedFilters): DateBounds & Pick<SubscriptionFilter, 'furtherBounds'> {
  const { before, after, createdFrom, createdTo, expiresWithinSeconds, nowSeconds } = query;
  const bounds: { dateColumn: DateColumn; afterSeconds?: number; beforeSeconds?: number }[] = [];
  const narrow = (dateColumn: DateColumn, afterSeconds?: number, beforeSeconds?: number): void => {
    if (afterSeconds === undefined && beforeSeconds === undefined) return;
    let known = bounds.find((each) => each.dateColumn === dateColumn);
    if (known === undefined) {
      known = { dateColumn };
      bounds.push(known);
    }
    if (afterSeconds !== undefined) known.afterSeconds = Math.max(afterSeconds, known.afterSeconds ?? afterSeconds);
    if (beforeSeconds !== undefined)
      known.beforeSeconds = Math.min(beforeSeconds, known.beforeSeconds ?? beforeSeconds);
  };
  narrow('created_date', createdFrom && wholeSecond(createdFrom) - 1, createdTo && wholeSecond(createdTo));
  narrow(dateColumns[query.dateField], after?.seconds, before && wholeSecond(before));
  // includes the last second
  if (expiresWithinSeconds !== undefined) narrow('expiration_date', nowSeconds, nowSeconds + expiresWithinSeconds + 1);
  const [first = { dateColumn: dateColumns[query.dateField] }, ...furtherBounds] = bounds;
  return furtherBounds.length > 0 ? { ...first, furtherBounds } : first;
}

/**
 * Rounds up, as dates are stored in whole seconds: a date is 5.2 or later if it is 6 or later, and
 * before 5.2 if it is before 6. After 5.2 means after 5.
 */
const wholeSecond = ({ seconds, nanos }: Instant): number => seconds + (nanos > 0 ? 1 : 0);

function planOrder(sort: ReportQuery['sort']): SubscriptionOrder {
  const field = (Object.keys(dateFields) as DateField[]).find((each) => sort.endsWith(dateFields[each])) ?? 'created';
  return { column: dateColumns[field], descending: sort.startsWith('-') };
}

function planPosition({ cursor, page, size }: ReportQuery, firstPage: number): PagePosition {
  if (cursor !== undefined) return { kind: cursor.direction, orderKey: cursor.key };
  return { kind: 'offset', skip: (page - firstPage) * size };
}
