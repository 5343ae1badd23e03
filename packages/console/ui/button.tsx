import type { ButtonHTMLAttributes } from 'preact';
import { Icon } from './icon.tsx';
import type { IconNode } from './icons.ts';

type Attributes = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'>;

interface ButtonProps extends Attributes {
  readonly variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  readonly icon?: IconNode;
  /** The action is running: the button stays focusable and does nothing. */
  readonly busy?: boolean;
}

/** A button with a word, and an icon before it if one is given. */
export function Button({ variant = 'secondary', icon, busy = false, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${variant}`}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon icon={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Attributes {
  readonly icon: IconNode;
  /** What it does, for screen readers and as the tooltip. */
  readonly label: string;
  /** Within a line of text. */
  readonly isInline?: boolean;
}

/** A button that shows only an icon. */
export const IconButton = ({ icon, label, isInline = false, ...rest }: IconButtonProps) => (
  <button type="button" {...rest} class={`icon-button ${isInline ? 'inline' : ''}`} aria-label={label} title={label}>
    <Icon icon={icon} />
  </button>
);
