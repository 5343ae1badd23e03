import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Brand } from './brand.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

interface SignInFormProps {
  readonly submit: string;
  readonly onSubmit: (fields: FormData) => Promise<void>;
  readonly children: ComponentChildren;
}

/** A form that shows the error of the service beside its button. */
export function SignInForm({ submit, onSubmit, children }: SignInFormProps) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  return (
    <form
      class="sign-in-form stack"
      method="post"
      onSubmit={async (event) => {
        event.preventDefault();
        if (busy) return;
        const form = event.currentTarget;
        setBusy(true);
        setError(undefined);
        try {
          await onSubmit(new FormData(form));
          form.reset(); // the page keeps no copy of the secret
        } catch (failure) {
          setError(failure);
        }
        setBusy(false);
      }}
    >
      {children}
      {error !== undefined && <ErrorNote error={error} />}
      <Button type="submit" variant="primary" busy={busy}>
        {submit}
      </Button>
    </form>
  );
}

interface SignInPlaceProps {
  readonly title: string;
  readonly text: string;
  /** Beside the product's name. */
  readonly word?: string;
  /** Whether it is a dialog over a page whose session has expired. */
  readonly isOver: boolean;
  readonly children: ComponentChildren;
}

/** A page of its own, or a dialog over the page whose session has expired. */
export function SignInPlace({ title, text, word, isOver, children }: SignInPlaceProps) {
  useEffect(() => {
    // not of the user before
    if (!isOver) document.title = [title, ...(word === undefined ? [] : [word]), 'subreport'].join(' · ');
  }, [title, word, isOver]);
  if (isOver)
    return (
      <Dialog title={title}>
        <div class="sign-in-body stack gap-2">
          <p class="soft">{text}</p>
          {children}
        </div>
      </Dialog>
    );
  return (
    <main class="alone">
      <div class="sign-in-body sign-in-card surface stack gap-2">
        <Brand word={word} />
        <h1>{title}</h1>
        <p class="soft">{text}</p>
        {children}
      </div>
    </main>
  );
}
