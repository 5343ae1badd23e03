import { useRef, useState } from 'preact/hooks';
import { randomId } from '../../ui/random-id.ts';

/** A change requested by the user; its error is shown beside its button. */
export interface Action<Arguments extends readonly unknown[]> {
  readonly run: (...given: Arguments) => Promise<void>;
  readonly isBusy: boolean;
  readonly error: unknown;
}

/**
 * Runs a change, one at a time. `work` gets an idempotency key that stays the same until the change
 * succeeds or its arguments differ, so that pressing again after a lost response performs it once.
 */
export function useAction<Arguments extends readonly unknown[]>(
  work: (idempotencyKey: string, ...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  const attempt = useRef({ given: '', key: '' });
  const run = async (...given: Arguments): Promise<void> => {
    if (state.isBusy) return;
    const text = JSON.stringify(given);
    if (attempt.current.given !== text) attempt.current = { given: text, key: randomId() };
    setState({ isBusy: true, error: undefined });
    try {
      await work(attempt.current.key, ...given);
      attempt.current = { given: '', key: '' };
      setState({ isBusy: false, error: undefined });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return { run, ...state };
}
