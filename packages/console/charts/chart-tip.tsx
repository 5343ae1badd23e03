import { formatCount } from '../ui/format-count.ts';
import type { Tone } from './chart-data.ts';
import { Swatch } from './legend.tsx';

/** A number in the text of a bar. */
export interface TipRow {
  readonly label: string;
  readonly tone?: Tone;
  readonly count: number;
}

interface ChartTipProps {
  readonly title: string;
  readonly rows: readonly TipRow[];
  /** The bar that it belongs to: its sides and the height of the text, in pixels of the chart. */
  readonly start: number;
  readonly end: number;
  readonly top: number;
  /** The width of the chart. */
  readonly width: number;
}

/** On both sides, as in charts.css. */
const margin = 8;

/** The numbers of a bar beside it, as a small table. Screen readers get them as the name of the bar. */
export function ChartTip({ title, rows, start, end, top, width }: ChartTipProps) {
  const isRight = start + end <= width;
  const room = isRight ? width - end : start;
  const side = isRight ? { left: `${end}px` } : { right: `${width - start}px` };
  return (
    <div
      class="chart-tip raised small"
      aria-hidden="true"
      style={{ ...side, top: `${top}px`, maxWidth: `${room - 2 * margin}px` }}
    >
      <p>{title}</p>
      <table>
        <tbody>
          {rows.map(({ label, tone, count }) => (
            <tr key={label}>
              <td>{tone !== undefined && <Swatch tone={tone} />}</td>
              <td>{label}</td>
              <td>{formatCount(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
