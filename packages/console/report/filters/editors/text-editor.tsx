import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { takeFocus } from '../../../ui/use-first-focus.ts';
import { valueFault } from '../../link/check-value.ts';
import type { FilterName } from '../../link/report-state.ts';
import { strings } from '../../strings.ts';
import type { EditorProps } from './editor-props.ts';

const text = strings.subscriptions;

interface TextEditorProps extends EditorProps {
  readonly parameter: FilterName;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The value of what was typed. */
  readonly read?: ((typed: string) => string) | undefined;
}

/** One value that is typed. What the service would reject is not sent. */
export function TextEditor({
  parameter,
  label,
  hint,
  read = (typed) => typed.trim(),
  state,
  onApply,
}: TextEditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState(state.filters[parameter] ?? '');
  const [rule, setRule] = useState<string>();
  useLayoutEffect(() => takeFocus(form.current?.querySelector('input')), []);
  return (
    <EditorForm
      formRef={form}
      onSubmit={() => {
        const value = read(typed);
        const fault = valueFault(parameter, value);
        setRule(fault?.rule);
        if (fault === undefined) onApply({ [parameter]: value });
      }}
    >
      <TextField
        label={label}
        hint={hint}
        error={rule && text.editor.rule(rule)}
        value={typed}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        inputMode={parameter === 'iccid' ? 'numeric' : 'text'}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <Button type="submit" variant="primary">
        {text.apply}
      </Button>
    </EditorForm>
  );
}
