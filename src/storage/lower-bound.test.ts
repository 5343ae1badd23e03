import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowerBound } from './lower-bound.ts';

test('lowerBound finds the boundary of every sorted list (property)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (numbers, wanted) => {
      const sorted = numbers.toSorted((a, b) => a - b);
      expect(lowerBound(sorted.length, (index) => (sorted[index] as number) < wanted)).toBe(
        sorted.filter((n) => n < wanted).length,
      );
    }),
  );
});
