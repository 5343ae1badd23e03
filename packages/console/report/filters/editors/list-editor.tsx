import { useState } from 'preact/hooks';
import type { ListParameter } from '../../../../contract/listed-values.ts';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextArea } from '../../../ui/field.tsx';
import type { ListedValues } from '../../link/report-state.ts';
import { filterStrings } from '../filter-strings.ts';
import { readList } from '../read-pasted.ts';
import type { EditorProps } from './editor-props.ts';

const text = filterStrings.list;

interface ListEditorProps {
  readonly name: ListParameter;
  readonly values: readonly string[];
  /** What the button says. */
  readonly action?: string;
  readonly onList: (listed: ListedValues) => void;
}

/** A list of values, one on each line, as a column of a spreadsheet is pasted. */
export function ListEditor({ name, values, action, onList }: ListEditorProps) {
  const [error, setError] = useState<string>();
  return (
    <EditorForm
      first="textarea"
      action={action}
      onSubmit={(form) => {
        const read = readList(name, String(new FormData(form).get('list') ?? ''));
        if ('fault' in read) setError(read.fault);
        else onList({ name, values: read.values });
      }}
    >
      <TextArea
        name="list"
        label={text.one[name]}
        hint={text.hint}
        error={error}
        rows={8}
        defaultValue={values.join('\n')}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </EditorForm>
  );
}

/** The list of a report. */
export function ListedEditor({ state: { listed, asksForList = 'iccid' }, onApply }: EditorProps) {
  const { name, values } = listed ?? { name: asksForList, values: [] };
  return <ListEditor name={name} values={values} onList={(given) => onApply({ listed: given })} />;
}
