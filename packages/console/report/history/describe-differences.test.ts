import { expect, test } from 'vitest';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { Subscription } from '../../../client/index.ts';
import { recordColumns } from '../../../contract/csv.ts';
import { recordWith } from '../../../contract/record-fields.ts';
import { showDaysIn } from '../../ui/format-date.ts';
import { describeDifferences, rawDifferences } from './describe-differences.ts';

const expirationDate = Date.parse('2026-01-31') / 1000;
const record: Subscription = JSON.parse(subscriptionRow({ id: 'a', expirationDate }).record);

test('only the fields that differ are described, in the words of the table', () => {
  const after = { ...record, status: 'DEPLETED', expirationDate: '2026-03-02T00:00:00Z' };
  expect(describeDifferences(record, after)).toEqual([
    { label: 'Status', from: 'Active', to: 'Depleted' },
    { label: 'Ends', from: '31 Jan 2026', to: '2 Mar 2026' },
  ]);
  expect(describeDifferences(record, record)).toEqual([]);
});

test('a date that changed within its day is described by its times', () => {
  const [difference] = describeDifferences(record, { ...record, expirationDate: '2026-01-31T08:00:00Z' });
  expect(difference).toMatchObject({ from: '2026-01-31T00:00:00Z', to: '2026-01-31T08:00:00Z' });
});

test('days are those of the time zone of the pages', () => {
  showDaysIn(() => 'Pacific/Kiritimati');
  const [difference] = describeDifferences(record, { ...record, expirationDate: '2026-03-01T12:00:00Z' });
  showDaysIn(() => 'UTC');
  expect(difference).toMatchObject({ from: '31 Jan 2026', to: '2 Mar 2026' });
});

test('another product is one line, and the same name of another product is its id', () => {
  const product = { ...record.product, id: 'q' };
  expect(describeDifferences(record, { ...record, product: { ...product, name: 'Asia' } })).toEqual([
    { label: 'Product', from: 'Europe 1 GB', to: 'Asia' },
  ]);
  expect(describeDifferences(record, { ...record, product })).toEqual([
    { label: 'Product id', from: 'product-1', to: 'q' },
  ]);
});

test('every column of CSV but the id is compared, with the values of the service', () => {
  const recordOf = (version: string) =>
    recordWith(({ name }) => (name === 'id' ? 'a' : `${name} ${version}`)) as Partial<Subscription> as Subscription;
  const found = rawDifferences(recordOf('1'), recordOf('2'));
  const columns = recordColumns.filter((name) => name !== 'id');
  expect(found.map(({ field }) => field).toSorted()).toEqual(columns.toSorted());
  for (const { field, from, to } of found) expect([from, to]).toEqual([`${field} 1`, `${field} 2`]);
  const { status: _status, ...without } = record;
  expect(rawDifferences(record, without)).toEqual([{ field: 'status', from: 'ACTIVE', to: '' }]);
});

test('a member that only a later version of the service sends is described by its name', () => {
  const later = { ...record, product: { ...record.product, roaming: { home_network: 'Example' } } };
  expect(describeDifferences(record, later)).toEqual([
    { label: 'Product roaming home network', from: '', to: 'Example' },
  ]);
  expect(rawDifferences(later, record)).toEqual([{ field: 'product.roaming.home_network', from: 'Example', to: '' }]);
});
