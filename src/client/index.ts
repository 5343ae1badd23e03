export type { RemovedSubscription, SubscriptionChange } from '../contract/change.ts';
export type { ErrorCode } from '../contract/error.ts';
export type { Problem } from '../contract/problem.ts';
export type { Product } from '../contract/product.ts';
export type { Subscription } from '../contract/subscription.ts';
export type { SubscriptionSummary, SummaryGroup } from '../contract/summary.ts';
export {
  autoRenews,
  type ChangesOptions,
  type ChangesPage,
  isRemoved,
  SubreportClient,
  type SubreportClientOptions,
  type SubscriptionPage,
  type SubscriptionQuery,
  type SummaryQuery,
} from './client.ts';
export { ApiError, ConnectionError, TokenRequestError } from './error.ts';
