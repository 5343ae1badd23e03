import type { Row } from '../store.ts';
import type { RowChange } from './count-changes.ts';
import { toCountedRow } from './span.ts';

/**
 * The change that a replacement makes to one row: `was` tells whether it existed before, `stays`
 * whether it exists afterwards, with the columns that begin with `new_`.
 */
export function toRowChange(row: Row | Readonly<Record<string, unknown>>): RowChange {
  const { id, was, stays, new_created_date, new_product_id, new_status } = row as Row;
  const after = { id, created_date: new_created_date, product_id: new_product_id, status: new_status } as Row;
  return {
    ...(Boolean(was) && { before: toCountedRow(row as Row) }),
    ...(Boolean(stays) && { after: toCountedRow(after) }),
  };
}
