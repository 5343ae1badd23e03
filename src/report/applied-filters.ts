import { formatDuration } from '../contract/duration.ts';
import { formatExactInstant, formatInstant } from '../contract/instant.ts';
import type { ReportParameter } from '../contract/query.ts';
import type { AskedFilters, ReportFilters } from './report-query.ts';

type AppliedQuery = AskedFilters & Partial<Pick<ReportFilters, 'sort'>>;

/** Replaces a personal value. */
const redacted = '***';

/**
 * Returns the canonical form of a query's filters and order: the parameters that have a value, in a
 * fixed order; dates in UTC; statuses sorted, without duplicates; `date-field` always; `sort` if
 * there is an order.
 */
export function canonicalFilters(
  filters: Omit<AppliedQuery, 'nowSeconds'>,
): readonly (readonly [ReportParameter, string])[] {
  const { iccid, email, productId, statuses, before, after, dateField, deviceId, planId, autoRenew, sort } = filters;
  const { createdFrom, createdTo, expiresWithinSeconds } = filters;
  const values: readonly (readonly [ReportParameter, string | undefined])[] = [
    ['iccid', iccid],
    ['email', email],
    ['product-id', productId],
    ['status', statuses?.join(',')],
    ['before', before && formatExactInstant(before)],
    ['after', after && formatExactInstant(after)],
    ['date-field', dateField],
    ['device-id', deviceId],
    ['plan-id', planId],
    ['auto-renew', autoRenew],
    ['created-from', createdFrom && formatExactInstant(createdFrom)],
    ['created-to', createdTo && formatExactInstant(createdTo)],
    ['expires-within', expiresWithinSeconds === undefined ? undefined : formatDuration(expiresWithinSeconds)],
    ['sort', sort],
  ];
  return values.filter((pair): pair is [ReportParameter, string] => pair[1] !== undefined);
}

/**
 * Returns the header `X-Applied-Filters`: the canonical filters as a query string, the e-mail
 * address redacted, and after `expires-within` the date range it meant (`expires-after` is
 * exclusive, `expires-until` inclusive).
 */
export function describeFilters(query: AppliedQuery): string {
  return canonicalFilters(query)
    .flatMap(([name, value]) => {
      if (name === 'email') return [[name, redacted]];
      return name === 'expires-within' ? [[name, value], ...expirySpan(query)] : [[name, value]];
    })
    .map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function expirySpan({ nowSeconds, expiresWithinSeconds = 0 }: AppliedQuery): string[][] {
  return [
    ['expires-after', formatInstant(nowSeconds)],
    ['expires-until', formatInstant(nowSeconds + expiresWithinSeconds)],
  ];
}
