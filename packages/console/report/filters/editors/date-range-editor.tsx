import { useState } from 'preact/hooks';
import { EditorForm } from '../../../ui/editor-form.tsx';
import { TextField } from '../../../ui/field.tsx';
import { beforeDay, dayAfter, dayFrom, dayUntil, endOfDay, startOfDay } from '../../zone/day-bounds.ts';
import { daysHint } from '../../zone/local-days.ts';
import { filterStrings } from '../filter-strings.ts';
import { Choices } from './choices.tsx';
import type { EditorProps } from './editor-props.ts';

const text = filterStrings.editor;

/** The bounds of an interval, `undefined` where it has none. */
interface Bounds {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** When a subscription was created: one of the usual periods, or the first and the last day. */
export function CreatedEditor(props: EditorProps) {
  const { state, onApply } = props;
  const { 'created-from': from, 'created-to': to } = state.filters;
  return (
    <div class="filter-editor stack gap-3">
      <Choices {...props} />
      <DaysForm
        from={from && dayFrom(from)}
        to={to && dayUntil(to)}
        onDays={(days) =>
          onApply({ 'created-from': days.from && startOfDay(days.from), 'created-to': days.to && endOfDay(days.to) })
        }
      />
    </div>
  );
}

/** Bounds of any of the dates; the service excludes the bounds themselves. */
export const BoundsEditor = ({ filter, state: { filters }, onApply }: EditorProps) => (
  <DaysForm
    from={filters.after && dayAfter(filters.after)}
    to={filters.before && dayUntil(filters.before)}
    onDays={({ from, to }) =>
      onApply({ 'date-field': filter.field, after: from && beforeDay(from), before: to && endOfDay(to) })
    }
  />
);

/** The first and the last day of an interval, both included. */
function DaysForm({ from, to, onDays }: Bounds & { readonly onDays: (days: Bounds) => void }) {
  const [faults, setFaults] = useState<Partial<Bounds>>({});
  return (
    <EditorForm
      onSubmit={(form) => {
        const [first, last] = ['from', 'to'].map((name) => form.elements.namedItem(name) as HTMLInputElement);
        if (first === undefined || last === undefined) return;
        const found = faultsOf(first, last);
        setFaults(found);
        if (Object.keys(found).length === 0) onDays({ from: first.value || undefined, to: last.value || undefined });
      }}
    >
      <div class="date-fields">
        <TextField type="date" name="from" label={text.from} defaultValue={from ?? ''} error={faults.from} />
        <TextField type="date" name="to" label={text.to} defaultValue={to ?? ''} error={faults.to} />
      </div>
      <p class="soft small">{daysHint()}</p>
    </EditorForm>
  );
}

function faultsOf(from: HTMLInputElement, to: HTMLInputElement): Partial<Bounds> {
  // a date that is half typed has an empty value
  const isPart = (input: HTMLInputElement): boolean => input.validity.badInput;
  if (isPart(from) || isPart(to))
    return { ...(isPart(from) && { from: text.otherDay }), ...(isPart(to) && { to: text.otherDay }) };
  if (from.value === '' && to.value === '') return { from: 'Enter at least one date' };
  return from.value !== '' && to.value !== '' && to.value < from.value
    ? { to: 'The end date must not be before the start date' }
    : {};
}
