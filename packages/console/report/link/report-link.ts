import type { SubscriptionFilters } from '../../../client/index.ts';

/**
 * A link to the subscriptions that match filters, in an order; values are those of the API's
 * parameters.
 */
export function reportLink(
  query: { readonly [Name in keyof SubscriptionFilters | 'sort']?: string | undefined },
): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(value)}`],
  );
  return pairs.length === 0 ? '/console/subscriptions' : `/console/subscriptions?${pairs.join('&')}`;
}

/** A query may contain colons unencoded, and dates are more readable that way. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');
