import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { LineChart } from '../../charts/line-chart.tsx';
import { strings } from '../strings.ts';
import { formatMeasure, type Unit } from './format-measure.ts';

const { health: texts } = strings;

/** Values that the width holds at first. */
const slotsMin = 12;

/** The least upper end of an axis, in its unit. */
const topMin: { readonly [Key in Unit]: number } = {
  'per-second': 1,
  milliseconds: 10,
  percent: 1,
  connections: 2,
  mebibytes: 1,
};

type Chart = ServiceHealth['charts'][number];

/** The words of what a newer service may call differently. */
const wordOf = (words: Readonly<Record<string, string>>, id: string): string => words[id] ?? id;

/** A small chart with its title, its unit and the current values. */
export function HealthTile({ chart: { id, unit: named, lines } }: { chart: Chart }) {
  const unit = named as Unit;
  const drawn = lines.map((line) => {
    const current = line.values.at(-1) ?? undefined;
    return {
      label: wordOf(texts.lines, line.id),
      values: line.values.map((value) => value ?? undefined),
      current: current === undefined ? strings.noValue : formatMeasure(current, unit),
    };
  });
  const title = unit === 'connections' || id !== 'database' ? wordOf(texts.titles, id) : texts.databaseFiles;
  const text = `${title}: ${drawn.map(({ label, current }) => `${label} ${current}`).join(', ')}`;
  return (
    <figure class="card health-tile">
      <figcaption>
        <h2>{title}</h2>
        <span class="soft">{wordOf(texts.units, unit)}</span>
      </figcaption>
      <LineChart
        text={text}
        lines={drawn}
        slots={Math.max(lines[0]?.values.length ?? 0, slotsMin)}
        topMin={topMin[unit] ?? 1}
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
