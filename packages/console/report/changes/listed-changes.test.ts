import { expect, test } from 'vitest';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { DescribedChange, Subscription } from '../../../client/index.ts';
import { groupByImport } from './listed-changes.ts';

const record: Subscription = JSON.parse(subscriptionRow({ id: 'a' }).record);
const first = { import_id: 'one', committed_at: '2026-11-20T10:00:00Z' };
const added: DescribedChange = { ...record, id: 'added', kind: 'added', ...first };
const depleted: DescribedChange = {
  ...record,
  id: 'depleted',
  status: 'DEPLETED',
  kind: 'changed',
  before: { ...record, id: 'depleted' },
  ...first,
  committed_at: '2026-11-20T10:00:04Z',
};
const removed: DescribedChange = {
  id: 'removed',
  removed: true,
  kind: 'removed',
  before: { ...record, id: 'removed', product: { ...record.product, id: 'q', name: '=1+1' } },
  committed_at: '2026-11-21T10:00:00Z',
};
const erased: DescribedChange = { id: 'erased', removed: true, kind: 'removed' };
const idsOf = (changes: readonly DescribedChange[]) => changes.map(({ id }) => id);

test('changes are grouped by import, also if other changes are between them', () => {
  const groups = groupByImport([depleted, removed, added, erased]);
  expect(groups.map(({ changes }) => idsOf(changes))).toEqual([['depleted', 'added'], ['removed'], ['erased']]);
  expect(groups[0]).toMatchObject({ importId: 'one', from: '2026-11-20T10:00:00Z', to: '2026-11-20T10:00:04Z' });
  expect(groups[1]).toMatchObject({ importId: undefined, to: '2026-11-21T10:00:00Z' });
  expect(groups[2]).toMatchObject({ importId: undefined, to: undefined });
});
