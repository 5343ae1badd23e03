import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface ChartSvgProps {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly description: string;
  readonly children: ComponentChildren;
}

/** A drawing with a title and a description, in CSS pixels. */
export function ChartSvg({ width, height, title, description, children }: ChartSvgProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a drawing
    <svg
      class="chart-drawing"
      role="group"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-description`}
    >
      {/* outside of defs, browsers show the title as a tooltip over every bar */}
      <defs>
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-description`}>{description}</desc>
      </defs>
      {children}
    </svg>
  );
}
