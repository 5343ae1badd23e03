import { formatZonedDay } from './format-date.ts';
import { strings } from './strings.ts';
import { tooltipId } from './tooltip.tsx';

interface DateTimeProps {
  /** An instant as the API writes it, or a date. */
  readonly value: string | Date | null | undefined;
  /** Shown instead of the day, such as "in 3 days", but not on paper and not in a copy. */
  readonly text?: string | undefined;
  /** Whether Tab reaches it. In tables, focus stays with the row, which shows the times itself. */
  readonly focusable?: boolean;
}

/** A short date; hover, focus and tap show UTC and local time to the second. */
export function DateTime({ value, text, focusable = true }: DateTimeProps) {
  const date = new Date(value ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return <span class="soft">{strings.noDate}</span>;
  const day = formatZonedDay(date);
  return (
    <time
      class="date-time"
      dateTime={date.toISOString()}
      aria-describedby={tooltipId}
      tabIndex={focusable ? 0 : undefined}
      data-tooltip
    >
      {text === undefined || text.includes(day) ? (text ?? day) : <span data-day={day}>{text}</span>}
    </time>
  );
}
