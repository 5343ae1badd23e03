import { useState } from 'preact/hooks';
import { durationDaysMax } from '../../../../contract/duration.ts';
import { Button } from '../../../ui/button.tsx';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { strings } from '../../strings.ts';
import { endsWithinDays } from '../days.ts';
import type { EditorProps } from './editor-props.ts';

const text = strings.subscriptions;

/** Ends within a number of days from now. */
export function EndsEditor({ state, onApply }: EditorProps) {
  const [typed, setTyped] = useState(/^\d+(?=d$)/.exec(state.filters['expires-within'] ?? '')?.[0] ?? '');
  const [isWrong, setIsWrong] = useState(false);
  const apply = (days: number): void => onApply({ 'expires-within': `${days}d` });
  return (
    <div class="filter-editor">
      <div class="presets">
        {endsWithinDays.map((days) => (
          <Button key={days} variant="quiet" onClick={() => apply(days)}>
            {text.editor.within(text.days(days))}
          </Button>
        ))}
      </div>
      <EditorForm
        onSubmit={() => {
          const isDays = /^[1-9]\d{0,3}$/.test(typed.trim()) && Number(typed) <= durationDaysMax;
          setIsWrong(!isDays);
          if (isDays) apply(Number(typed));
        }}
      >
        <TextField
          label={text.editor.daysFromNow}
          inputMode="numeric"
          value={typed}
          error={isWrong ? text.editor.daysRule(durationDaysMax) : undefined}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" variant="primary">
          {text.apply}
        </Button>
      </EditorForm>
    </div>
  );
}
