import { formatCount } from '../ui/format-count.ts';
import { Link } from '../ui/location.tsx';
import { strings } from '../ui/strings.ts';
import type { Column } from './chart-data.ts';

interface CountTableProps {
  readonly title: string;
  /** In CSS pixels; a longer table scrolls. */
  readonly height: number;
  /** The first heading is that of the rows' names. */
  readonly headings: readonly string[];
  readonly rows: readonly (Pick<Column, 'key' | 'name' | 'href'> & { readonly counts: readonly number[] })[];
}

/** The numbers of a chart, in its place. */
export const CountTable = ({ title, height, headings, rows }: CountTableProps) => (
  <section
    class="count-table"
    aria-label={strings.chart.tableOf(title)}
    style={{ maxHeight: `${height}px` }}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    tabIndex={0}
  >
    <table class="numbers">
      <caption class="visually-hidden">{title}</caption>
      <thead>
        <tr>
          {headings.map((heading) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, href, counts }) => (
          <tr key={key}>
            <th scope="row">
              <Link href={href}>{name}</Link>
            </th>
            {counts.map((count, index) => (
              <td key={headings[index + 1]}>{formatCount(count)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
