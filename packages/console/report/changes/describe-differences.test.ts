import { expect, test } from 'vitest';
import type { Subscription } from '../../../client/index.ts';
import { recordColumns } from '../../../contract/csv.ts';
import { describeDifferences, rawDifferences } from './describe-differences.ts';

const record: Subscription = {
  id: 'a',
  status: 'ACTIVE',
  activationDate: '2026-01-01T00:00:00Z',
  expirationDate: '2026-01-31T00:00:00Z',
  createdDate: '2026-01-01T00:00:00Z',
  product: { id: 'p', name: 'Europe 5 GB', period: 30, period_unit: 'DAYS', plan_id: 'plan' },
  iccid: '8944500102198304826',
  device_id: 'd',
  auto_renew: 'true',
};

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

test('another product is one line, and the same name of another product is its id', () => {
  const product = { ...record.product, id: 'q' };
  expect(describeDifferences(record, { ...record, product: { ...product, name: 'Asia' } })).toEqual([
    { label: 'Product', from: 'Europe 5 GB', to: 'Asia' },
  ]);
  expect(describeDifferences(record, { ...record, product })).toEqual([{ label: 'Product id', from: 'p', to: 'q' }]);
});

test('every column of CSV but the id is compared, with the values of the service', () => {
  const { status: _status, ...without } = record;
  const other: Subscription = {
    ...without,
    activationDate: '2027-01-01T00:00:00Z',
    expirationDate: '2027-01-31T00:00:00Z',
    createdDate: '2027-01-01T00:00:00Z',
    product: { id: 'q', name: 'Asia', period: 1, period_unit: 'MONTHS', plan_id: 'other' },
    iccid: '8944500102198304827',
    device_id: 'e',
    auto_renew: 'false',
  };
  const found = rawDifferences(record, other);
  expect(found.map(({ field }) => field).toSorted()).toEqual(recordColumns.filter((name) => name !== 'id').toSorted());
  expect(found[0]).toEqual({ field: 'status', from: 'ACTIVE', to: '' });
});
