/** The titles of the pages. */
export const titles = {
  overview: 'Overview',
  subscriptions: 'Subscriptions',
  changes: 'Changes',
  findings: 'Findings',
  exports: 'Exports',
} as const;
