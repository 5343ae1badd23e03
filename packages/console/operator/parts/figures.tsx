import type { ComponentChildren } from 'preact';

/** A row of figures by their labels. */
export const Figures = ({ figures }: { figures: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="figures">
    {Object.entries(figures).map(([label, value]) => (
      <div key={label} class="figure surface">
        <dt class="soft small">{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
