import type { Axis as D3Axis } from 'd3-axis';
import { select } from 'd3-selection';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface AxisProps<Domain> {
  readonly axis: D3Axis<Domain>;
  readonly x?: number;
  readonly y?: number;
}

/** An axis, drawn by D3. Screen readers get the same from the texts of the bars. */
export function Axis<Domain>({ axis, x = 0, y = 0 }: AxisProps<Domain>) {
  const group = useRef<SVGGElement>(null);
  useLayoutEffect(() => {
    if (group.current !== null) select(group.current).call(axis);
  });
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group of an SVG takes no focus
  return <g ref={group} class="chart-axis" transform={`translate(${x},${y})`} aria-hidden="true" />;
}
