import { describe, expect, test } from 'vitest';
import { makeHistory } from './history.ts';
import {
  applyChange,
  type Change,
  isSummaryDuring,
  lengthOf,
  makeVersions,
  rowsApplied,
  type State,
  summaryOf,
} from './model.ts';
import { shrink } from './shrink.ts';

const versions = makeVersions(3, 300);
const before: State = applyChange(new Map(), { kind: 'import', versions, ids: [] }, 300);
const textsOf = (state: State): string[] => [...state.values()].map(({ text }) => text);

describe('the model of the simulation', () => {
  const change: Change = { kind: 'import', versions: makeVersions(4, 200), ids: [] };

  test('finds how many rows of an import a store holds', () => {
    const after = textsOf(applyChange(before, change, 120));
    const rows = rowsApplied(before, change, after);
    expect(textsOf(applyChange(before, change, rows ?? 0))).toEqual(after);
  });

  test('has no explanation for a store that lost a record', () => {
    const after = textsOf(applyChange(before, change, 120));
    expect(rowsApplied(before, change, after.slice(1))).toBeUndefined();
  });

  test('has no explanation for a replacement that is half done', () => {
    const replacement: Change = { ...change, kind: 'replace' };
    const half = [...textsOf(before).slice(0, 50), ...textsOf(applyChange(before, replacement, 1)).slice(50)];
    expect(rowsApplied(before, replacement, half)).toBeUndefined();
  });

  const byStatus = (state: State) => summaryOf(state, { 'product-id': 'product-3' }, 'status');
  const isDuring = (during: Change, found: ReturnType<typeof byStatus>) =>
    isSummaryDuring(before, during, { 'product-id': 'product-3' }, 'status', found);

  test('explains the summary after each row of a change, and no other', () => {
    const ids = versions.slice(0, 50).map(({ record }) => record.id);
    for (const during of [change, { ...change, kind: 'replace' }, { kind: 'delete', versions: [], ids }] as Change[]) {
      const summaries = Array.from({ length: lengthOf(during) + 1 }, (_, rows) =>
        byStatus(applyChange(before, during, rows)),
      );
      for (const summary of summaries) {
        expect(isDuring(during, summary)).toBe(true);
        expect(isDuring(during, new Map([...summary, ['ACTIVE', 1_000]]))).toBe(false);
        expect(isDuring(during, new Map([...summary, ['SUSPENDED', 1]]))).toBe(false);
      }
    }
  });
});

describe('a history of the simulation', () => {
  test('depends only on its seed', () => {
    expect(makeHistory(9, 'postgres', 12)).toEqual(makeHistory(9, 'postgres', 12));
    expect(makeHistory(9, 'postgres', 12)).not.toEqual(makeHistory(10, 'postgres', 12));
  });

  test('is shortened to the rounds that make it fail', async () => {
    const history = makeHistory(9, 'sqlite', 12);
    const seeds = [history.rounds[2], history.rounds[7]].map((round) => round?.write?.seed);
    const error = new Error('both rounds are there');
    const fails = async ({ rounds }: typeof history) =>
      seeds.every((seed) => rounds.some(({ write }) => write?.seed === seed)) ? error : undefined;
    const shrunk = await shrink({ history, error }, fails, 500);
    expect(shrunk.history.rounds.map(({ write }) => write?.seed)).toEqual(seeds);
  });
});
