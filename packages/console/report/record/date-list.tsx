import type { Subscription } from '../../../client/index.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { asOf } from '../past/as-of.ts';
import { describeEnd } from '../words/describe-end.ts';
import { recordStrings } from './record-strings.ts';

const text = recordStrings;

const names = ['createdDate', 'activationDate', 'expirationDate'] as const;

/** The dates of a record and the present, in order of time. */
export function DateList({ record, now }: { record: Subscription; now: Date }) {
  const dates = [...names.map((name) => ({ name, at: new Date(record[name]) })), { name: 'now' as const, at: now }];
  return (
    <ol class="date-list stack gap-1">
      {dates
        .toSorted((a, b) => a.at.getTime() - b.at.getTime())
        .map(({ name, at }) => (
          <li key={name} class="row" data-name={name}>
            <span class="date-list-name soft">{nameOf(name, at < now)}</span>
            {name === 'expirationDate' && <span class="soft">{describeEnd(record.expirationDate, now.getTime())}</span>}
            <DateTime value={at} />
          </li>
        ))}
    </ol>
  );
}

function nameOf(name: (typeof names)[number] | 'now', isPast: boolean): string {
  if (name === 'now') return text.moment[asOf.value === undefined ? 'present' : 'past'];
  return name === 'expirationDate' && isPast ? 'Ended' : text.dates[name];
}
