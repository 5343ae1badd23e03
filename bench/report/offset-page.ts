import type { ReportPlan } from '../../src/report/plan.ts';
import type { Row, SqlValue, TenantReader } from '../../src/storage/store.ts';
import { and, binder, filterConditions } from '../../src/storage/subscription-filter.ts';

/** The alternative: a page by OFFSET, with its total by count(*). */
export async function offsetPage(
  reader: TenantReader,
  { filter, order, position, size }: ReportPlan,
): Promise<{ readonly total: number; readonly rows: readonly Row[] }> {
  if (position.kind !== 'offset') throw new TypeError('only pages by number are measured');
  const values: SqlValue[] = [];
  const bind = binder(values);
  const direction = order.descending ? 'desc' : 'asc';
  const page =
    `select ${order.column} as date, id, record from subscription where tenant_id = $1${and(filterConditions(filter, bind))}
    order by ${order.column} ${direction}, id ${direction} limit ${bind(size + 1)} offset ${bind(position.skip)}` as const;
  const countValues: SqlValue[] = [];
  const count =
    `select count(*) as n from subscription where tenant_id = $1${and(filterConditions(filter, binder(countValues)))}` as const;
  const [rows, [total]] = await Promise.all([reader.all(page, values), reader.all(count, countValues)]);
  return { rows, total: Number(total?.n ?? 0) };
}
