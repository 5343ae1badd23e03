import { Button } from '../../ui/button.tsx';
import { EditorForm } from '../../ui/editor-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMinute } from '../../ui/format-date.ts';
import { currentLocation } from '../../ui/location.tsx';
import { strings } from '../strings.ts';
import { instantOf } from './instant-of.ts';
import type { FilterChanges, ListFilter } from './list-filter.tsx';

const { period: texts } = strings.filters;

/** The periods that end now, in hours. */
const presets = [
  { label: texts.hour, hours: 1 },
  { label: texts.day, hours: 24 },
  { label: texts.week, hours: 24 * 7 },
] as const;

const since = (hours: number): FilterChanges => ({
  since: `${new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 19)}Z`,
  until: undefined,
});

/** The period in which something happened: the parameters `since` and `until`, in UTC. */
export const periodFilter: ListFilter = {
  label: texts.label,
  names: ['since', 'until'],
  read: (text) => instantOf(text) ?? text,
  describe: (query) => texts.between(wordOf(query.get('since')), wordOf(query.get('until'))),
  useSuggestions: () => ({
    suggest: (typed) =>
      presets
        .filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()))
        .map(({ label, hours }) => ({ value: label, changes: since(hours) })),
  }),
  Editor: PeriodEditor,
};

/** An instant to the minute; what is none is shown as it is. */
function wordOf(text: string | null): string | undefined {
  const instant = instantOf(text ?? undefined);
  if (instant === undefined) return undefined;
  return Number.isNaN(Date.parse(instant)) ? instant : formatMinute(instant);
}

/** One of the usual periods, or the first and the last minute. */
function PeriodEditor({ onApply }: { onApply: (changes: FilterChanges) => void }) {
  const { query } = currentLocation.value;
  const minuteOf = (name: string): string => instantOf(query.get(name) ?? undefined)?.slice(0, 16) ?? '';
  const bound = (minute: string): string | undefined => (minute === '' ? undefined : `${minute.slice(0, 16)}:00Z`);
  return (
    <div class="filter-editor stack gap-3">
      <div class="presets">
        {presets.map(({ label, hours }) => (
          <Button key={label} variant="quiet" onClick={() => onApply(since(hours))}>
            {label}
          </Button>
        ))}
      </div>
      <EditorForm
        onSubmit={(form) => {
          const given = new FormData(form);
          onApply({ since: bound(String(given.get('from'))), until: bound(String(given.get('to'))) });
        }}
      >
        <TextField type="datetime-local" name="from" label={texts.from} defaultValue={minuteOf('since')} />
        <TextField type="datetime-local" name="to" label={texts.to} defaultValue={minuteOf('until')} />
      </EditorForm>
    </div>
  );
}
