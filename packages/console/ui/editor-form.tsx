import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { strings } from './strings.ts';
import { takeFocus } from './take-focus.ts';

interface EditorFormProps {
  /** What the button says; "Apply" by default. */
  readonly action?: string | undefined;
  /** Selects what has the focus first. */
  readonly first?: string;
  readonly onSubmit: (form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}

/** A form of a popover. It names its errors itself, and never leaves the page. */
export function EditorForm({ action = strings.apply, first, onSubmit, children }: EditorFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (first !== undefined) takeFocus(form.current?.querySelector<HTMLElement>(first));
  }, []);
  return (
    <form
      ref={form}
      class="filter-editor stack gap-3"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event.currentTarget);
      }}
    >
      {children}
      <Button type="submit" variant="primary">
        {action}
      </Button>
    </form>
  );
}
