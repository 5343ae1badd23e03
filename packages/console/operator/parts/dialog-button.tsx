import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton, type ActionButtonProps } from './action-button.tsx';

interface DialogButtonProps extends Omit<ActionButtonProps, 'onClick'> {
  /** Draws the dialog. */
  readonly dialog: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton {...button} onClick={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}
