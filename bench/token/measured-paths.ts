/**
 * Routes that the benchmark adds to the service: a ready page and the real report, each open and
 * behind the check of the report.
 */
export const measuredPaths = {
  openPage: '/bench/open-page',
  guardedPage: '/bench/guarded-page',
  openReport: '/bench/open-report',
  guardedReport: '/bench/guarded-report',
} as const;
