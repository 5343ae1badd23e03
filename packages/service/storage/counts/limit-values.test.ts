import { expect, test } from 'vitest';
import { requireFewValues, valuesMax } from './limit-values.ts';
import { planKey, type Span, seriesOfProduct, spanLevel, wholeSeries } from './span.ts';

const trees = {
  statuses: (count: number) => rootOf(wholeSeries, count, 'S'),
  plans: (count: number) => rootOf(seriesOfProduct('p'), count, planKey),
};

function rootOf(series: string, count: number, prefix: string): Span {
  const counts = Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 1]));
  return { series, level: spanLevel.root, from: { date: 0, id: '' }, n: 1, counts };
}

test.each(['statuses', 'plans'] as const)('a load that adds no %s is never rejected, whatever there is', (values) => {
  const max = valuesMax[values];
  const change = (before: number, after: number) => () =>
    requireFewValues([trees[values](before)], [trees[values](after)]).next([]);
  for (const before of [0, max, max + 5]) {
    for (const after of [before, Math.max(0, before - 1)]) expect(change(before, after)).not.toThrow();
    expect(change(before, Math.max(before, max) + 1)).toThrow(expect.objectContaining({ code: 'OVER_BUDGET' }));
  }
});
