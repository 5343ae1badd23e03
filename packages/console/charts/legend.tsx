import { formatCount } from '../ui/format-count.ts';
import { Link } from '../ui/location.tsx';
import { strings } from '../ui/strings.ts';
import type { Series, Tone } from './chart-data.ts';
import { markOf, unfinishedFill } from './marks.tsx';

/** The colour of a series, beside its name. */
export const Swatch = ({ tone }: { readonly tone: Tone }) => (
  <svg width="12" height="12" aria-hidden="true">
    <rect {...markOf(tone)} width="12" height="12" rx="2" />
  </svg>
);

interface LegendProps {
  /** In the order of the stack from its bottom. */
  readonly series: readonly Series[];
  /** What the numbers count: "In these 24 months". */
  readonly period: string;
}

/** The series of a chart with their totals, and what hatched columns are. */
export const Legend = ({ series, period }: LegendProps) => (
  <ul class="chart-legend row small long">
    <li class="soft">{period}</li>
    {series.map(({ label, tone, total, href }) => (
      <li key={label}>
        <Swatch tone={tone} />
        {href === undefined ? (
          label
        ) : (
          <Link class="quiet-link target" href={href}>
            {label}
          </Link>
        )}{' '}
        <span class="soft">{formatCount(total)}</span>
      </li>
    ))}
    <li class="soft">
      <svg width="12" height="12" aria-hidden="true">
        <rect class="chart-colour mark" data-tone="other" width="12" height="12" rx="2" />
        <rect fill={unfinishedFill} width="12" height="12" rx="2" />
      </svg>
      {strings.chart.unfinished}
    </li>
  </ul>
);
