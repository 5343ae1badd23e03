/** A request of the console, as a path below the base URL. */
export interface ConsoleRequest {
  readonly path: string;
  /** Whether the overview page sends it when it opens. */
  readonly isFirst: boolean;
}

const summary = '/v1/subscription/summary';

const daysAgo = (days: number): string => `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19)}Z`;

/** What the overview page draws: totals, a series per status, expiring records, and two weeks. */
const first = [
  `${summary}?by=status,product-id,month`,
  ...['ACTIVE', 'DEPLETED', 'EXPIRED', 'PENDING'].map((status) => `${summary}?by=month&status=${status}`),
  ...['true', 'false'].map(
    (renews) => `${summary}?by=day&date-field=expiration&expires-within=60d&auto-renew=${renews}`,
  ),
  `${summary}?by=auto-renew&expires-within=7d`,
  `${summary}?by=auto-renew&date-field=expiration&after=${daysAgo(7)}&before=${daysAgo(0)}`,
  `${summary}?by=day&created-from=${daysAgo(14)}&created-to=${daysAgo(0)}`,
  '/v1/subscription?size=10&expires-within=60d&auto-renew=false&sort=expirationDate',
];

/** What pages send for filters, and while they are open. */
const further = [
  `${summary}?by=product-id&status=ACTIVE`,
  `${summary}?by=status&product-id=cHJvZHVjdC0wLTA`,
  `${summary}?by=status&created-from=2026-01-01T00:00:00Z`,
  `${summary}?by=status&auto-renew=true`,
  `${summary}?by=status&expires-within=7d`,
  '/v1/subscription?size=1&expires-within=7d',
  '/v1/subscription?size=1&auto-renew=true',
  '/v1/subscription?size=1',
  '/v1/subscription/changes?since=now',
];

export const consoleRequests: readonly ConsoleRequest[] = [
  ...first.map((path) => ({ path, isFirst: true })),
  ...further.map((path) => ({ path, isFirst: false })),
];
