import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { strings } from '../strings.ts';
import { valueFault } from './check-value.ts';
import type { EditorProps } from './editor-props.ts';

const text = strings.subscriptions;

interface TextEditorProps extends EditorProps {
  readonly name: 'iccid' | 'email' | 'device-id' | 'plan-id' | 'product-id';
  readonly label: string;
  readonly hint?: string | undefined;
}

/** One value that is typed. What the service would reject is not sent. */
export function TextEditor({ name, label, hint, state, onApply }: TextEditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState(state.filters[name] ?? '');
  const [rule, setRule] = useState<string>();
  useEffect(() => form.current?.querySelector('input')?.focus({ preventScroll: true }), []);
  return (
    <form
      ref={form}
      class="filter-editor"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const value = name === 'iccid' ? typed.replaceAll(/[\s-]/g, '') : typed.trim();
        const fault = valueFault(name, value);
        setRule(fault?.rule);
        if (fault === undefined) onApply({ [name]: value });
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
        inputMode={name === 'iccid' ? 'numeric' : 'text'}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <Button type="submit" variant="primary">
        {text.apply}
      </Button>
    </form>
  );
}
