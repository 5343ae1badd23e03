/** The texts of the sign-in. */
export const sessionStrings = {
  title: 'Sign in',
  signIn: 'Sign in',
  expired: (user: string) => `Sign in again as ${user} to continue where you were.`,
  noRecords: {
    title: 'No subscriptions yet',
    text: 'They appear here once the operator of this service has imported a file, for example with this command:',
    importCommand: (tenant: string) => `subreport import subscriptions.csv --tenant ${tenant}`,
  },
} as const;
