import { expect, test } from 'vitest';
import type { ChangesSummary } from '../../../client/index.ts';
import { type ChangePart, partsOf, partsOfImport } from './parts-of-changes.ts';

const kinds = { added: 3, changed: 50, removed: 7, renewed: 9 };
const status = Array.from({ length: 8 }, (_, n) => ({ from: n === 0 ? null : 'none', to: `TO_${n}`, count: 10 - n }));
const counts = { ...kinds, status, omitted: 5 };
const summary: ChangesSummary = {
  ...{ total: 60, ...kinds, since_revision: 1, revision: 2, next: 'AAAB' },
  by: {
    status,
    'product-id': [{ from: 'a', to: 'b', count: 4 }],
    'auto-renew': [{ from: 'true', to: 'false', count: 2 }],
    day: [],
    import: [],
  },
  omitted: { status: 5, 'product-id': 6, import: 0 },
};
const countOf = (parts: readonly ChangePart[], isCounted: (part: ChangePart) => boolean): number =>
  parts.filter(isCounted).reduce((sum, { count }) => sum + count, 0);
const isStatus = ({ words, selection }: ChangePart): boolean =>
  selection === undefined ? words === 'with another change of status' : selection.field === 'status';

test.each([
  ['a summary', partsOf(summary), {}],
  ['an import', partsOfImport({ import_id: '0198', ...counts }), { 'import-id': '0198' }],
  ['changes without an import', partsOfImport(counts), { 'import-id': 'none' }],
] as const)('the parts of %s count all transitions, also those that are not listed', (_of, parts, within) => {
  // 10 + 9 + … + 3, and 5 that the service leaves out
  expect(countOf(parts, isStatus)).toBe(57);
  expect(parts.filter(isStatus).map(({ selection }) => selection)).toEqual([
    { field: 'status', from: 'none', to: 'TO_0', ...within },
    ...[1, 2, 3, 4, 5].map((n) => ({ field: 'status', from: '\\none', to: `TO_${n}`, ...within })),
    undefined, // no selection is of several transitions, but not of all
  ]);
  for (const { selection = within } of parts) expect(selection).toMatchObject(within);
  for (const kind of ['added', 'removed'] as const)
    expect(countOf(parts, ({ selection }) => selection?.kind === kind)).toBe(kinds[kind]);
  expect(countOf(parts, ({ selection }) => selection?.field === 'renewal')).toBe(9);
});

test('moves to another product are added up, with those that are not listed', () => {
  expect(countOf(partsOf(summary), ({ selection }) => selection?.field === 'product-id')).toBe(10);
});

test('one that begins to renew is not named as several', () => {
  const renewing = (count: number) =>
    partsOf({
      ...summary,
      by: { ...summary.by, 'auto-renew': [true, false].map((to) => ({ from: String(!to), to: String(to), count })) },
    })
      .filter(({ selection }) => selection?.field === 'auto-renew')
      .map(({ words }) => words);
  expect(renewing(1)).toEqual(['now renews', 'no longer renews']);
  expect(renewing(2)).toEqual(['now renew', 'no longer renew']);
});

test('a change of auto_renew says which one it is, and what there is none of is no part', () => {
  const parts = partsOf({ ...summary, added: 0, removed: 0, renewed: 0 });
  expect(parts.filter((part) => !isStatus(part)).map(({ selection }) => selection)).toEqual([
    { field: 'product-id' },
    { field: 'auto-renew', from: 'true', to: 'false' },
  ]);
});
