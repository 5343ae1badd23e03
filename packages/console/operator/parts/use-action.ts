import { useState } from 'preact/hooks';

/** A change requested by the user; its error is shown beside its button. */
export interface Action<Arguments extends readonly unknown[]> {
  readonly run: (...given: Arguments) => Promise<void>;
  readonly isBusy: boolean;
  readonly error: unknown;
}

/** Runs a change, one at a time. */
export function useAction<Arguments extends readonly unknown[]>(
  work: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  const run = async (...given: Arguments): Promise<void> => {
    if (state.isBusy) return;
    setState({ isBusy: true, error: undefined });
    try {
      await work(...given);
      setState({ isBusy: false, error: undefined });
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return { run, ...state };
}
