import { expect, test } from 'vitest';
import { metricsText, parseMetrics } from './copy-metrics.ts';

test.each([
  ['warehouse', 'warehouse'],
  ['a"b', 'a\\"b'],
  ['a\\b', 'a\\\\b'],
  ['a\nb', 'a\\nb'],
])('the copy %j is a label of the text format of Prometheus, and its values are read again', (copy, label) => {
  const text = metricsText(copy, { copy_read: 1, rows: 25 });
  expect(text).toContain(`\nsubreport_sync_rows{copy="${label}"} 25\n`);
  expect(text.trimEnd().split('\n')).toHaveLength(6);
  expect(parseMetrics(text)).toEqual({ copy_read: 1, rows: 25 });
});
