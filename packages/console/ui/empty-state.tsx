import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import type { IconNode } from './icons.ts';

interface EmptyStateProps {
  readonly icon?: IconNode;
  readonly title: string;
  /** What the reader can do about it. */
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Says that there is nothing to show, and what to do. */
export const EmptyState = ({ icon, title, text, children }: EmptyStateProps) => (
  <div class="empty-state stack gap-2">
    {icon && <Icon icon={icon} size={28} />}
    <h2>{title}</h2>
    {text !== undefined && <p>{text}</p>}
    {children && <div class="row">{children}</div>}
  </div>
);
