import type { Subscription } from '../../../client/index.ts';
import { formatZonedDay } from '../../ui/format-date.ts';
import { statusWord } from '../../ui/status-label.tsx';
import { describePeriod, describeRenewal } from '../words/describe-value.ts';
import { fieldHeading } from '../words/field-heading.ts';
import { recordValues } from '../words/record-values.ts';

/** A field that differs between two versions of a record, in words. */
export interface Difference {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

const day = (date: string): string => formatZonedDay(new Date(date));

/** The values of fields that people read in other words. */
const words: Readonly<Record<string, (record: Subscription) => string>> = {
  status: ({ status }) => statusWord(status ?? null),
  'product.period': ({ product: { period, period_unit } }) => describePeriod(period, period_unit),
  createdDate: ({ createdDate }) => day(createdDate),
  activationDate: ({ activationDate }) => day(activationDate),
  expirationDate: ({ expirationDate }) => day(expirationDate),
  auto_renew: ({ auto_renew }) => describeRenewal(auto_renew),
};

/** The fields that differ, by their names in CSV, with the values that the service sent. */
export function rawDifferences(before: Subscription, after: Subscription) {
  const [old, now] = [recordValues(before), recordValues(after)];
  return [...new Set([...now.keys(), ...old.keys()])]
    .map((field) => ({ field, from: old.get(field) ?? '', to: now.get(field) ?? '' }))
    .filter(({ field, from, to }) => field !== 'id' && from !== to);
}

/**
 * The fields that differ, in words. The id of a product is left out if its name differs, too.
 * Values whose words are equal, such as two times of a day, are those that the service sent.
 */
export function describeDifferences(before: Subscription, after: Subscription): Difference[] {
  const found = rawDifferences(before, after);
  const hasName = found.some(({ field }) => field === 'product.name');
  return found
    .filter(({ field }) => !(hasName && field === 'product.id'))
    .map(({ field, from, to }) => {
      const label = fieldHeading(field);
      const [old, now] = [words[field]?.(before) ?? from, words[field]?.(after) ?? to];
      return old === now ? { label, from, to } : { label, from: old, to: now };
    });
}
