import type { TenantSql } from '../store.ts';
import { type SpanLevel, spanColumns } from './span.ts';

/** Spans of one level whose order keys lie in a range; every string is an SQL expression. */
interface SpanRange {
  readonly series: string;
  readonly level: SpanLevel;
  /** The first order key of the range. */
  readonly from: string;
  /** A comparison with the upper bound of the range, such as `< ($3, $4)`. */
  readonly end: string;
}

/** Composes a statement that reads the spans of a range. */
export function spansSql({ series, level, from, end }: SpanRange, columns = spanColumns) {
  return `select ${columns} from subscription_span where tenant_id = $1 and series = ${series} and level = ${level}
      and (from_date, from_id) >= ${from} and (from_date, from_id) ${end}` as const satisfies TenantSql;
}
