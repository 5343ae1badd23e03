/** Connections that put load on a server; each uses a client of its own. */
export const clientCount = 16;
/** Connections of each server to PostgreSQL at most, the default of `DATABASE_POOL_SIZE`. */
export const poolSize = 10;

/** A route without any check, and one behind the check of the report, that answer the same page. */
export const openPath = '/bench/open';
export const guardedPath = '/bench/guarded';

/** A page of the report in its usual size: 20 records of some 400 bytes. */
export const reportPage = JSON.stringify(
  Array.from({ length: 20 }, (_, n) => ({
    id: `c3Vic2NyaXB0aW9uLW51bWJlci0${n + 10}`,
    status: 'ACTIVE',
    activationDate: '2026-01-01T00:00:10Z',
    expirationDate: '2026-01-31T00:00:10Z',
    createdDate: '2026-01-01T00:00:00Z',
    product: { id: 'cHJvZHVjdC0x', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'cGxhbi0x' },
    iccid: `89445001021983048${n + 10}`,
    device_id: '352099001761481',
    auto_renew: 'true',
  })),
);

/** Length of one round of each load, in milliseconds, and rounds that count. */
export const roundMs = 1_200;
export const rounds = 12;
