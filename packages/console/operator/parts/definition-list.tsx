import type { ComponentChildren } from 'preact';

/** Names and values, in two columns. */
export const DefinitionList = ({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="definitions">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
