import type { Subscription } from '../../../client/index.ts';
import { fieldWords } from '../../../contract/field-words.ts';
import { formatZonedDay } from '../../ui/format-date.ts';
import { statusWord } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';
import { recordValues } from '../words/record-values.ts';

const { column } = strings.subscriptions;
const text = strings.record;

/** A field that differs between two versions of a record, in words. */
export interface Difference {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

/** A field that differs, by its name in CSV, with the values that the service sent. */
export interface RawDifference {
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

interface Field {
  /** Its column in CSV. */
  readonly name: string;
  readonly label: string;
  /** Its value in words, if that is not the value itself. */
  readonly show?: (record: Subscription) => string;
}

const day = (date: string): string => formatZonedDay(new Date(date));

/** Fields with words of their own, in the order of the table; others follow by their names. */
const fields: readonly Field[] = [
  { name: 'status', label: column.status, show: ({ status }) => statusWord(status ?? null) },
  { name: 'product.name', label: column.product },
  { name: 'product.id', label: text.fields.productId },
  {
    name: 'product.period',
    label: text.fields.period,
    show: ({ product: { period, period_unit } }) => text.period(period, period_unit),
  },
  { name: 'product.period_unit', label: text.fields.periodUnit },
  { name: 'product.plan_id', label: column.plan },
  { name: 'createdDate', label: column.created, show: ({ createdDate }) => day(createdDate) },
  { name: 'activationDate', label: column.activated, show: ({ activationDate }) => day(activationDate) },
  { name: 'expirationDate', label: column.ends, show: ({ expirationDate }) => day(expirationDate) },
  {
    name: 'auto_renew',
    label: column.renews,
    show: ({ auto_renew }) => text.renews[auto_renew as 'true' | 'false'] ?? auto_renew,
  },
  { name: 'iccid', label: column.iccid },
  { name: 'device_id', label: column.device },
];

interface Differing extends RawDifference, Omit<Field, 'name'> {}

function differing(before: Subscription, after: Subscription): readonly Differing[] {
  const [old, now] = [recordValues(before), recordValues(after)];
  const known = new Set(['id', ...fields.map(({ name }) => name)]);
  const others = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !known.has(name));
  return [...fields, ...others.map((name): Field => ({ name, label: fieldWords(name) }))]
    .map(({ name: field, ...words }) => ({ ...words, field, from: old.get(field) ?? '', to: now.get(field) ?? '' }))
    .filter(({ from, to }) => from !== to);
}

/** The fields that differ, by their names in CSV. */
export const rawDifferences = (before: Subscription, after: Subscription): RawDifference[] =>
  differing(before, after).map(({ field, from, to }) => ({ field, from, to }));

/**
 * The fields that differ, in words. The id of a product is left out if its name differs, too.
 * Values whose words are equal, such as two times of a day, are those that the service sent.
 */
export function describeDifferences(before: Subscription, after: Subscription): Difference[] {
  const found = differing(before, after);
  const hasName = found.some(({ field }) => field === 'product.name');
  return found
    .filter(({ field }) => !(hasName && field === 'product.id'))
    .map(({ label, from, to, show }) => {
      const [old, now] = [show?.(before) ?? from, show?.(after) ?? to];
      return old === now ? { label, from, to } : { label, from: old, to: now };
    });
}
