import type { ComponentChildren } from 'preact';

/** Values by their names, in two columns. */
export const DefinitionList = ({ values }: { values: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="definitions">
    {Object.entries(values).map(([name, value]) => (
      <div key={name}>
        <dt class="soft">{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
