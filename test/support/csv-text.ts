import { stringify } from 'csv-stringify/sync';
import { csvColumns } from '../../packages/service/import/csv-layout.ts';
import type { SyntheticRow } from '../../packages/service/import/synthetic-rows.ts';

/** Rows as a CSV source with all columns. */
export const csvText = (rows: readonly SyntheticRow[]): string =>
  stringify(
    rows.map(({ product, ...row }) => ({
      ...row,
      ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`product.${name}`, value])),
    })),
    { header: true, columns: [...csvColumns] },
  );
