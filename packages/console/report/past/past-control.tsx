import { useState } from 'preact/hooks';
import { dayOf } from '../../../contract/relative-day.ts';
import { Button } from '../../ui/button.tsx';
import { EditorForm } from '../../ui/editor-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatDay } from '../../ui/format-date.ts';
import { CalendarDays } from '../../ui/icons.ts';
import { currentLocation, hrefOf, navigate } from '../../ui/location.tsx';
import { Popover } from '../../ui/popover.tsx';
import { historyBegin } from '../session/session.ts';
import { localDay, zoneName } from '../zone/local-days.ts';
import { browserZone } from '../zone/page-zone.ts';
import { asOf, isKept } from './as-of.ts';
import { describeTime } from './describe-time.ts';
import { pastStrings } from './past-strings.ts';
import { type PastTime, readAsOf } from './read-as-of.ts';

const text = pastStrings;

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

const dayText = ({ date }: PastTime): string => formatDay(new Date(localDay(date.getTime())));

/** The label, of which a narrow window shows the day. */
function ShortLabel({ past, label }: { readonly past: PastTime | undefined; readonly label: string }) {
  if (past === undefined) return <span class="cut">{label}</span>;
  const [before = '', after = ''] = label.split(dayText(past));
  return (
    <span class="cut">
      <span class="past-words">{before}</span>
      {dayText(past)}
      <span class="past-words">{after}</span>
    </span>
  );
}

/** The same page with another time or zone. The past has no pages. */
function showWith(name: 'as-of' | 'zone', word: string | undefined): void {
  const { path, query } = currentLocation.peek();
  const other = new URLSearchParams(query);
  other.delete('page');
  if (word === undefined) other.delete(name);
  else other.set(name, word);
  navigate(hrefOf(path, other), { keeps: false });
}

const words = Object.keys(text.choices) as (keyof typeof text.choices)[];

function Times({ past, close }: { readonly past: PastTime | undefined; readonly close: () => void }) {
  const [error, setError] = useState<string>();
  const now = new Date();
  const choose = (word: string | undefined) => () => {
    close();
    showWith('as-of', word);
  };
  return (
    <div class="filter-editor past-times stack gap-3">
      <div class="presets">
        {past !== undefined && (
          <Button variant="quiet" onClick={choose(undefined)}>
            {text.present}
          </Button>
        )}
        {words
          .filter((word) => historyBegin.value !== undefined && isKept(readAsOf(word, now)?.date ?? now))
          .map((word) => (
            <Button key={word} variant="quiet" onClick={choose(word)} aria-pressed={past?.word === word}>
              <span>{text.choices[word]}</span> <span class="soft">{timeOf(word, now)}</span>
            </Button>
          ))}
      </div>
      <EditorForm
        action={text.show}
        onSubmit={(form) => {
          const { value } = form.elements.namedItem('day') as HTMLInputElement;
          const time = readAsOf(value, now);
          if (time === undefined || time.date > now) return setError(text.dayRule);
          choose(value)();
        }}
      >
        <TextField
          type="date"
          name="day"
          label={text.day}
          hint="The report is as the service knew it then."
          error={error}
          defaultValue={dayOf(past?.word ?? '', localDay(now.getTime())) ?? ''}
        />
      </EditorForm>
      <ZoneChoice close={close} />
    </div>
  );
}

/** In which zone the pages have their days: UTC, that of the browser, or that of the address. */
function ZoneChoice({ close }: { readonly close: () => void }) {
  const current = zoneName();
  return (
    <fieldset>
      <legend>{text.zone}</legend>
      <div class="presets">
        {[...new Set(['UTC', browserZone, current])].map((zone) => (
          <Button
            key={zone}
            variant="quiet"
            aria-pressed={zone === current}
            onClick={() => {
              close();
              showWith('zone', zone === 'UTC' ? undefined : zone);
            }}
          >
            <span>{text.inZone(zone)}</span>
            {zone === browserZone && <span class="soft">of this browser</span>}
          </Button>
        ))}
      </div>
    </fieldset>
  );
}

function timeOf(word: string, now: Date): string {
  const time = readAsOf(word, now);
  return time === undefined ? '' : dayText(time);
}
