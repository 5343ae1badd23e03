import { useId, useRef } from 'preact/hooks';
import { formatDay, formatLocal, formatUtc } from './format-date.ts';
import { strings } from './strings.ts';

interface DateTimeProps {
  /** An instant as the API writes it, or a date. */
  readonly value: string | Date | null | undefined;
  /** What is shown instead of the day, such as "in 3 days". */
  readonly text?: string | undefined;
  /** Whether Tab reaches it. In tables, focus stays with the row, which shows the times itself. */
  readonly focusable?: boolean;
}

/** A short date; hover, focus and tap show UTC and local time to the second. */
export function DateTime({ value, text, focusable = true }: DateTimeProps) {
  const id = useId();
  const tip = useRef<HTMLSpanElement>(null);
  const date = new Date(value ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return <span class="soft">{strings.noDate}</span>;
  const show = (event: { currentTarget: HTMLElement }): void => {
    const { current } = tip;
    if (current === null) return;
    const { left, bottom, top } = event.currentTarget.getBoundingClientRect();
    current.showPopover();
    const below = bottom + 4 + current.offsetHeight <= window.innerHeight;
    current.style.left = `${Math.max(8, Math.min(left, window.innerWidth - current.offsetWidth - 8))}px`;
    current.style.top = `${below ? bottom + 4 : top - 4 - current.offsetHeight}px`;
  };
  const hide = (): void => tip.current?.hidePopover();
  return (
    <time
      class="date-time"
      dateTime={date.toISOString()}
      aria-describedby={id}
      tabIndex={focusable ? 0 : undefined}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
    >
      {text ?? formatDay(date)}
      <span ref={tip} id={id} role="tooltip" class="tooltip" popover="manual">
        {formatUtc(date)}
        <br />
        {formatLocal(date)}
      </span>
    </time>
  );
}
