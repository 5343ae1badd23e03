import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from './connection.tsx';

/** A part of a page that is requested on its own. */
export type Load<Value> =
  | { readonly kind: 'loading' }
  /** `asOf` is set while the service does not respond: when the value was loaded. */
  | { readonly kind: 'ready'; readonly value: Value; readonly asOf?: Date | undefined }
  | { readonly kind: 'failed'; readonly error: unknown; readonly retry: () => void };

/** The last value of a part, shown while the service does not respond. */
interface LastValue<Value> {
  readonly key: unknown;
  readonly value: Value;
  readonly at: Date;
}

/**
 * Loads a part once, and once more after each `retry` and when the service responds again after a
 * failure. Waits while `load` is `undefined`. The signal aborts when the part is left, so that the
 * service does not read for nobody. It loads again when `key` changes.
 */
export function useLoad<Value>(
  load: ((signal: AbortSignal) => Promise<Value>) | undefined,
  { key }: { readonly key?: unknown } = {},
): Load<Value> {
  const last = useRef<LastValue<Value>>(undefined);
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
        if (!left.signal.aborted) last.current = { key, value, at: new Date() };
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
  const { current: shown } = last;
  return isUp || shown?.key !== key || shown === undefined
    ? state
    : { kind: 'ready', value: shown.value, asOf: shown.at };
}
