import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatLocal, formatUtc } from './format-date.ts';
import { currentLocation } from './location.tsx';

interface Shown {
  readonly lines: readonly string[];
  readonly target: HTMLElement;
}

const shown = signal<Shown | undefined>(undefined);

/** The times of the page whose tooltip has UTC and local time: `<time data-tooltip>`. */
const timeAt = (target: EventTarget | null): HTMLTimeElement | null =>
  target instanceof Element ? target.closest<HTMLTimeElement>('time[data-tooltip]') : null;

function show({ target, defaultPrevented }: Event): void {
  const time = timeAt(target);
  // a link that was followed takes its time away
  if (time === null || defaultPrevented || shown.peek()?.target === time) return;
  const date = new Date(time.dateTime);
  const isUtc = date.getTimezoneOffset() === 0;
  shown.value = { lines: isUtc ? [formatUtc(date)] : [formatUtc(date), formatLocal(date)], target: time };
}

function hide({ target }: Event): void {
  if (timeAt(target) !== null) shown.value = undefined;
}

// one handler for all times: a page of 200 rows has 400. A pointer that rests does not move when a
// new page is drawn below it.
for (const event of ['mousemove', 'focusin', 'click']) window.addEventListener(event, show);
for (const event of ['mouseout', 'focusout']) window.addEventListener(event, hide);

// of a time that is removed, no pointer goes out
currentLocation.subscribe(() => {
  shown.value = undefined;
});

/** The id of the tooltip, for `aria-describedby`. */
export const tooltipId = 'tooltip';

window.addEventListener('keydown', () => {
  shown.value = undefined;
});

const gap = 4;
const margin = 8;

/** The one tooltip of the page. Drawn once, beside the frame. */
export function Tooltip() {
  const element = useRef<HTMLDivElement>(null);
  const { value } = shown;
  useLayoutEffect(() => {
    const tip = element.current;
    if (tip === null) return;
    if (value === undefined || !value.target.isConnected) {
      tip.hidePopover();
      return;
    }
    tip.showPopover();
    const { left, top, bottom } = value.target.getBoundingClientRect();
    const fitsBelow = bottom + gap + tip.offsetHeight <= window.innerHeight;
    tip.style.left = `${Math.max(margin, Math.min(left, window.innerWidth - tip.offsetWidth - margin))}px`;
    tip.style.top = `${fitsBelow ? bottom + gap : top - gap - tip.offsetHeight}px`;
  }, [value]);
  return (
    <div ref={element} id={tooltipId} role="tooltip" class="tooltip raised small" popover="manual">
      {value?.lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
