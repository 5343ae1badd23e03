/** Every text of the report console, by page. */
export const strings = {
  common: {
    subscription: 'subscription',
    subscriptions: 'subscriptions',
  },
  session: {
    title: 'Sign in',
    intro: 'See the subscriptions of your account.',
    clientId: 'Client id',
    clientSecret: 'Client secret',
    signIn: 'Sign in',
    signInWithProvider: 'Sign in with your organization',
    or: 'or',
    expiredTitle: 'Your session has ended',
    expired: (user: string) => `Sign in again as ${user} to continue where you were.`,
    notHere: 'No way to sign in is set up. Ask the operator of this service.',
  },
  overview: {
    title: 'Overview',
  },
  subscriptions: {
    title: 'Subscriptions',
    count: (count: number) => (count === 1 ? '1 subscription' : `${inDigits(count)} subscriptions`),
    order: {
      '-createdDate': 'newest first',
      createdDate: 'oldest first',
      '-activationDate': 'latest activation first',
      activationDate: 'earliest activation first',
      '-expirationDate': 'latest end first',
      expirationDate: 'earliest end first',
    },
    filter: {
      status: 'Status',
      product: 'Product',
      created: 'Created',
      activated: 'Activated',
      ends: 'Ends',
      renewal: 'Renewal',
      iccid: 'ICCID',
      device: 'Device',
      plan: 'Plan',
      subscriber: 'Email or subscriber',
    },
    preset: {
      today: 'today',
      last7: 'last 7 days',
      last30: 'last 30 days',
      thisMonth: 'this month',
      lastMonth: 'last month',
      last12Months: 'last 12 months',
    },
    within: (duration: string) => `within ${duration}`,
    days: (count: number) => (count === 1 ? '1 day' : `${inDigits(count)} days`),
    hours: (count: number) => (count === 1 ? '1 hour' : `${inDigits(count)} hours`),
    interval: {
      any: 'at any time',
      on: (day: string) => `on ${day}`,
      between: (from: string, to: string) => `${from} to ${to}`,
      since: (day: string) => `since ${day}`,
      until: (day: string) => `until ${day}`,
      from: (time: string) => `from ${time}`,
      after: (time: string) => `after ${time}`,
      before: (time: string) => `before ${time}`,
    },
    renews: { true: 'renews', false: 'does not renew' },
    hiddenSubscriber: 'not in the link',
    /** How the sentence above the table names a filter. */
    phrase: {
      status: (words: readonly string[]) => `status ${words.join(' or ')}`,
      product: (name: string) => `product ${name}`,
      preset: {
        today: 'created today',
        last7: 'created in the last 7 days',
        last30: 'created in the last 30 days',
        thisMonth: 'created this month',
        lastMonth: 'created last month',
        last12Months: 'created in the last 12 months',
      },
      created: (interval: string) => `created ${interval}`,
      activated: (interval: string) => `activated ${interval}`,
      ends: (interval: string) => `ending ${interval}`,
      renewal: { true: 'that renew', false: 'that do not renew' },
      iccid: (iccid: string) => `ICCID ${iccid}`,
      device: (id: string) => `device ${id}`,
      plan: (id: string) => `plan ${id}`,
      subscriber: (address: string) => `subscriber ${address}`,
    },
  },
  record: {},
  export: {
    title: 'Exports',
  },
  changes: {
    title: 'Changes',
  },
} as const;


const digits = new Intl.NumberFormat('en');
const inDigits = (count: number): string => digits.format(count);
