import type { ComponentChildren } from 'preact';

interface Figure {
  readonly label: string;
  readonly value: ComponentChildren;
}

/** A row of figures with their labels. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl class="figures">
    {figures.map(({ label, value }) => (
      <div key={label} class="figure">
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
