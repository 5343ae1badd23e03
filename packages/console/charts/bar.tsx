import type { ComponentChildren } from 'preact';
import { Link } from '../ui/location.tsx';
import type { Bars } from './use-bars.ts';

interface BarProps {
  readonly bars: Bars;
  readonly index: number;
  /** The name of the bar. */
  readonly text: string;
  readonly href: string | undefined;
  readonly children: ComponentChildren;
}

/** A bar that is a link to what it counts, or an image if no filter selects that. */
export function Bar({ bars, index, text, href, children }: BarProps) {
  const props = { ...bars.barProps(index), class: 'chart-bar', 'aria-label': text };
  return href === undefined ? (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: focus shows its text; it does nothing else
    <g role="img" {...props}>
      {children}
    </g>
  ) : (
    <Link href={href} {...props}>
      {children}
    </Link>
  );
}
