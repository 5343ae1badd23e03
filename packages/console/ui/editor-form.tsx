import type { ComponentChildren, Ref } from 'preact';

interface EditorFormProps {
  readonly formRef?: Ref<HTMLFormElement>;
  readonly onSubmit: (form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}

/** A form of a popover. It names its errors itself, and never leaves the page. */
export function EditorForm({ formRef = null, onSubmit, children }: EditorFormProps) {
  return (
    <form
      ref={formRef}
      class="filter-editor"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}
