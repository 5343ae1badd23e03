import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button.tsx';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { strings } from '../../strings.ts';
import { zoneName } from '../../zone/local-days.ts';
import { createdPresets, type DayRange, presetInLink } from '../days.ts';

const text = strings.subscriptions;

/** Days of an interval, both included; empty where the interval has no bound. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

interface DateRangeEditorProps {
  readonly days: Days;
  /** Offers the usual periods. */
  readonly onPreset?: (range: DayRange) => void;
  readonly onDays: (days: Days) => void;
}

interface DateFaults {
  readonly from?: string;
  readonly to?: string;
}

/** A period: one of the usual ones, or the first and the last day. */
export function DateRangeEditor({ days, onPreset, onDays }: DateRangeEditorProps) {
  const [faults, setFaults] = useState<DateFaults>({});
  const submit = (form: HTMLFormElement): void => {
    const [from, to] = ['from', 'to'].map((name) => form.elements.namedItem(name) as HTMLInputElement);
    if (from === undefined || to === undefined) return;
    const found = faultsOf(from, to);
    setFaults(found);
    if (Object.keys(found).length === 0) onDays({ from: from.value, to: to.value });
  };
  return (
    <div class="filter-editor">
      {onPreset && (
        <div class="presets">
          {createdPresets.map((preset) => (
            <Button key={preset} variant="quiet" onClick={() => onPreset(presetInLink(preset, new Date()))}>
              {text.presetButton[preset]}
            </Button>
          ))}
        </div>
      )}
      <EditorForm onSubmit={submit}>
        <div class="date-fields">
          <TextField type="date" name="from" label={text.editor.from} defaultValue={days.from} error={faults.from} />
          <TextField type="date" name="to" label={text.editor.to} defaultValue={days.to} error={faults.to} />
        </div>
        <p class="field-hint">{text.editor.daysOf(zoneName())}</p>
        <Button type="submit" variant="primary">
          {text.apply}
        </Button>
      </EditorForm>
    </div>
  );
}

function faultsOf(from: HTMLInputElement, to: HTMLInputElement): DateFaults {
  // a date that is half typed has an empty value
  const isPart = (input: HTMLInputElement): boolean => input.validity.badInput;
  if (isPart(from) || isPart(to))
    return {
      ...(isPart(from) && { from: text.editor.otherDay }),
      ...(isPart(to) && { to: text.editor.otherDay }),
    };
  if (from.value === '' && to.value === '') return { from: text.editor.oneDay };
  return from.value !== '' && to.value !== '' && to.value < from.value ? { to: text.editor.endBeforeStart } : {};
}
