import { expect, test } from 'vitest';
import { planKey, toSpan } from './span.ts';

const plans = ['"', '\\', '\\"', 'x', 'é', '":1,"', '\\": 2, "', '{}', '\u2028', '\\u0041'];

test('the counts of a plan have its name, whatever counts were read before', () => {
  for (const [comma, colon] of [
    [',', ':'],
    [', ', ': '],
  ] as const)
    for (const former of plans)
      for (const plan of plans)
        for (const [index, name] of [former, plan].entries()) {
          const counts = { '+': 1, ACTIVE: 12, [`${planKey}${name}`]: index - 1, 'ACTIVE+': 1 };
          const members = Object.entries(counts).map(([key, n]) => `${JSON.stringify(key)}${colon}${n}`);
          const row = {
            series: 'product=a',
            level: 0,
            from_date: 0,
            from_id: '',
            n: 1,
            counts: `{${members.join(comma)}}`,
          };
          expect(Object.entries(toSpan(row).counts)).toEqual(Object.entries(counts));
        }
});
