import { operatorStates } from './operator-states.ts';
import type { Picture } from './picture.ts';
import { reportStates } from './report-states.ts';

/** Every page and state that `npm run screenshots` takes. */
export const pictures: readonly Picture[] = [
  { name: 'sign-in', console: 'report', path: '/console/', isSignedOut: true },
  {
    name: 'sign-in-refused',
    console: 'report',
    path: '/console/',
    isSignedOut: true,
    prepare: async (page) => {
      await page.getByLabel('Client id').fill('unknown');
      await page.getByLabel('Client secret').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'overview', console: 'report', path: '/console/' },
  { name: 'subscriptions', console: 'report', path: '/console/subscriptions' },
  {
    name: 'subscriptions-filtered',
    console: 'report',
    path: '/console/subscriptions?status=ACTIVE&sort=expirationDate',
  },
  {
    name: 'subscriptions-no-match',
    console: 'report',
    path: '/console/subscriptions?status=ACTIVE&iccid=8944500102198304826',
  },
  { name: 'subscriptions-unknown-filter', console: 'report', path: '/console/subscriptions?colour=blue' },
  { name: 'changes', console: 'report', path: '/console/changes' },
  { name: 'changes-of-a-day', console: 'report', path: '/console/changes?since=1d' },
  { name: 'findings', console: 'report', path: '/console/findings' },
  { name: 'exports', console: 'report', path: '/console/exports' },
  {
    name: 'keys-of-the-keyboard',
    console: 'report',
    path: '/console/subscriptions',
    prepare: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'account-menu',
    console: 'report',
    path: '/console/',
    prepare: (page) => page.getByRole('button', { name: /^Account/ }).click(),
  },
  {
    name: 'expired',
    console: 'report',
    path: '/console/subscriptions',
    prepare: async (page) => {
      await page.route('**/console/session', (route) => route.fulfill({ json: { sign_in: ['secret'] } }));
      await page.evaluate(() => new BroadcastChannel('subreport-session').postMessage('signed in'));
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'offline',
    console: 'report',
    path: '/console/subscriptions',
    prepare: async (page) => {
      await page.context().setOffline(true);
      await page.getByText('You are offline').waitFor();
    },
  },
  ...reportStates,
  { name: 'sign-in', console: 'operator', path: '/console/', isSignedOut: true },
  { name: 'health', console: 'operator', path: '/console/' },
  { name: 'tenants', console: 'operator', path: '/console/tenants' },
  { name: 'tenant', console: 'operator', path: '/console/tenants/demo' },
  { name: 'clients', console: 'operator', path: '/console/clients' },
  { name: 'imports', console: 'operator', path: '/console/imports' },
  { name: 'keys', console: 'operator', path: '/console/keys' },
  { name: 'audit', console: 'operator', path: '/console/audit' },
  { name: 'operators', console: 'operator', path: '/console/operators' },
  { name: 'settings', console: 'operator', path: '/console/settings' },
  ...operatorStates,
];

/** The pictures of the README, in the light theme. */
export const readmePictures: readonly Picture[] = pictures.filter(
  ({ name, console }) =>
    (console === 'report' && ['overview', 'subscriptions'].includes(name)) ||
    (console === 'operator' && name === 'tenant'),
);
