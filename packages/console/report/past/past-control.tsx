import { useState } from 'preact/hooks';
import { dayOf } from '../../../contract/relative-day.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatDay, formatMinute } from '../../ui/format-date.ts';
import { CalendarDays } from '../../ui/icons.ts';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { Popover } from '../../ui/popover.tsx';
import { strings as shared } from '../../ui/strings.ts';
import { strings } from '../strings.ts';
import { asOf } from './as-of.ts';
import { type PastTime, readAsOf } from './read-as-of.ts';

const text = strings.past;

/** Which time the pages show: now, or a past one, which stays while the user moves. */
export function PastControl() {
  const past = asOf.value;
  const label = past === undefined ? text.present : text.asOf(describeTime(past));
  return (
    <span class="past-control" data-past={past !== undefined || undefined}>
      <Popover
        label={<ShortLabel past={past} label={label} />}
        name={`${text.label}: ${label}`}
        icon={CalendarDays}
        variant="quiet"
      >
        {(close) => <Times past={past} close={close} />}
      </Popover>
    </span>
  );
}

/** The label, of which a narrow window shows the day. */
function ShortLabel({ past, label }: { readonly past: PastTime | undefined; readonly label: string }) {
  if (past === undefined) return <span>{label}</span>;
  const [before = '', after = ''] = label.split(formatDay(past.date));
  return (
    <span>
      <span class="past-words">{before}</span>
      {formatDay(past.date)}
      <span class="past-words">{after}</span>
    </span>
  );
}

/** "1 Nov 2026, 00:00 UTC" */
export const describeTime = ({ instant }: Pick<PastTime, 'instant'>): string =>
  `${formatMinute(instant)} ${shared.utc}`;

/** The same page at another time. The past has no pages, and a change of it has no token. */
function showAt(word: string | undefined): void {
  const { path, query } = currentLocation.peek();
  const other = new URLSearchParams(query);
  other.delete('page');
  if (word === undefined) other.delete('as-of');
  else other.set('as-of', word);
  navigate(hrefOf(path, other), { keeps: false });
}

const words = Object.keys(text.choices) as (keyof typeof text.choices)[];

function Times({ past, close }: { readonly past: PastTime | undefined; readonly close: () => void }) {
  const [error, setError] = useState<string>();
  const now = new Date();
  const choose = (word: string | undefined) => () => {
    close();
    showAt(word);
  };
  return (
    <div class="filter-editor past-times">
      <div class="presets">
        {past !== undefined && (
          <Button variant="quiet" onClick={choose(undefined)}>
            {text.present}
          </Button>
        )}
        {words.map((word) => (
          <Button key={word} variant="quiet" onClick={choose(word)} aria-pressed={past?.word === word}>
            <span>{text.choices[word]}</span> <span class="soft">{timeOf(word, now)}</span>
          </Button>
        ))}
      </div>
      <form
        class="filter-editor"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const { value } = event.currentTarget.elements.namedItem('day') as HTMLInputElement;
          const time = readAsOf(value, now);
          if (time === undefined || time.date > now) return setError(text.dayRule);
          choose(value)();
        }}
      >
        <TextField
          type="date"
          name="day"
          label={text.day}
          hint={text.dayHint}
          error={error}
          defaultValue={dayOf(past?.word ?? '', now.toISOString().slice(0, 10)) ?? ''}
        />
        <Button type="submit" variant="primary">
          {text.show}
        </Button>
      </form>
    </div>
  );
}

function timeOf(word: string, now: Date): string {
  const time = readAsOf(word, now);
  return time === undefined ? '' : describeTime(time);
}
