import { useState } from 'preact/hooks';
import { durationDaysMax } from '../../../../contract/duration.ts';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { filterStrings } from '../filter-strings.ts';
import { Choices } from './choices.tsx';
import type { EditorProps } from './editor-props.ts';

const text = filterStrings.editor;

/** Ends within a number of days from now. */
export function EndsEditor(props: EditorProps) {
  const { state, onApply } = props;
  const [isWrong, setIsWrong] = useState(false);
  return (
    <div class="filter-editor stack gap-3">
      <Choices {...props} />
      <EditorForm
        onSubmit={(form) => {
          const days = String(new FormData(form).get('days')).trim();
          const isDays = /^[1-9]\d{0,3}$/.test(days) && Number(days) <= durationDaysMax;
          setIsWrong(!isDays);
          if (isDays) onApply({ 'expires-within': `${days}d` });
        }}
      >
        <TextField
          name="days"
          label="Days from now"
          inputMode="numeric"
          defaultValue={/^\d+(?=d$)/.exec(state.filters['expires-within'] ?? '')?.[0] ?? ''}
          error={isWrong ? text.daysRule(durationDaysMax) : undefined}
        />
      </EditorForm>
    </div>
  );
}
