import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from './connection.tsx';

/** A part of a page that is requested on its own. */
export type Load<Value> =
  | { readonly kind: 'loading' }
  /** `asOf` is set while the service does not respond: when the value was loaded. */
  | { readonly kind: 'ready'; readonly value: Value; readonly asOf?: Date | undefined }
  | { readonly kind: 'failed'; readonly error: unknown; readonly retry: () => void };

/** The last value of a part, shown while the service does not respond. */
export interface LastValue<Value> {
  shown?: { readonly key: unknown; readonly value: Value; readonly at: Date } | undefined;
}

interface LoadOptions<Value> {
  /** Loads again when it changes. */
  readonly key?: unknown;
  /** Keeps the last value after the part has left the page. */
  readonly last?: LastValue<Value>;
}

/**
 * Loads a part once, and once more after each `retry` and when the service responds again after a
 * failure. Waits while `load` is `undefined`. The signal aborts when the part is left, so that the
 * service does not read for nobody.
 */
export function useLoad<Value>(
  load: ((signal: AbortSignal) => Promise<Value>) | undefined,
  { key, last: kept }: LoadOptions<Value> = {},
): Load<Value> {
  const own = useRef<LastValue<Value>>({});
  const last = kept ?? own.current;
  const [state, setState] = useState<Load<Value>>({ kind: 'loading' });
  const [attempt, setAttempt] = useState(0);
  const waits = load === undefined;
  useEffect(() => {
    if (load === undefined) return;
    const left = new AbortController();
    const show = (next: Load<Value>): void => {
      if (!left.signal.aborted) setState(next);
    };
    show({ kind: 'loading' });
    const retry = (): void => setAttempt((number) => number + 1);
    load(left.signal).then(
      (value) => {
        if (!left.signal.aborted) last.shown = { key, value, at: new Date() };
        show({ kind: 'ready', value });
      },
      (error: unknown) => show({ kind: 'failed', error, retry }),
    );
    return () => left.abort();
  }, [waits, attempt, key]);
  const isUp = connection.value === 'up';
  useEffect(() => {
    if (isUp && state.kind === 'failed') state.retry();
  }, [isUp]);
  const { shown } = last;
  return isUp || shown?.key !== key || shown === undefined
    ? state
    : { kind: 'ready', value: shown.value, asOf: shown.at };
}
