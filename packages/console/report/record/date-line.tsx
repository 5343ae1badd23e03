import type { Subscription } from '../../../client/index.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { asOf } from '../past/as-of.ts';
import { describeEnd } from '../words/describe-end.ts';
import { type PlacedDate, placeDates } from './place-dates.ts';
import { recordStrings } from './record-strings.ts';

const text = recordStrings;

/** The dates of a record in order of time: on a line, for the eye, and as a list. */
export function DateLine({ record, now }: { record: Subscription; now: Date }) {
  const dates = placeDates(record, now);
  return (
    <div class="date-line">
      <div class="date-line-axis mark" aria-hidden="true">
        {dates.map(
          ({ name, position }) =>
            position !== undefined && (
              <span
                key={name}
                class="date-line-mark mark"
                data-name={name}
                style={{ insetInlineStart: `${position * 100}%` }}
              />
            ),
        )}
      </div>
      <ol class="stack gap-1">
        {dates.map(({ name, at }) => (
          <li key={name} class="row" data-name={name}>
            <span class="date-line-name soft">{nameOf(name, at < now)}</span>
            {name === 'expirationDate' && <span class="soft">{describeEnd(record.expirationDate, now.getTime())}</span>}
            <DateTime value={at} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function nameOf(name: PlacedDate['name'], isPast: boolean): string {
  if (name === 'now') return text.moment[asOf.value === undefined ? 'present' : 'past'];
  return name === 'expirationDate' && isPast ? text.ended : text.dates[name];
}
