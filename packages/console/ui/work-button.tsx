import type { ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

/** A button whose work takes time and may fail; the error is shown before it. */
export function WorkButton({
  work,
  ...button
}: ComponentProps<typeof Button> & { readonly work: () => Promise<void> }) {
  const [state, setState] = useState<{ readonly busy: boolean; readonly error?: unknown }>({ busy: false });
  return (
    <>
      {state.error !== undefined && <ErrorNote error={state.error} />}
      <Button
        {...button}
        busy={state.busy}
        onClick={() => {
          setState({ busy: true });
          work().then(
            () => setState({ busy: false }),
            (error: unknown) => setState({ busy: false, error }),
          );
        }}
      />
    </>
  );
}
