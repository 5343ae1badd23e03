import type { Subscription, SubscriptionHistory } from '../../../client/index.ts';
import { stepsOf, type VersionStep } from '../history/version-steps.ts';

/** Something on the time line of a SIM: a date of a subscription, or a change of its record. */
export interface SimEvent {
  readonly key: string;
  readonly record: Subscription;
  /** An instant; a date of a record is a day. */
  readonly at: string;
  readonly date?: 'created' | 'activated' | 'ends' | 'ended';
  readonly step?: VersionStep;
}

/** The dates of the subscriptions of a SIM and the changes of their records, the latest first. */
export function simEvents(
  records: readonly Subscription[],
  histories: readonly SubscriptionHistory[],
  now: Date,
): SimEvent[] {
  const byId = new Map(histories.map((history) => [history.id, history]));
  return records
    .flatMap((record) => {
      const history = byId.get(record.id);
      return [...datesOf(record, now), ...(history === undefined ? [] : changesOf(record, history))];
    })
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function datesOf(record: Subscription, now: Date): SimEvent[] {
  const { id, createdDate, activationDate, expirationDate } = record;
  const end = new Date(expirationDate) < now ? 'ended' : 'ends';
  const dates = [
    [end, expirationDate],
    ['activated', activationDate],
    ['created', createdDate],
  ] as const;
  return dates.map(([date, at]) => ({ key: `${id} ${date}`, record, at, date }));
}

/** The first load of a record is no event: its dates say when it was created. */
function changesOf(record: Subscription, history: SubscriptionHistory): SimEvent[] {
  return stepsOf(history).flatMap((step) =>
    step.at === undefined || (step.kind !== 'changed' && step.kind !== 'removed')
      ? []
      : [{ key: `${record.id} ${step.revision} ${step.kind}`, record, at: step.at, step }],
  );
}

/** Where a subscription is between two instants, as shares of the width from 0 to 1. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** The times of all subscriptions on one scale, and where the present is on it, if it is. */
export function spansOf(
  records: readonly Subscription[],
  now: Date,
): { readonly spans: readonly Span[]; readonly now: number | undefined } {
  const times = records.map(({ activationDate, expirationDate }) => {
    const start = Date.parse(activationDate);
    return { start, end: Math.max(start, Date.parse(expirationDate)) };
  });
  const first = Math.min(...times.map(({ start }) => start));
  const length = Math.max(1, Math.max(...times.map(({ end }) => end)) - first);
  const present = (now.getTime() - first) / length;
  return {
    spans: times.map(({ start, end }) => ({ start: (start - first) / length, length: (end - start) / length })),
    now: present >= 0 && present <= 1 ? present : undefined,
  };
}
