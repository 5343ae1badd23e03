import { formatCount } from '../ui/format-count.ts';
import { Link } from '../ui/location.tsx';
import type { Series } from './chart-data.ts';
import { fillOf } from './marks.tsx';

/** The series in the order of the stack from its bottom, with their totals. */
export const Legend = ({ series }: { readonly series: readonly Series[] }) => (
  <ul class="chart-legend">
    {series.map(({ label, tone, total, href }) => (
      <li key={label}>
        <svg width="12" height="12" aria-hidden="true">
          <rect width="12" height="12" rx="2" fill={fillOf(tone)} />
        </svg>
        {href === undefined ? label : <Link href={href}>{label}</Link>} <span class="soft">{formatCount(total)}</span>
      </li>
    ))}
  </ul>
);
