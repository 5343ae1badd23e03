import { type ExportFormat, exportFormats } from './export-format.ts';

/**
 * The suggested name of a file of subscriptions, or of something else. It has no filter: an email
 * address must not appear in a file name.
 *
 * @example 'acme-subscriptions-20261122T101500Z.csv'
 */
export function fileName(tenant: string, at: Date, format: ExportFormat, what = 'subscriptions'): string {
  const safeTenant = tenant
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64);
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${safeTenant}-${what}-${time}.${exportFormats[format].extension}`;
}
