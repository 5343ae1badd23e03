import type { SummaryGroup } from '../../../contract/summary.ts';
import { capital } from '../../ui/capital.ts';
import { formatCount, formatShare } from '../../ui/format-count.ts';
import { Link } from '../../ui/location.tsx';
import { countStrings } from './count-strings.ts';
import type { CountRow } from './counts-table.ts';

const text = countStrings;

/** The name of a dimension. */
export const labelOf = (by: SummaryGroup): string => capital(text.values[by][0]);

interface CountBarsProps {
  readonly by: SummaryGroup;
  /** The name of the table; that of the dimension by default. */
  readonly label?: string;
  readonly rows: readonly CountRow[];
  /** How many of the rows are shown. */
  readonly shown: number;
  /** The list of what a row counts, if filters select it. */
  readonly hrefOf: (row: CountRow) => string | undefined;
}

/** Counts as a table: each with its share, and a bar that compares it with the largest one. */
export function CountBars({ by, label = labelOf(by), rows, shown, hrefOf }: CountBarsProps) {
  const largest = Math.max(...rows.map(({ share }) => share), 0);
  return (
    <div class="counts-box">
      <table class="counts numbers" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{labelOf(by)}</th>
            <th scope="col">{text.count}</th>
            <th scope="col">{text.share}</th>
            <td class="counts-bar" />
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <Row key={row.value} row={row} href={hrefOf(row)} part={row.share / largest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly row: CountRow;
  readonly href: string | undefined;
  /** The length of the bar, from 0 to 1. */
  readonly part: number;
}

const Row = ({ row: { label, tone, count, share }, href, part }: RowProps) => (
  <tr>
    <th scope="row">
      {href === undefined ? (
        label
      ) : (
        <Link class="quiet-link target" href={href}>
          <bdi>{label}</bdi>
        </Link>
      )}
    </th>
    <td>{formatCount(count)}</td>
    <td class="soft">{formatShare(share)}</td>
    <td class="counts-bar" aria-hidden="true">
      <span class="mark" data-tone={tone} style={{ width: `${part * 100}%` }} />
    </td>
  </tr>
);
