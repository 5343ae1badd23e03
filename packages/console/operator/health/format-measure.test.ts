import { expect, test } from 'vitest';
import { formatMeasure } from './format-measure.ts';

test.each([
  { value: 0, unit: 'per-second', text: '0/s' },
  { value: 0.004, unit: 'per-second', text: '<0.01/s' },
  { value: 0.005, unit: 'percent', text: '0.01 %' },
  { value: 0.123, unit: 'per-second', text: '0.12/s' },
  { value: 4.56, unit: 'milliseconds', text: '4.6 ms' },
  { value: 1234.5, unit: 'mebibytes', text: '1,235 MiB' },
  { value: 3, unit: 'connections', text: '3' },
] as const)('$value in $unit is $text', ({ value, unit, text }) => {
  expect(formatMeasure(value, unit)).toBe(text);
});
