import type { SubscriptionFindings } from '../../../client/index.ts';
import { csvOfRows } from '../export/csv-of-rows.ts';

const header = ['finding', 'count', 'since', 'example', 'ids'];

/** The findings as CSV: a row for each example, and one for a kind without any. */
export function findingsCsv({ findings }: SubscriptionFindings): string {
  const rows = findings.flatMap(({ kind, count, since = '', examples }) => {
    const start = [kind, String(count), since];
    if (examples.length === 0) return [[...start, '', '']];
    return examples.map(({ iccid, device_id: device, product_id: product, ids }) => [
      ...start,
      iccid ?? device ?? product ?? '',
      ids.join(' '),
    ]);
  });
  return csvOfRows([header, ...rows]);
}
