import type { SubscriptionPage } from '../../../client/index.ts';

const uncounted =
  'The responses do not say how many subscriptions there are: ask your operator which proxy removes X-Total-Count, X-Total-Pages or X-Current-Page';

/** Returns the page. Throws if a proxy has removed its numbers: the console would show others. */
export function requireCounts(page: SubscriptionPage): SubscriptionPage {
  const { totalCount, totalPages, currentPage } = page;
  if (![totalCount, totalPages, currentPage].some(Number.isNaN)) return page;
  throw new Error(uncounted);
}
