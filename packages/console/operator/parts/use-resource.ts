import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** What a part of the page shows of the service. */
export interface Resource<T> {
  /** The last value, also while it is read again or after a failure. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Reads it again; earlier reads are aborted. */
  readonly reload: () => void;
}

type Load<T> = (signal: AbortSignal, isBackground: boolean) => Promise<T>;

interface ResourceOptions {
  /** Milliseconds between two reads while the page is visible; absent to read once. */
  readonly everyMs?: number | undefined;
}

/** Reads a value once for each key, and again every so often. A new key discards the value. */
export function useResource<T>(key: string, load: Load<T>, { everyMs }: ResourceOptions = {}): Resource<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const read = (isBackground: boolean): Promise<void> =>
      latest.current(signal, isBackground).then(
        (value) => {
          if (!signal.aborted) setState({ key, value, isLoading: false });
        },
        (error: unknown) => {
          if (!signal.aborted) setState((before) => ({ ...keptFor(before, key), error, isLoading: false }));
        },
      );
    setState((before) => ({ ...keptFor(before, key), isLoading: true }));
    const first = read(false);
    if (everyMs !== undefined) void first.then(() => readRegularly(() => read(true), everyMs, signal));
    return () => abort.abort();
  }, [key, attempt, everyMs]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  const { value, error, isLoading } = keptFor(state, key);
  return { value, error, isLoading, reload };
}

interface Kept<T> {
  readonly key: string;
  readonly value?: T;
  readonly error?: unknown;
  readonly isLoading: boolean;
}

/** What was read for another key is not shown. */
const keptFor = <T>(state: Kept<T>, key: string): Kept<T> => (state.key === key ? state : { key, isLoading: true });

/** Reads one after another until the signal aborts; a hidden page waits until it is visible. */
async function readRegularly(read: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (document.visibilityState === 'hidden')
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
    if (!signal.aborted) await read();
  }
}
