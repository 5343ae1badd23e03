/**
 * Routes that the benchmark adds to the service: a prepared page and the real report, each with and
 * without the access check.
 */
export const measuredPaths = {
  openPage: '/bench/open-page',
  guardedPage: '/bench/guarded-page',
  openReport: '/bench/open-report',
  guardedReport: '/bench/guarded-report',
} as const;
