import { useEffect, useState } from 'preact/hooks';

/** A part of a page that is requested on its own. */
export type Load<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown; readonly retry: () => void };

/** Loads a part once, and once more after each `retry`. Waits while `load` is `undefined`. */
export function useLoad<Value>(load: (() => Promise<Value>) | undefined): Load<Value> {
  const [state, setState] = useState<Load<Value>>({ kind: 'loading' });
  const [attempt, setAttempt] = useState(0);
  const waits = load === undefined;
  useEffect(() => {
    if (load === undefined) return;
    let isCurrent = true;
    const show = (next: Load<Value>): void => {
      if (isCurrent) setState(next);
    };
    show({ kind: 'loading' });
    const retry = (): void => setAttempt((number) => number + 1);
    load().then(
      (value) => show({ kind: 'ready', value }),
      (error: unknown) => show({ kind: 'failed', error, retry }),
    );
    return () => {
      isCurrent = false;
    };
  }, [waits, attempt]);
  return state;
}
