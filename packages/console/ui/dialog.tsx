import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { X } from './icons.ts';
import { strings } from './strings.ts';
import { takeFocus } from './take-focus.ts';

interface DialogProps {
  readonly title: string;
  /** Without it, the dialog cannot be dismissed. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog, open while drawn. Focus starts in its form, stays inside, and then returns. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    const opener = document.activeElement;
    takeFocus(current?.querySelector<HTMLElement>('form :is(input, select, textarea):enabled'));
    current?.showModal();
    return () => {
      current?.close();
      // the dialog is already removed, and then the browser does not restore the focus
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog raised"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <header class="dialog-header spread">
        <h2 id={id}>{title}</h2>
        {onClose && <IconButton icon={X} label={strings.close} onClick={onClose} />}
      </header>
      {children}
    </dialog>
  );
}
