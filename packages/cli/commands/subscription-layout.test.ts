import { expect, test } from 'vitest';
import type { Subscription } from '../../client/index.ts';
import { describedLayout, paintStatus, subscriptionLayout } from './subscription-layout.ts';

test('a known status has a color', () => {
  expect(paintStatus('ACTIVE')).not.toBe('ACTIVE');
});

test.each(['ON_HOLD', '-', ...Object.getOwnPropertyNames(Object.prototype)])('the status %s has none', (status) => {
  expect(paintStatus(status)).toBe(status);
});

test('a list of fields has its columns in its order, as a table and as CSV', () => {
  const row = { iccid: '8944500102198304826', product: { name: 'Europe' } } as Subscription;
  const { columns, csvHeader, csvCells } = subscriptionLayout(false, 'product.name,status,iccid');
  expect([columns.map(({ header }) => header), csvHeader]).toEqual(Array(2).fill(['product.name', 'status', 'iccid']));
  expect(columns.map(({ cell }) => cell(row))).toEqual(['Europe', '-', '8944500102198304826']);
  expect(csvCells(row)).toEqual(['Europe', undefined, '8944500102198304826']);
  expect(csvCells({ status: 'ACTIVE' } as Subscription)).toEqual([undefined, 'ACTIVE', undefined]);
});

test('a change names the fields that differ, and a removal none', () => {
  const before = { id: 'a', status: 'ACTIVE', product: { id: 'p' } } as Subscription;
  const change = { ...before, status: 'DEPLETED', kind: 'changed', before } as never;
  const removal = { id: 'a', removed: true, kind: 'removed', before } as never;
  const differences = describedLayout().columns.find(({ header }) => header === 'DIFFERENCES');
  expect([change, removal].map((each) => differences?.cell(each))).toEqual(['status: ACTIVE → DEPLETED', '']);
});
