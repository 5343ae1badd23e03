import { expect, test } from 'vitest';
import type { Subscription } from '../../../src/client/index.ts';
import { describeDifferences } from './describe-differences.ts';

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
