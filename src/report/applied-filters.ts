import { formatDuration } from '../contract/duration.ts';
import { formatExactInstant, formatInstant } from '../contract/instant.ts';
import type { ReportParameter } from '../contract/query.ts';
import type { AskedFilters, CanonicalFilters, ReportFilters } from './report-query.ts';

type AppliedQuery = AskedFilters & Partial<Pick<ReportFilters, 'sort'>>;

/** Replaces a personal value. */
const redacted = '***';

/**
 * Returns the canonical form of a query's filters and order: the parameters that have a value, in a
 * fixed order; dates in UTC; statuses sorted, without duplicates; `date-field` always; `sort` if
 * there is an order.
 */
export function canonicalFilters(filters: Omit<AppliedQuery, 'nowSeconds'>): CanonicalFilters {
  const { iccid, email, productId, statuses, before, after, dateField, deviceId, planId, autoRenew, sort } = filters;
  const { createdFrom, createdTo, expiresWithinSeconds } = filters;
  const pairs: [ReportParameter, string][] = [];
  const add = (name: ReportParameter, value: string | undefined): void => {
    if (value !== undefined) pairs.push([name, value]);
  };
  add('iccid', iccid);
  add('email', email);
  add('product-id', productId);
  add('status', statuses?.join(','));
  add('before', before && formatExactInstant(before));
  add('after', after && formatExactInstant(after));
  add('date-field', dateField);
  add('device-id', deviceId);
  add('plan-id', planId);
  add('auto-renew', autoRenew);
  add('created-from', createdFrom && formatExactInstant(createdFrom));
  add('created-to', createdTo && formatExactInstant(createdTo));
  add('expires-within', expiresWithinSeconds === undefined ? undefined : formatDuration(expiresWithinSeconds));
  add('sort', sort);
  return pairs;
}

/**
 * Returns the header `X-Applied-Filters`: the canonical filters as a query string, the e-mail
 * address redacted, and after `expires-within` the date range it meant (`expires-after` is
 * exclusive, `expires-until` inclusive).
 */
export function describeFilters(query: AppliedQuery, canonical = canonicalFilters(query)): string {
  let text = '';
  const add = (name: string, value: string): void => {
    text += `${text === '' ? '' : '&'}${name}=${encodeURIComponent(value)}`;
  };
  for (const [name, value] of canonical) {
    add(name, name === 'email' ? redacted : value);
    if (name !== 'expires-within') continue;
    const { nowSeconds, expiresWithinSeconds = 0 } = query;
    add('expires-after', formatInstant(nowSeconds));
    add('expires-until', formatInstant(nowSeconds + expiresWithinSeconds));
  }
  return text;
}
