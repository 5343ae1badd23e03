/** The texts of one subscription. */
export const recordStrings = {
  title: 'Subscription',
  close: 'Close the subscription',
  previous: 'Previous subscription',
  next: 'Next subscription',
  missing: 'No such subscription',
  missingHint: (id: string) => `None of your subscriptions has the id ${id}. It may have been removed.`,
  meaning: {
    PENDING: 'Not active yet.',
    ACTIVE: 'In use.',
    DEPLETED: 'All its data has been used.',
    EXPIRED: 'Its period has ended.',
  },
  dates: { createdDate: 'Created', activationDate: 'Activated', expirationDate: 'Ends' },
  moment: { present: 'Now', past: 'Time of the report' },
  related: {
    title: 'Other subscriptions',
    simCount: (count: string, number: number) =>
      number === 1 ? 'Only this one of this SIM' : `All ${count} of this SIM`,
  },
  json: 'JSON',
  copyCurl: 'as curl',
  curlHint: 'Set ACCESS_TOKEN to an access token first. Run it in bash, zsh or another POSIX shell.',
} as const;
