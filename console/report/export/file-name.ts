import { type ExportFormat, exportFormats } from './export-format.ts';

/**
 * The suggested name of an exported file, or of counts by a dimension. It has no filter: an email
 * address must not appear in a file name.
 *
 * @example 'acme-subscriptions-20261122T101500Z.csv'
 */
export function fileName(tenant: string, at: Date, format: ExportFormat, by?: string): string {
  const safeTenant = tenant
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64);
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${safeTenant}-subscriptions${by === undefined ? '' : `-by-${by}`}-${time}.${exportFormats[format].extension}`;
}
