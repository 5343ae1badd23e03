import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ListParameter } from '../../../../contract/listed-values.ts';
import { Button } from '../../../ui/button.tsx';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { takeFocus } from '../../../ui/use-first-focus.ts';
import type { ListedValues } from '../../link/report-state.ts';
import { strings } from '../../strings.ts';
import { readList } from '../read-pasted.ts';

const text = strings.subscriptions;

interface ListEditorProps {
  readonly name: ListParameter;
  readonly values: readonly string[];
  /** What the button says. */
  readonly action: string;
  readonly onList: (listed: ListedValues) => void;
}

/** A list of values, one on each line, as a column of a spreadsheet is pasted. */
export function ListEditor({ name, values, action, onList }: ListEditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<string>();
  useLayoutEffect(() => takeFocus(form.current?.querySelector('textarea')), []);
  return (
    <EditorForm
      formRef={form}
      onSubmit={(submitted) => {
        const read = readList(name, String(new FormData(submitted).get('list') ?? ''));
        if ('fault' in read) setError(read.fault);
        else onList({ name, values: read.values });
      }}
    >
      <TextArea
        name="list"
        label={text.list.one[name]}
        hint={text.list.hint}
        error={error}
        rows={8}
        defaultValue={values.join('\n')}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
      <Button type="submit" variant="primary">
        {action}
      </Button>
    </EditorForm>
  );
}
