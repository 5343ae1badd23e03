/** Connections that put load on a server; each uses a client of its own. */
export const clientCount = 16;
/** Connections of each server to PostgreSQL at most, the default of `DATABASE_POOL_SIZE`. */
export const poolSize = 10;
/** Rounds that count, and how long each load lasts in a round, in milliseconds. */
export const rounds = 12;
export const roundMs = 1_000;
/**
 * More access tokens than the service remembers, so that none is remembered when its turn comes
 * again.
 */
export const manyTokens = 10_600;

/**
 * Routes that the benchmark adds to the service: a ready page and the real report, each open and
 * behind the check of the report.
 */
export const paths = {
  openPage: '/bench/open-page',
  guardedPage: '/bench/guarded-page',
  openReport: '/bench/open-report',
  guardedReport: '/bench/guarded-report',
} as const;

/** Records of the tenant that the report is about. */
export const recordCount = 2_000;

/** A record of usual size. */
export function benchRecord(n: number): string {
  return JSON.stringify({
    id: `c3Vic2NyaXB0aW9u${n + 10_000}`,
    status: 'ACTIVE',
    activationDate: '2026-01-01T00:00:10Z',
    expirationDate: '2026-01-31T00:00:10Z',
    createdDate: '2026-01-01T00:00:00Z',
    product: { id: 'cHJvZHVjdC0x', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'cGxhbi0x' },
    iccid: `89445001021983${n + 10_000}`,
    device_id: '352099001761481',
    auto_renew: 'true',
  });
}
