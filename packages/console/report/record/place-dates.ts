import type { Subscription } from '../../../client/index.ts';

/** A date of a record, or the present. */
export interface PlacedDate {
  readonly name: 'createdDate' | 'activationDate' | 'expirationDate' | 'now';
  readonly at: Date;
  /** Where it is between the first and the last date of the record, from 0 to 1; else absent. */
  readonly position: number | undefined;
}

const names = ['createdDate', 'activationDate', 'expirationDate'] as const;

/** Places the dates of a record and the present on a line, in order of time. */
export function placeDates(record: Pick<Subscription, (typeof names)[number]>, now: Date): PlacedDate[] {
  const dates = names.map((name) => ({ name, at: new Date(record[name]) }));
  const times = dates.map(({ at }) => at.getTime());
  const first = Math.min(...times);
  const length = Math.max(...times) - first;
  const positionOf = (at: Date): number | undefined => {
    const position = length === 0 ? 0 : (at.getTime() - first) / length;
    return position >= 0 && position <= 1 ? position : undefined;
  };
  return [...dates, { name: 'now' as const, at: now }]
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ name, at }) => ({ name, at, position: positionOf(at) }));
}
