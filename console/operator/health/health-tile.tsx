import { type ChartLine, LineChart } from '../../charts/line-chart.tsx';
import { strings } from '../strings.ts';
import { formatMeasure } from './format-measure.ts';
import type { HealthChart, Reading, Unit } from './health-charts.ts';
import { readingsMax } from './use-readings.ts';

const { health: texts } = strings;

/** Values that the width holds at first: two minutes. */
const slotsMin = 24;

/** The least upper end of an axis, in its unit. */
const topMin: { readonly [Key in Unit]: number } = {
  perSecond: 1,
  milliseconds: 10,
  percent: 1,
  connections: 2,
  mebibytes: 1,
};

interface HealthTileProps {
  readonly chart: HealthChart;
  readonly readings: readonly Reading[];
}

/** A small chart with its title, its unit and the current values. */
export function HealthTile({ chart: { id, unit, lines }, readings }: HealthTileProps) {
  const drawn: (ChartLine & { readonly current: string })[] = lines.map((line) => {
    const values = readings.slice(1).map((after, index) => {
      const before = readings[index];
      return before === undefined ? undefined : line.read(before, after);
    });
    const last = values.at(-1);
    const current = last === undefined ? strings.noValue : formatMeasure(last, unit);
    return { label: texts.lines[line.id], values, current };
  });
  const title = unit === 'connections' || id !== 'database' ? texts.titles[id] : texts.databaseFiles;
  const text = `${title}: ${drawn.map(({ label, current }) => `${label} ${current}`).join(', ')}`;
  return (
    <figure class="card health-tile">
      <figcaption>
        <h2>{title}</h2>
        <span class="soft">{texts.units[unit]}</span>
      </figcaption>
      <LineChart
        text={text}
        lines={drawn}
        slots={Math.min(Math.max(readings.length - 1, slotsMin), readingsMax - 1)}
        topMin={topMin[unit]}
        format={(value) => formatMeasure(value, unit)}
      />
      <ul class="health-values">
        {drawn.map(({ label, current }, index) => (
          <li key={label}>
            <svg class="line-key" data-line={index} width="16" height="8" aria-hidden="true">
              <path d="M0 4h16" stroke="currentColor" stroke-width="2" />
            </svg>
            {label} <strong>{current}</strong>
          </li>
        ))}
      </ul>
    </figure>
  );
}
