import { useState } from 'preact/hooks';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { valueFault } from '../../link/check-value.ts';
import type { FilterName, ReportState } from '../../link/report-state.ts';
import { filterStrings as text } from '../filter-strings.ts';
import { trim } from '../filters.ts';
import type { EditorProps } from './editor-props.ts';

interface TextEditorProps extends Omit<EditorProps, 'state'> {
  readonly state?: ReportState;
  /** What the button says. */
  readonly action?: string;
}

/** One value that is typed. What the service would reject is not sent. */
export function TextEditor({ filter, state, action, onApply }: TextEditorProps) {
  const { label, hint, clean = trim } = filter;
  const parameter = filter.parameters[0] as FilterName; // a list has an editor of its own
  const [rule, setRule] = useState<string>();
  return (
    <EditorForm
      first="input"
      action={action}
      onSubmit={(form) => {
        const value = clean(String(new FormData(form).get('value') ?? ''));
        const fault = valueFault(parameter, value);
        setRule(fault?.rule);
        if (fault === undefined) onApply({ [parameter]: value });
      }}
    >
      <TextField
        name="value"
        label={label}
        hint={hint}
        error={rule && text.editor.rule(rule)}
        defaultValue={state?.filters[parameter] ?? ''}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        inputMode={parameter === 'iccid' ? 'numeric' : 'text'}
      />
    </EditorForm>
  );
}
