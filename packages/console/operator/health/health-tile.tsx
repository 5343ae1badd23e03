import type { ServiceHealth } from '../../../contract/operator/health.ts';
import { LineChart, type TimeAxis } from '../../charts/line-chart.tsx';
import { strings } from '../strings.ts';
import { formatMeasure, type Unit } from './format-measure.ts';

const { health: texts } = strings;

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

interface HealthTileProps {
  readonly chart: Chart;
  readonly time: TimeAxis;
  /** The time of the values that are written out. */
  readonly moment: string;
}

/** A small chart with its title, its unit and the values at the cursor, or the current ones. */
export function HealthTile({ chart: { id, unit: named, lines }, time, moment }: HealthTileProps) {
  const unit = named as Unit;
  const drawn = lines.map((line) => {
    const written = line.values.at((time.cursor ?? time.slots - 1) - time.slots) ?? undefined;
    return {
      label: wordOf(texts.lines, line.id),
      values: line.values.map((value) => value ?? undefined),
      written: written === undefined ? strings.noValue : formatMeasure(written, unit),
    };
  });
  const title = unit === 'connections' || id !== 'database' ? wordOf(texts.titles, id) : texts.databaseFiles;
  const text = `${moment}: ${drawn.map(({ label, written }) => `${label} ${written}`).join(', ')}`;
  return (
    <figure class="card health-tile">
      <figcaption>
        <h2>{title}</h2>
        <span class="soft">{wordOf(texts.units, unit)}</span>
      </figcaption>
      <LineChart
        title={title}
        text={text}
        lines={drawn}
        time={time}
        topMin={topMin[unit] ?? 1}
        format={(value) => formatMeasure(value, unit)}
      />
      <ul class="health-values">
        {drawn.map(({ label, written }, index) => (
          <li key={label}>
            <svg class="line-key" data-line={index} width="16" height="8" aria-hidden="true">
              <path d="M0 4h16" stroke="currentColor" stroke-width="2" />
            </svg>
            {label} <strong>{written}</strong>
          </li>
        ))}
      </ul>
    </figure>
  );
}
