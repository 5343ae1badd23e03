import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { X } from './icons.ts';
import { strings } from './strings.ts';

interface SidePanelProps {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  /** Shown before the close button, such as previous and next. */
  readonly actions?: ComponentChildren;
  /** What keys do while the focus is in the panel. */
  readonly keys?: Readonly<Record<string, (() => void) | undefined>>;
  readonly children: ComponentChildren;
}

/** A panel at the side that leaves the page usable. Takes focus; Esc closes it and gives it back. */
export function SidePanel({ title, onClose, actions, keys = {}, children }: SidePanelProps) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <aside
      ref={panel}
      class="side-panel raised"
      aria-labelledby={id}
      tabIndex={-1}
      onKeyDown={(event) => {
        const run = event.key === 'Escape' ? onClose : keys[event.key];
        if (run === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault(); // it is also a shortcut of the page
        run();
      }}
    >
      <header class="side-panel-header spread gap-2">
        <h2 id={id} class="long">
          {title}
        </h2>
        {actions}
        <IconButton icon={X} label={strings.close} onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}
