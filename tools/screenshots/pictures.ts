/** A page of a console. */
export interface Picture {
  /** Name of its files. */
  readonly name: string;
  readonly console: 'report' | 'operator';
  readonly path: string;
}

/** Every page that `npm run screenshots` takes. */
export const pictures: readonly Picture[] = [
  { name: 'overview', console: 'report', path: '/console/' },
  { name: 'subscriptions', console: 'report', path: '/console/subscriptions' },
  { name: 'changes', console: 'report', path: '/console/changes' },
  { name: 'findings', console: 'report', path: '/console/findings' },
  { name: 'exports', console: 'report', path: '/console/exports' },
  { name: 'health', console: 'operator', path: '/console/' },
  { name: 'tenants', console: 'operator', path: '/console/tenants' },
  { name: 'tenant', console: 'operator', path: '/console/tenants/demo' },
  { name: 'clients', console: 'operator', path: '/console/clients' },
  { name: 'imports', console: 'operator', path: '/console/imports' },
  { name: 'keys', console: 'operator', path: '/console/keys' },
  { name: 'audit', console: 'operator', path: '/console/audit' },
  { name: 'operators', console: 'operator', path: '/console/operators' },
  { name: 'settings', console: 'operator', path: '/console/settings' },
];

/** File of a picture of the README without its extension. */
export const imageName = ({ console, name }: Picture): string => `${console}-${name}`;

/** The pictures of the README, in the light theme. */
export const readmePictures: readonly Picture[] = pictures.filter(
  ({ name, console }) =>
    (console === 'report' && ['overview', 'subscriptions'].includes(name)) ||
    (console === 'operator' && name === 'tenant'),
);
