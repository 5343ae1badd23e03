import type { ComponentChildren } from 'preact';

interface StateLabelProps {
  readonly tone: 'active' | 'pending' | 'depleted' | 'expired' | 'danger';
  readonly children: ComponentChildren;
}

/** A state as a dot and a word. */
export const StateLabel = ({ tone, children }: StateLabelProps) => (
  <span class="status-label" data-tone={tone}>
    <span class="status-dot mark" aria-hidden="true" />
    {children}
  </span>
);
