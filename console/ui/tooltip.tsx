import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Shown {
  readonly lines: readonly string[];
  readonly target: HTMLElement;
}

const shown = signal<Shown | undefined>(undefined);

/** Shows lines beside an element until it loses the pointer, focus or its place. */
export function tooltipEvents(lines: readonly string[]) {
  const show = (event: { currentTarget: HTMLElement }): void => {
    shown.value = { lines, target: event.currentTarget };
  };
  const hide = (): void => {
    shown.value = undefined;
  };
  return { onMouseEnter: show, onMouseLeave: hide, onFocus: show, onBlur: hide, onClick: show };
}

/** The id of the tooltip, for `aria-describedby`. */
export const tooltipId = 'tooltip';

window.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') shown.value = undefined;
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
    <div ref={element} id={tooltipId} role="tooltip" class="tooltip" popover="manual">
      {value?.lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
