import type { ComponentChildren } from 'preact';
import { ErrorNote } from './error-note.tsx';
import { Loading, Skeleton } from './skeleton.tsx';
import type { Load } from './use-load.ts';

interface LoadedPartProps<Value> {
  readonly load: Load<Value>;
  /** Kept free while it loads, in CSS pixels, so that nothing moves afterwards. */
  readonly height: number;
  readonly children: (value: Value) => ComponentChildren;
}

/** A part of a page that loads, and fails, on its own. */
export const LoadedPart = <Value,>({ load, height, children }: LoadedPartProps<Value>) => (
  <div class="loaded-part" style={{ minHeight: `${height}px` }}>
    {load.kind === 'loading' && (
      <Loading>
        <Skeleton height={`${height}px`} />
      </Loading>
    )}
    {load.kind === 'failed' && <ErrorNote error={load.error} onRetry={load.retry} />}
    {load.kind === 'ready' && children(load.value)}
  </div>
);
