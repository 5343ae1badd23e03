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
  meaningUnknown: 'This console has no description of this status.',
  meaningNone: 'This subscription has no status.',
  ended: 'Ended',
  dates: { createdDate: 'Created', activationDate: 'Activated', expirationDate: 'Ends' },
  moment: { present: 'Now', past: 'Time of the report' },
  planId: 'Plan id',
  related: {
    title: 'Other subscriptions',
    sim: 'All of this SIM',
    simCount: (count: string, number: number) =>
      number === 1 ? 'Only this one of this SIM' : `All ${count} of this SIM`,
    device: 'All of this device',
    plan: 'All of this plan',
  },
  json: 'JSON',
  curl: 'Command for curl',
  copyCurl: 'as curl',
  curlHint: 'Set ACCESS_TOKEN to an access token first. Run it in bash, zsh or another POSIX shell.',
} as const;
