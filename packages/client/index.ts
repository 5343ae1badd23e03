export type { ErrorCode, TokenErrorCode } from '../contract/error-code.ts';
export type { ChangesOptions, ChangesSummaryOptions } from './changes.ts';
export { createClient, type SubreportClient } from './client.ts';
export {
  ApiError,
  ConnectionError,
  type ConnectionErrorCode,
  ExportError,
  type ExportErrorCode,
  type ParameterFault,
  type Problem,
  RejectionError,
  ResponseError,
  type ResponseErrorCode,
  SubreportError,
  TimeoutError,
  TokenRequestError,
} from './error.ts';
export type { ExportOptions, SubscriptionExport } from './export.ts';
export type { FollowOptions, FollowPage } from './follow.ts';
export type { ListOptions, SubscriptionList, SubscriptionPage } from './list.ts';
export type {
  CallOptions,
  ClientOptions,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  RetryEvent,
  TokenEndpoint,
  TokenSourceOptions,
} from './options.ts';
export type {
  ExportQuery,
  Instant,
  Moment,
  NotFound,
  OneOrMore,
  OrderedQuery,
  StatusFilter,
  SubscriptionField,
  SubscriptionFilters,
  SubscriptionQuery,
  SubscriptionSort,
  SummaryDimension,
  SummaryQuery,
} from './query.ts';
export {
  type ChangeKind,
  type ChangeOf,
  type ChangesPage,
  type ChangesSummary,
  type DescribedChange,
  isRemoved,
  type ParsedSubscription,
  type Product,
  type ProductCount,
  parseSubscription,
  type RecordOf,
  type RemovedSubscription,
  type StatusTransition,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionFinding,
  type SubscriptionFindings,
  type SubscriptionHistory,
  type SubscriptionStatus,
  type SubscriptionSummary,
  type SubscriptionVersion,
  type SummaryCount,
  type Transition,
} from './records.ts';
export { type AccessToken, TokenSource } from './token-source.ts';
export type { StoredTokens, ValueStore } from './value-store.ts';
