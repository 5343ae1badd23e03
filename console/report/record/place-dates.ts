import type { Subscription } from '../../../src/client/index.ts';

/** A date of a record, and where it is on the line from the first to the last one, from 0 to 1. */
export interface PlacedDate {
  readonly name: 'createdDate' | 'activationDate' | 'expirationDate' | 'now';
  readonly at: Date;
  readonly position: number;
}

const names = ['createdDate', 'activationDate', 'expirationDate'] as const;

/** Places the dates of a record and the present on a line, in order of time. */
export function placeDates(record: Pick<Subscription, (typeof names)[number]>, now: Date): PlacedDate[] {
  const dates = names.map((name) => ({ name, at: new Date(record[name]) }));
  const all = [...dates, { name: 'now' as const, at: now }].sort((a, b) => a.at.getTime() - b.at.getTime());
  const first = all[0]?.at.getTime() ?? 0;
  const length = (all.at(-1)?.at.getTime() ?? 0) - first;
  return all.map(({ name, at }) => ({ name, at, position: length === 0 ? 0 : (at.getTime() - first) / length }));
}
