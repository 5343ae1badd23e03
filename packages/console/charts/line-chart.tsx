import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';

/** A line of a chart: a value for each time, `undefined` where there is none. */
export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | undefined)[];
}

interface LineChartProps {
  /** What the chart shows, with the current values: its text alternative. */
  readonly text: string;
  /** At most three; each has a colour and a dash pattern. */
  readonly lines: readonly ChartLine[];
  /** Number of times that the width holds; values begin at the right. */
  readonly slots: number;
  /** The least upper end of the axis, so that noise near zero looks like noise. */
  readonly topMin: number;
  readonly format: (value: number) => string;
}

/** The drawing is stretched to the width of its place; strokes keep their width. */
const width = 100;
const height = 40;

/** Values over time. The axis begins at 0. */
export function LineChart({ text, lines, slots, topMin, format }: LineChartProps) {
  const largest = Math.max(topMin, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const y = scaleLinear([0, largest], [height, 0]).nice(2);
  const [, top = largest] = y.domain();
  return (
    <div class="line-chart">
      <span class="line-chart-top" aria-hidden="true">
        {format(top)}
      </span>
      <svg role="img" aria-label={text} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
        <path class="line-chart-grid" d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
        {lines.map(({ label, values }, index) => (
          <Line key={label} values={values} slots={slots} y={y} isFilled={index === 0} />
        ))}
      </svg>
    </div>
  );
}

interface LineProps {
  readonly values: ChartLine['values'];
  readonly slots: number;
  readonly y: (value: number) => number;
  readonly isFilled: boolean;
}

function Line({ values, slots, y, isFilled }: LineProps) {
  const shown = values.slice(-slots);
  const x = (index: number): number => ((slots - shown.length + index) / Math.max(slots - 1, 1)) * width;
  const isDefined = (value: number | undefined): boolean => value !== undefined;
  const stroke = line<number | undefined>(
    (_, index) => x(index),
    (value) => y(value ?? 0),
  ).defined(isDefined);
  const fill = area<number | undefined>(
    (_, index) => x(index),
    height,
    (value) => y(value ?? 0),
  ).defined(isDefined);
  return (
    <g class="line-chart-line">
      {isFilled && <path class="line-chart-area" d={fill(shown) ?? ''} />}
      <path class="line-chart-stroke" d={stroke(shown) ?? ''} />
    </g>
  );
}
