import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import type { IconNode } from './icons.ts';
import { takeFocus } from './take-focus.ts';

interface PopoverProps {
  /** What the button shows. */
  readonly label: ComponentChildren;
  /** Name of the button if its content is not enough. */
  readonly name?: string;
  readonly icon?: IconNode;
  readonly variant?: 'primary' | 'secondary' | 'quiet' | 'chip';
  /** What the opened part is, for screen readers. */
  readonly kind?: 'dialog' | 'menu' | 'listbox';
  /** Receives a function that closes the popover. Rendered at each opening. */
  readonly children: (close: () => void) => ComponentChildren;
  /** Selects what has the focus first. */
  readonly first?: string;
}

const gap = 4;
const margin = 8;

/** Places the opened part below its button, or above it, inside the window, at one of its edges. */
function place(content: HTMLElement, button: HTMLElement): void {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = content;
  const below = bottom + gap;
  const fitsBelow = below + offsetHeight + margin <= window.innerHeight || top < window.innerHeight / 2;
  const lowest = window.innerHeight - offsetHeight - margin;
  const fitsRight = left + offsetWidth + margin <= document.documentElement.clientWidth;
  content.style.left = `${Math.max(margin, fitsRight ? left : right - offsetWidth)}px`;
  content.style.top = `${Math.max(margin, fitsBelow ? Math.min(below, lowest) : top - offsetHeight - gap)}px`;
}

/** A button that opens a part over the page. Esc or a click elsewhere closes it. */
export function Popover({ label, name, icon, variant = 'secondary', kind, children, first }: PopoverProps) {
  const id = useId();
  const content = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  useLayoutEffect(() => {
    if (isOpen && first !== undefined) takeFocus(content.current?.querySelector<HTMLElement>(first));
  }, [isOpen, first]);
  useEffect(() => {
    if (!isOpen) return undefined;
    // its content may arrive later, and change its size
    const observer = new ResizeObserver(() => {
      if (content.current !== null && button.current !== null) place(content.current, button.current);
    });
    if (content.current !== null) observer.observe(content.current);
    observer.observe(document.documentElement); // a phone may be turned
    return () => observer.disconnect();
  }, [isOpen]);
  const close = (): void => {
    content.current?.hidePopover();
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button ${variant}`}
        popovertarget={id}
        aria-haspopup={kind ?? 'dialog'}
        aria-label={name}
        title={name}
      >
        {icon && <Icon icon={icon} />}
        {label}
      </button>
      <div
        ref={content}
        id={id}
        popover="auto"
        class="popover raised"
        onBeforeToggle={(event) => {
          if (event.newState === 'open') setIsOpen(true);
          // before the next key: what has the focus now keeps it until the next drawn frame
          else if (content.current?.contains(document.activeElement)) button.current?.focus();
        }}
        onToggle={(event) => {
          const { current } = content;
          if (event.newState === 'closed') setIsOpen(false);
          if (event.newState !== 'open' || current === null || button.current === null) return;
          place(current, button.current);
        }}
      >
        {isOpen && children(close)}
      </div>
    </>
  );
}
