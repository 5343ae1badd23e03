/** Every text of the operator's console, by page. */
export const strings = {
  word: 'operator',
  context: 'all tenants',
  session: {
    title: 'Sign in',
    intro: 'For the operator of this service.',
    token: 'Operator token',
    tokenHint: 'Begins with sro_',
    signIn: 'Sign in',
    expiredTitle: 'Your session has ended',
    expired: (user: string) => `Sign in again as ${user} to continue where you were.`,
  },
  tenants: {
    title: 'Tenants',
  },
  clients: {
    title: 'Clients',
  },
  imports: {
    title: 'Imports',
  },
  keys: {
    title: 'Keys',
  },
  audit: {
    title: 'Audit log',
  },
  health: {
    title: 'Health',
  },
} as const;
