import type { SubscriptionFilters } from '../../../src/client/index.ts';

/** A link to the subscriptions that match filters; values are those of the API's parameters. */
export function reportLink(filters: { readonly [Name in keyof SubscriptionFilters]?: string }): string {
  const pairs = Object.entries(filters).map(([name, value]) => `${name}=${encode(value)}`);
  return pairs.length === 0 ? '/console/subscriptions' : `/console/subscriptions?${pairs.join('&')}`;
}

/** Colons may stand unencoded in a query, and dates are readable that way. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');
