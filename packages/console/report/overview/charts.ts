import { noStatus, statusFilterOf } from '../../../contract/subscription.ts';
import type { Tone } from '../../charts/chart-data.ts';
import { dateFormatter } from '../../ui/format-date.ts';
import { statusTone, statusWord } from '../../ui/status-label.tsx';
import { filtersOfCount } from '../counts/count-links.ts';
import { reportLink } from '../link/report-link.ts';
import { type CreatedCounts, daysShown, type EndingCounts } from './overview-data.ts';
import { overviewStrings } from './overview-strings.ts';
import { createdBounds } from './periods.ts';
import { stackCounts } from './stacked-counts.ts';

const text = overviewStrings;
const utc = { timeZone: 'UTC' } as const;
const monthName = dateFormatter({ month: 'long', year: 'numeric', ...utc });
const monthLabel = dateFormatter({ month: 'short', year: 'numeric', ...utc });
const dayName = dateFormatter({ day: 'numeric', month: 'long', year: 'numeric', ...utc });
const dayLabel = dateFormatter({ day: 'numeric', month: 'short', ...utc });

/** The order of the stack, from its bottom. */
const statusOrder = ['ACTIVE', 'PENDING', 'DEPLETED', 'EXPIRED'];

/** Columns of the subscriptions created per month, by status. */
export function createdChart({ totals, periods, all, parts }: CreatedCounts) {
  const bounds = createdBounds(periods);
  return stackCounts({
    periods,
    all,
    parts: [...parts]
      .toSorted(([a], [b]) => positionOf(a) - positionOf(b))
      .map(([status, counts]) => ({
        label: statusWord(status),
        tone: statusTone(status) as Tone,
        counts,
        say: (count) => text.withStatus(count, statusWord(status)),
        href: reportLink({ status: statusFilterOf(status), ...bounds }),
      })),
    rest: restOf(totals.by.status ?? [], parts, reportLink({ status: noStatus, ...bounds })),
    labelOf: (value) => monthLabel(new Date(value)),
    nameOf: (value) => {
      const name = monthName(new Date(value));
      return value === periods.at(-1) ? text.soFar(name) : name;
    },
    textOf: text.createdIn,
    hrefOf: (period) => reportLink(createdBounds([period])),
    unfinished: [periods.length - 1],
  });
}

/** Records whose status has no separate series. Most have no status; `href` lists these. */
function restOf(statuses: readonly { value: string | null }[], parts: ReadonlyMap<string, unknown>, href: string) {
  const isOther = statuses.some(({ value }) => value !== null && !parts.has(value));
  const label = isOther ? text.otherStatus : statusWord(null);
  return {
    label,
    tone: 'unknown',
    say: (count: number) => text.withStatus(count, label),
    href: isOther ? undefined : href,
  } as const;
}

const positionOf = (status: string): number => {
  const position = statusOrder.indexOf(status);
  return position < 0 ? statusOrder.length : position;
};

/** Columns of the subscriptions that end per day, by whether they renew. */
export function endingChart({ periods, all, parts, filters, now }: EndingCounts) {
  return stackCounts({
    periods,
    all,
    parts: [
      {
        label: text.renews,
        tone: 'accent',
        counts: parts.get('renews') ?? [],
        say: text.renewing,
        href: reportLink({ ...filters, 'auto-renew': 'true' }),
      },
    ],
    rest: {
      label: 'Does not renew',
      tone: 'depleted',
      say: text.notRenewing,
      href: reportLink({ ...filters, 'auto-renew': 'false' }),
    },
    labelOf: (value) => dayLabel(new Date(value)),
    nameOf: (value) => {
      const name = dayName(new Date(value));
      if (value === periods[0]) return text.fromNowOn(name);
      return value === periods.at(-1) ? text.upTo(name, daysShown) : name;
    },
    textOf: text.endingOn,
    hrefOf: (value) => reportLink(filtersOfCount('day', value, filters, now) ?? {}),
    unfinished: [0, periods.length - 1],
  });
}
