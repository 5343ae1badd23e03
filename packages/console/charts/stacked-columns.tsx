import { scaleBand, scaleLinear } from 'd3-scale';
import { useId } from 'preact/hooks';
import { formatCount } from '../ui/format-count.ts';
import { Link } from '../ui/location.tsx';
import { strings } from '../ui/strings.ts';
import { useWidth } from '../ui/use-width.ts';
import { type Column, type Series, sumOf } from './chart-data.ts';
import { ChartTip, type TipRow } from './chart-tip.tsx';
import { markOf, unfinishedFill } from './marks.tsx';
import { useBars } from './use-bars.ts';

interface StackedColumnsProps {
  readonly title: string;
  readonly description: string;
  readonly series: readonly Series[];
  readonly columns: readonly Column[];
}

const height = 240;
const top = 12;
const bottom = height - 24;
const digitWidth = 7.5;
const tickLabelWidth = 66;

/** Columns on a time axis, each a stack of series. Every column has its place, empty ones too. */
export function StackedColumns(props: StackedColumnsProps) {
  const [box, width] = useWidth();
  return (
    <div ref={box} class="chart" style={{ height: `${height}px` }}>
      {width > 0 && <Drawing {...props} width={width} />}
    </div>
  );
}

function Drawing({ title, description, series, columns, width }: StackedColumnsProps & { readonly width: number }) {
  const id = useId();
  const bars = useBars(columns.length);
  const { x, y } = scalesOf(columns, width);
  const shown = bars.shown === undefined ? undefined : columns[bars.shown];
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a drawing */}
      <svg
        class="chart-drawing"
        role="group"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-description`}
      >
        {/* outside of defs, browsers show the title as a tooltip over every bar */}
        <defs>
          <title id={`${id}-title`}>{title}</title>
          <desc id={`${id}-description`}>{description}</desc>
        </defs>
        <Axes columns={columns} width={width} />
        <g ref={bars.group}>
          {columns.map(({ key, text, href, values, isUnfinished }, index) => (
            <Link key={key} href={href} {...bars.barProps(index)} class="chart-bar" aria-label={text}>
              <rect
                class="chart-hit"
                x={(x(key) ?? 0) - (x.step() - x.bandwidth()) / 2}
                y={top}
                width={x.step()}
                height={bottom - top}
              />
              {values.map((value, part) => {
                const tone = series[part]?.tone;
                if (value === 0 || tone === undefined) return null;
                const from = sumOf(values.slice(0, part));
                // at least a pixel: one record is not none
                const y1 = Math.min(y(from + value), y(from) - 1);
                return (
                  <rect key={tone} {...markOf(tone)} x={x(key)} y={y1} width={x.bandwidth()} height={y(from) - y1} />
                );
              })}
              {isUnfinished && (
                <rect
                  fill={unfinishedFill}
                  x={x(key)}
                  y={y(sumOf(values))}
                  width={x.bandwidth()}
                  height={bottom - y(sumOf(values))}
                />
              )}
            </Link>
          ))}
        </g>
      </svg>
      {shown && (
        <ChartTip
          title={shown.name}
          rows={tipRows(shown, series)}
          start={x(shown.key) ?? 0}
          end={(x(shown.key) ?? 0) + x.bandwidth()}
          top={top}
          width={width}
        />
      )}
    </>
  );
}

/** The numbers at the left, each with a line, and names below. Screen readers get them from the bars. */
function Axes({ columns, width }: { readonly columns: readonly Column[]; readonly width: number }) {
  const { x, y } = scalesOf(columns, width);
  const left = x.range()[0];
  const every = Math.ceil(tickLabelWidth / x.step());
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of an SVG takes no focus
    <g class="chart-axis" aria-hidden="true">
      {y
        .ticks(4)
        .filter(Number.isInteger)
        .map((count) => (
          <g key={count} transform={`translate(${left},${y(count) + 0.5})`}>
            <line x2={width - left} />
            <text x="-3" dy="0.32em" text-anchor="end">
              {formatCount(count)}
            </text>
          </g>
        ))}
      {columns
        .filter((_, index) => index % every === 0)
        .map(({ key, label }) => (
          <text key={key} x={(x(key) ?? 0) + x.bandwidth() / 2} y={bottom + 8} dy="0.71em" text-anchor="middle">
            {label}
          </text>
        ))}
    </g>
  );
}

/** The parts of a column from the top of the stack, and their sum. */
const tipRows = ({ values }: Column, series: readonly Series[]): TipRow[] => [
  ...series
    .flatMap(({ label, tone }, index) => (values[index] ? [{ label, tone, count: values[index] }] : []))
    .toReversed(),
  { label: strings.chart.total, count: sumOf(values) },
];

/** The positions of the columns, and their heights from zero. */
function scalesOf(columns: readonly Column[], width: number) {
  const highest = Math.max(1, ...columns.map(({ values }) => sumOf(values)));
  const y = scaleLinear([0, highest], [bottom, top]).nice(4);
  const left = formatCount(y.domain()[1] ?? 0).length * digitWidth + 8;
  const x = scaleBand(
    columns.map(({ key }) => key),
    [left, width],
  )
    .paddingInner(0.25)
    .paddingOuter(0.125);
  return { x, y };
}
