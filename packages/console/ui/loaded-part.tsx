import type { ComponentChildren } from 'preact';
import { connection } from './connection.tsx';
import { ErrorNote } from './error-note.tsx';
import { Loading, Skeleton } from './skeleton.tsx';
import { strings } from './strings.ts';
import type { Load } from './use-load.ts';

interface LoadedPartProps<Value> {
  readonly load: Load<Value>;
  /** Kept free while it loads, in CSS pixels, so that nothing moves afterwards. */
  readonly height: number;
  /** Whether its error is shown elsewhere. */
  readonly isNoted?: boolean;
  readonly children: (value: Value) => ComponentChildren;
}

/** A part of a page that loads, and fails, on its own; a bar says when the service does not respond. */
export const LoadedPart = <Value,>({ load, height, isNoted = false, children }: LoadedPartProps<Value>) => (
  <div class="loaded-part" data-outdated={isOutdated(load) || undefined} style={{ minHeight: `${height}px` }}>
    {load.kind === 'loading' && (
      <Loading>
        <Skeleton height={`${height}px`} />
      </Loading>
    )}
    {load.kind === 'failed' &&
      (isNoted || connection.value !== 'up' ? (
        <p class="soft placeholder">{strings.notLoaded}</p>
      ) : (
        <ErrorNote error={load.error} onRetry={load.retry} />
      ))}
    {load.kind === 'ready' && children(load.value)}
  </div>
);

/** Whether a part shows its last value because the service does not respond. */
export const isOutdated = (load: Load<unknown>): boolean => load.kind === 'ready' && load.asOf !== undefined;
