/**
 * Path of the API: `{base_url}` of the specification is the public URL plus this (`spec.md`
 * "Endpoints").
 */
export const apiPath = '/connect-api';

/**
 * Paths of the report's operations, by operation. They are apart from `operations.ts` because the
 * client library includes them, and the descriptions there are as large as the library.
 */
export const reportPaths = {
  listSubscriptions: `${apiPath}/v1/subscription`,
  getSubscription: `${apiPath}/v1/subscription/{id}`,
  searchSubscriptions: `${apiPath}/v1/subscription/search`,
  getSubscriptionSummary: `${apiPath}/v1/subscription/summary`,
  listSubscriptionChanges: `${apiPath}/v1/subscription/changes`,
} as const;

/**
 * The URL of a service, of which a user may have given the base URL of the API or the address of a
 * page.
 */
export const serviceUrlOf = (text: string): string =>
  text.replace(/^(https?:\/\/[^/]+.*?)\/(connect-api|console|docs)([/?#].*)?$/, '$1').replace(/\/+$/, '');
