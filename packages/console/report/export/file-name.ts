import { type ExportFormat, exportFormats } from './export-format.ts';

/** What a name leaves out: an email address must not appear in it, and others select no records. */
const unnamed: ReadonlySet<string> = new Set(['email', 'sort', 'fields', 'zone', 'dates']);

/**
 * The suggested name of a file, with what its query selects, except for a list.
 *
 * @example 'acme-subscriptions-status-ACTIVE-20261122T101500Z.csv'
 */
export function fileName(tenant: string, at: Date, format: ExportFormat, what = 'subscriptions', query = {}): string {
  const safeTenant = tenant
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64);
  const filters = Object.entries(query).filter(([name, value]) => !unnamed.has(name) && typeof value === 'string');
  const asked = [what, ...filters.flat()].join('-').replaceAll(/\W+/g, '-').slice(0, 100);
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${safeTenant}-${asked}-${time}.${exportFormats[format].extension}`;
}
