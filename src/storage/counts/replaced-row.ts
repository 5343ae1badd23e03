import type { Row } from '../store.ts';
import type { RowChange } from './count-changes.ts';
import { toCountedRow } from './span.ts';

/**
 * The change of one row that a replacement found: as it was when `was`, and as it is, by the
 * columns that begin with `new_`, when it `stays`.
 */
export function toRowChange(row: Row | Readonly<Record<string, unknown>>): RowChange {
  const { id, was, stays, new_created_date, new_product_id, new_status } = row as Row;
  const after = { id, created_date: new_created_date, product_id: new_product_id, status: new_status } as Row;
  return {
    ...(Boolean(was) && { before: toCountedRow(row as Row) }),
    ...(Boolean(stays) && { after: toCountedRow(after) }),
  };
}
