import type { ComponentChildren } from 'preact';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { strings } from '../strings.ts';

interface FormDialogProps {
  readonly title: string;
  readonly submit: string;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Whether the form can be sent; it can by default. */
  readonly isComplete?: boolean;
  readonly variant?: 'primary' | 'danger';
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with a form; the service's errors are shown above its buttons. */
export const FormDialog = (props: FormDialogProps) => (
  <Dialog title={props.title} {...(!props.isBusy && { onClose: props.onClose })}>
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (props.isComplete !== false && !props.isBusy) props.onSubmit();
      }}
    >
      {props.children}
      {props.error !== undefined && <ErrorNote error={props.error} />}
      <div class="dialog-actions">
        <Button disabled={props.isBusy} onClick={props.onClose}>
          {strings.cancel}
        </Button>
        <Button
          type="submit"
          variant={props.variant ?? 'primary'}
          busy={props.isBusy}
          disabled={props.isComplete === false}
        >
          {props.submit}
        </Button>
      </div>
    </form>
  </Dialog>
);
