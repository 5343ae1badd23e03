import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { TextField } from '../../ui/field.tsx';
import { strings } from '../strings.ts';
import { FormDialog } from './form-dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** What must be typed; absent if the action can be undone. */
  readonly typed?: string;
  readonly confirmLabel: string;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** What happens, and what cannot be undone. */
  readonly children: ComponentChildren;
}

/** Asks before a change; what cannot be undone needs a name to be typed. */
export function ConfirmDialog({ typed, confirmLabel, onConfirm, children, ...dialog }: ConfirmDialogProps) {
  const [text, setText] = useState('');
  return (
    <FormDialog
      {...dialog}
      submit={confirmLabel}
      variant={typed === undefined ? 'primary' : 'danger'}
      isComplete={typed === undefined || text.trim() === typed}
      onSubmit={onConfirm}
    >
      {children}
      {typed !== undefined && (
        <TextField
          label={strings.typeToConfirm(typed)}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </FormDialog>
  );
}
