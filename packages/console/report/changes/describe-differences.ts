import type { Subscription } from '../../../client/index.ts';
import { formatDay } from '../../ui/format-date.ts';
import { statusWord } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';

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

const day = (date: string): string => formatDay(new Date(date));

/** In the order of the table. */
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

function rawValue(record: Subscription, name: string): string {
  const [of, part] = name.startsWith('product.') ? [record.product, name.slice('product.'.length)] : [record, name];
  return String((of as unknown as Readonly<Record<string, unknown>>)[part] ?? '');
}

const differing = (before: Subscription, after: Subscription): readonly Field[] =>
  fields.filter(({ name }) => rawValue(before, name) !== rawValue(after, name));

/** The fields that differ, by their names in CSV. */
export const rawDifferences = (before: Subscription, after: Subscription): RawDifference[] =>
  differing(before, after).map(({ name }) => ({
    field: name,
    from: rawValue(before, name),
    to: rawValue(after, name),
  }));

/**
 * The fields that differ, in words. The id of a product is left out if its name differs, too.
 * Values whose words are equal, such as two times of a day, are those that the service sent.
 */
export function describeDifferences(before: Subscription, after: Subscription): Difference[] {
  const found = differing(before, after);
  const hasName = found.some(({ name }) => name === 'product.name');
  return found
    .filter(({ name }) => !(hasName && name === 'product.id'))
    .map(({ name, label, show = (record) => rawValue(record, name) }) => {
      const [from, to] = [show(before), show(after)];
      return from === to ? { label, from: rawValue(before, name), to: rawValue(after, name) } : { label, from, to };
    });
}
