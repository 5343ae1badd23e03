import type { ComponentChildren } from 'preact';
import { IconButton } from './button.tsx';
import { X } from './icons.ts';
import { Popover } from './popover.tsx';
import { strings } from './strings.ts';

interface ChipProps {
  /** What it says: "Status: Active, Depleted". */
  readonly label: string;
  readonly onRemove: () => void;
  /** The editor that a click opens. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A filter in words: a click edits it; Delete, Backspace or its cross removes it. */
export const Chip = ({ label, onRemove, children }: ChipProps) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: the key is that of the button inside
  <span
    class="chip"
    onKeyDown={(event) => {
      const onButton = event.target instanceof HTMLElement && event.target.classList.contains('button');
      if (onButton && (event.key === 'Delete' || event.key === 'Backspace')) onRemove();
    }}
  >
    <Popover label={label} variant="chip">
      {children}
    </Popover>
    <IconButton icon={X} label={strings.remove(label)} onClick={onRemove} />
  </span>
);
