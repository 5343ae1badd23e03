import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
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
  const [from, setFrom] = useState(minuteOf('since'));
  const [to, setTo] = useState(minuteOf('until'));
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
      <form
        class="filter-editor stack gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          onApply({ since: bound(from), until: bound(to) });
        }}
      >
        <TextField
          type="datetime-local"
          label={texts.from}
          value={from}
          onInput={({ currentTarget }) => setFrom(currentTarget.value)}
        />
        <TextField
          type="datetime-local"
          label={texts.to}
          value={to}
          onInput={({ currentTarget }) => setTo(currentTarget.value)}
        />
        <Button type="submit" variant="primary">
          {strings.filters.apply}
        </Button>
      </form>
    </div>
  );
}
