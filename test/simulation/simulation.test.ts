import { describe, expect, test } from 'vitest';
import { operations } from '../../packages/contract/operations.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { buildOpenApi } from '../../tools/openapi/openapi.ts';
import { changesBetween, isContradictoryOfChanges, isSelected, kindsOf, transitionsOf } from './changes-model.ts';
import { makeVersions } from './domain.ts';
import { contractParameters, drawQuery, ruleOf } from './draw.ts';
import { makeHistory } from './history.ts';
import {
  applyChange,
  type Change,
  isContradictory,
  isSummaryDuring,
  lengthOf,
  type Query,
  rowsApplied,
  type State,
  summaryOf,
  type Version,
} from './model.ts';
import { Random } from './random.ts';
import { shrink } from './shrink.ts';

const versions = makeVersions(3, 300);
const before: State = applyChange(new Map(), { kind: 'import', versions, ids: [] }, 300);
const versionWith = (version: Version | undefined, given: Partial<Version['record']>): Version => {
  if (version === undefined) throw new TypeError('Cannot change a version: it must exist');
  const record = { ...version.record, ...given };
  return { ...version, record, text: JSON.stringify(record) };
};
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

  const byStatus = (state: State) => summaryOf(state, { 'product-id': 'product-1' }, 0, 'status');
  const isDuring = (during: Change, found: ReturnType<typeof byStatus>) =>
    isSummaryDuring(before, during, { 'product-id': 'product-1' }, 0, 'status', found);

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

describe('the model of the changes', () => {
  const [kept, ended] = [versions[0]?.record.id ?? '', versions[1]?.record.id ?? ''];
  const [added] = makeVersions(5, 1, 'new');
  const changed: Version = versionWith(before.get(kept), { status: 'PAUSED', auto_renew: 'true' });
  const left = [...before].filter(([id]) => id !== ended);
  const after: State = new Map([...left, [kept, changed], [added?.record.id ?? '', added as Version]]);
  const changes = changesBetween(before, after);

  test('has each record that differs once, by what happened to it', () => {
    expect(kindsOf(changes)).toEqual({ added: 1, changed: 1, removed: 1 });
    expect(
      changesBetween(after, before)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['added', 'changed', 'removed']);
    expect(changesBetween(after, after)).toEqual([]);
  });

  test('counts and selects a transition by what a field was and is', () => {
    const was = before.get(kept)?.record.status ?? null;
    expect([...transitionsOf('status', changes)]).toEqual([[JSON.stringify([was, 'PAUSED']), 1]]);
    const idsOf = (query: Query) => changes.filter((change) => isSelected(query, change)).map(({ id }) => id);
    expect(idsOf({ field: 'status', from: was ?? 'none', to: 'PAUSED' })).toEqual([kept]);
    expect(idsOf({ field: 'status', from: 'PAUSED' })).toEqual([]);
    expect(idsOf({ field: 'renewal' })).toEqual([]);
    expect(idsOf({ kind: 'removed' })).toEqual([ended]);
  });
});

describe('the queries of the simulation', () => {
  const document = buildOpenApi({ publicUrl: 'http://localhost', version: '1', limits: defaultPageLimits });
  interface Described {
    readonly parameters?: readonly { readonly name: string; readonly in: string }[];
    readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  }
  const paths = document.paths as Record<string, Record<string, Described>>;
  const reads = Object.entries(operations).filter(([, { tag }]) => tag === 'report');

  test.each(reads)('every parameter of the operation %s in the contract is drawn', (id, { method, path }) => {
    const { parameters = [] } = paths[path]?.[method.toLowerCase()] ?? {};
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const drawn = contractParameters[id] ?? {};
    expect(Object.keys(drawn)).toEqual(expect.arrayContaining(names));
    for (const name of Object.keys(drawn)) expect(() => ruleOf(name), name).not.toThrow();
  });

  test('a parameter that is new in the contract fails until it has a rule', () => {
    expect(() => ruleOf('colour')).toThrow("Cannot draw the parameter 'colour' of the contract");
  });

  test('among 2,000 drawn queries, each rule was used, and most have no contradiction', () => {
    const random = new Random(5);
    for (const [operation, parameters] of Object.entries(contractParameters)) {
      const drawn = Array.from({ length: 2_000 }, () => drawQuery(random, operation));
      const used = new Set(drawn.flatMap((query) => Object.keys(query)));
      const expected = Object.keys(parameters).filter((name) => ruleOf(name) !== 'from an earlier response');
      expect([...used].sort()).toEqual(expected.sort());
      expect(drawn.filter((query) => isContradictory(query) || isContradictoryOfChanges(query)).length).toBeLessThan(
        700,
      );
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
