import type { ComponentChildren } from 'preact';

interface CardProps {
  readonly title?: string;
  /** Shown at the end of the title's line. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A surface with a heading. */
export const Card = ({ title, actions, children }: CardProps) => (
  <section class="card surface" aria-label={title}>
    {(title !== undefined || actions !== undefined) && (
      <header class="card-header spread">
        {title !== undefined && <h2>{title}</h2>}
        {actions}
      </header>
    )}
    {children}
  </section>
);
