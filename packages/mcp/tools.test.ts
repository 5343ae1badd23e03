import { expect, test } from 'vitest';
import type { ChangesSummary, SubreportClient } from '../client/index.ts';
import { largestCounts, tableOf } from './answers.ts';
import { tools } from './tools.ts';

const sumOf = (list: readonly { readonly count: number }[]): number => list.reduce((sum, { count }) => sum + count, 0);

/** A summary whose lists are as long as the contract allows, and leave something out. */
function longSummary(): ChangesSummary {
  const kinds = { added: 3, changed: 5, removed: 7 };
  const status = (length: number) =>
    Array.from({ length }, (_, n) => ({ from: `FORMER_STATUS_${n}`, to: n === 0 ? null : 'ACTIVE', count: 1_000 - n }));
  const products = Array.from({ length: 500 }, (_, n) => ({ from: `product-${n}`, to: 'other', count: 600 - n }));
  const imports = Array.from({ length: 100 }, (_, n) => ({
    ...{ import_id: `0198-${n}`, first_at: '2026-10-31T00:00:00Z', last_at: '2026-10-31T00:00:01Z' },
    ...kinds,
    renewed: 1,
    status: status(20),
    omitted: 11,
  }));
  return {
    ...{ total: 15, ...kinds, renewed: 1 },
    by: { status: status(500), 'product-id': products, 'auto-renew': [], day: [], import: imports },
    omitted: { status: 13, 'product-id': 17, import: 19 },
    ...{ since_revision: 41, revision: 42, next: 'AAAB' },
  };
}

test('what a summary of changes leaves out, here or in the service, is counted', async () => {
  const summary = longSummary();
  const asked: unknown[] = [];
  const client = {
    changesSummary: async (...given: unknown[]) => {
      asked.push(given);
      return summary;
    },
  } as unknown as SubreportClient;
  const options = { correlationId: 'c', signal: new AbortController().signal };
  const given = { since: '2026-10-01T00:00:00Z', until: '41' };
  const answer = await tools.summarize_changes?.run({ client, options, appliedFilters: () => undefined }, given);
  expect(asked).toEqual([[given.since, { until: '41', ...options }]]);
  const wire = { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  expect(Buffer.byteLength(JSON.stringify(wire))).toBeLessThanOrEqual(20_000);
  const { by, omitted, ...rest } = answer as unknown as ChangesSummary;
  expect(rest).toMatchObject({ total: 15, added: 3, changed: 5, removed: 7, revision: 42 });
  const all = (list: readonly { readonly count: number }[], left: number) => sumOf(list) + left;
  for (const name of ['status', 'product-id'] as const) {
    expect(by[name].length).toBeLessThan(500);
    expect(all(by[name], omitted[name])).toBe(all(summary.by[name], summary.omitted[name]));
  }
  expect(by.import.length).toBeLessThan(100);
  expect(by.import.length + omitted.import).toBe(119);
  for (const [index, each] of by.import.entries()) {
    const former = summary.by.import[index];
    expect(each.import_id).toBe(former?.import_id);
    expect(all(each.status, each.omitted)).toBe(all(former?.status ?? [], former?.omitted ?? 0));
  }
});

test('the members before a change have the status that was absent', () => {
  const now = { id: 'a', status: 'ACTIVE', iccid: '1' };
  const { status: _status, ...before } = now;
  const items = [
    { ...now, kind: 'changed', before },
    { ...before, kind: 'changed', before: { ...before, iccid: '2' } },
    { ...now, kind: 'changed', before: now },
  ];
  const { columns, rows } = tableOf(items);
  expect(rows.map((row) => row[columns.indexOf('before')])).toEqual([{ status: null }, { iccid: '2' }, {}]);
});

test('a summary that is too long without any count ends', () => {
  const more = { explanation: 'x'.repeat(30_000) };
  const answer = largestCounts({ total: 1, by: { status: [{ value: 'ACTIVE', count: 1 }] } }, more);
  expect(answer).toMatchObject({ total: 1, by: { status: [] }, omitted: { status: 1 } });
});

test('few of many statuses are named', async () => {
  const status = Array.from({ length: 300 }, (_, n) => ({ value: `${n}`.padEnd(300, 'x'), count: 1 }));
  const page = { totalCount: 0, headers: new Headers(), records: [] };
  const ask = async (known: object[]): Promise<unknown> => {
    const list = { page: async () => page };
    const client = {
      subscriptions: () => list,
      summary: async () => ({ total: known.length, by: { status: known } }),
    } as unknown as SubreportClient;
    const options = { correlationId: 'c', signal: new AbortController().signal };
    const call = { client, options, appliedFilters: () => undefined };
    return (await tools.list_subscriptions?.run(call, { status: 'A,B,C,D,E,F,G' }))?.explanation;
  };
  const explanation = String(await ask(status));
  expect(explanation).toMatch(
    /^No subscription has the status 'A', 'B', 'C', 'D', 'E' and 2 more; there are '0x{63}…', .* and 295 more/,
  );
  expect(explanation.length).toBeLessThan(1_000);
  expect(await ask([])).toBe('There are no subscriptions');
});
