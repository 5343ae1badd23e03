import type { Subscription } from '../../../src/client/index.ts';
import { formatDay } from '../../ui/format-date.ts';
import { statusWord } from '../../ui/status-label.tsx';
import { strings } from '../strings.ts';

const text = strings.subscriptions.column;

/** A field that differs between two versions of a record, in words. */
export interface Difference {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

const day = (date: string): string => formatDay(new Date(date));

const fields: readonly (readonly [label: string, read: (record: Subscription) => string])[] = [
  [text.status, ({ status }) => statusWord(status ?? null)],
  [text.product, ({ product }) => product.name],
  [text.plan, ({ product }) => product.plan_id],
  [text.created, ({ createdDate }) => day(createdDate)],
  [text.activated, ({ activationDate }) => day(activationDate)],
  [text.ends, ({ expirationDate }) => day(expirationDate)],
  [text.renews, ({ auto_renew }) => strings.record.renews[auto_renew as 'true' | 'false'] ?? auto_renew],
  [text.iccid, ({ iccid }) => iccid],
  [text.device, ({ device_id }) => device_id],
];

/** The fields that a table shows and that differ, in its order. */
export function describeDifferences(before: Subscription, after: Subscription): Difference[] {
  return fields
    .map(([label, read]) => ({ label, from: read(before), to: read(after) }))
    .filter(({ from, to }) => from !== to);
}
