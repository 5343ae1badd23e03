/** The texts of the sign-in. */
export const sessionStrings = {
  title: 'Sign in',
  intro: 'See the subscriptions of your account.',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  signIn: 'Sign in',
  signInWithProvider: 'Sign in with your organization',
  otherAccount: 'Use another account',
  or: 'or',
  expiredTitle: 'Your session has ended',
  expired: (user: string) => `Sign in again as ${user} to continue where you were.`,
  notHere: 'Sign-in is not set up. Ask the operator of this service.',
  noRecords: {
    command: 'the command',
    title: 'No subscriptions yet',
    text: 'They appear here once the operator of this service has imported a file, for example with this command:',
    importCommand: (tenant: string) => `subreport import subscriptions.csv --tenant ${tenant}`,
  },
} as const;
