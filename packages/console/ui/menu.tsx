import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import { Check, type IconNode } from './icons.ts';
import { Popover } from './popover.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconNode;
  /** Makes it one of a choice, and says whether it is chosen. */
  readonly checked?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  readonly label: ComponentChildren;
  readonly name?: string;
  readonly icon?: IconNode;
  readonly variant?: 'primary' | 'secondary' | 'quiet';
  readonly items: readonly MenuItem[];
}

const steps: Readonly<Record<string, (index: number, length: number) => number>> = {
  ArrowDown: (index, length) => (index + 1) % length,
  ArrowUp: (index, length) => (index - 1 + length) % length,
  Home: () => 0,
  End: (_index, length) => length - 1,
};

/** Moves the focus between the items of a menu with the keys. */
export function moveFocus(event: KeyboardEvent): void {
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role^=menuitem]')];
  items[step(items.indexOf(document.activeElement as HTMLElement), items.length)]?.focus();
}

/** A button that opens a list of actions or of choices; arrow keys move between them. */
export const Menu = ({ items, ...button }: MenuProps) => (
  <Popover {...button} kind="menu" first="[role^=menuitem]">
    {(close) => (
      <div role="menu" class="menu" tabIndex={-1} onKeyDown={moveFocus}>
        {items.map(({ label, icon, checked, onSelect }) => (
          <button
            key={label}
            type="button"
            {...(checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked })}
            class="menu-item bare"
            tabIndex={-1}
            onClick={() => {
              close();
              onSelect();
            }}
          >
            {icon && <Icon icon={icon} />}
            <span class="menu-label">{label}</span>
            {checked === true && <Icon icon={Check} />}
          </button>
        ))}
      </div>
    )}
  </Popover>
);
