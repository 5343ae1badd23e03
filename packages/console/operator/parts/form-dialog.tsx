import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { strings } from '../strings.ts';

export interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  /** What must be typed, because the action cannot be undone. */
  readonly typed?: string | undefined;
  /** Whether the form can be sent; it can by default. */
  readonly isComplete?: boolean;
  readonly isBusy?: boolean;
  readonly error?: unknown;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** The fields, and what the action does. */
  readonly children: ComponentChildren;
}

/** A dialog with a form; the service's errors are shown above its buttons. */
export function FormDialog({ title, submit, typed, isComplete = true, isBusy = false, ...props }: FormDialogProps) {
  const [text, setText] = useState('');
  const canSubmit = isComplete && (typed === undefined || text.trim() === typed);
  return (
    <Dialog title={title} {...(!isBusy && { onClose: props.onClose })}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSubmit && !isBusy) props.onSubmit();
        }}
      >
        {props.children}
        {typed !== undefined && (
          <TextField
            label={strings.typeToConfirm(typed)}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
          />
        )}
        {props.error !== undefined && <ErrorNote error={props.error} />}
        <div class="dialog-actions row">
          <Button disabled={isBusy} onClick={props.onClose}>
            {strings.cancel}
          </Button>
          <Button
            type="submit"
            variant={typed === undefined ? 'primary' : 'danger'}
            busy={isBusy}
            disabled={!canSubmit}
          >
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
