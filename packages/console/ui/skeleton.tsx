import type { ComponentChildren } from 'preact';
import { strings } from './strings.ts';

interface SkeletonProps {
  /** CSS lengths of the part that is loading. */
  readonly width?: string;
  readonly height?: string;
}

/** A grey bar in the place of a part that is loading. It appears after 150 ms (notes.css). */
export const Skeleton = ({ width = '100%', height = '1em' }: SkeletonProps) => (
  <span class="skeleton" style={{ width, height }} aria-hidden="true" />
);

/** Says to screen readers that the part is loading, and shows its skeletons. */
export const Loading = ({ children }: { children?: ComponentChildren }) => (
  <div class="stack gap-3" aria-busy="true">
    <span class="visually-hidden">{strings.loading}</span>
    {children}
  </div>
);
