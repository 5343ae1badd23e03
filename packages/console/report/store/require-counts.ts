import type { SubscriptionPage } from '../../../client/index.ts';
import { strings } from '../strings.ts';

/** Returns the page. Throws if a proxy has removed its numbers: the console would show others. */
export function requireCounts(page: SubscriptionPage): SubscriptionPage {
  const { totalCount, totalPages, currentPage } = page;
  if (![totalCount, totalPages, currentPage].some(Number.isNaN)) return page;
  throw new Error(strings.subscriptions.uncounted);
}
