import { expect, test } from 'vitest';
import { increaseOf, type Metrics, parseMetrics, quantileOf, sumOf } from './parse-metrics.ts';

const histogram = (counts: readonly number[]): Metrics =>
  parseMetrics(['0.1', '1', '+Inf'].map((le, index) => `t_bucket{le="${le}"} ${counts[index]}`).join('\n'));

test('samples have their names, labels and values', () => {
  const metrics = parseMetrics(
    '# HELP a b\n# TYPE a counter\na{x="1",y="q\\"\\\\\\n"} 3\na{x="2"} 4.5e1 1700000000\nb +Inf\n\n',
  );
  expect([...metrics.keys()]).toEqual(['a', 'b']);
  expect(metrics.get('a')).toEqual([
    { labels: { x: '1', y: 'q"\\\n' }, value: 3 },
    { labels: { x: '2' }, value: 45 },
  ]);
  expect(metrics.get('b')).toEqual([{ labels: {}, value: Number.POSITIVE_INFINITY }]);
});

test('a sum counts the samples with all labels of the match', () => {
  const metrics = parseMetrics('a{x="1",y="1"} 3\na{x="1",y="2"} 4\na{x="2",y="1"} 5');
  expect(sumOf(metrics, 'a')).toBe(12);
  expect(sumOf(metrics, 'a', { x: '1' })).toBe(7);
  expect(sumOf(metrics, 'a', { x: '3' })).toBe(0);
  expect(sumOf(metrics, 'absent')).toBeUndefined();
});

test('the increase of a counter that began again is its value', () => {
  const at = (value: number) => parseMetrics(`a ${value}`);
  expect(increaseOf(at(5), at(7), 'a')).toBe(2);
  expect(increaseOf(at(5), at(2), 'a')).toBe(2);
  expect(increaseOf(parseMetrics(''), at(7), 'a')).toBe(7);
  expect(increaseOf(at(5), parseMetrics(''), 'a')).toBeUndefined();
});

test.each([
  { title: 'half of the first bucket', before: [0, 0, 0], after: [10, 10, 10], quantile: 0.5, value: 0.05 },
  { title: 'within the second bucket', before: [0, 0, 0], after: [0, 10, 10], quantile: 0.5, value: 0.55 },
  { title: 'beyond the last finite bound', before: [0, 0, 0], after: [0, 0, 10], quantile: 0.99, value: 1 },
  { title: 'only what was gained', before: [100, 100, 100], after: [100, 110, 110], quantile: 0.5, value: 0.55 },
  { title: 'nothing gained', before: [3, 3, 3], after: [3, 3, 3], quantile: 0.5, value: undefined },
])('a quantile of a histogram: $title', ({ before, after, quantile, value }) => {
  const found = quantileOf(histogram(before), histogram(after), 't', quantile);
  if (value === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(value);
});

test('a quantile looks at each sample of both readings once', () => {
  const bounds = ['0.1', '0.2', '0.5', '1', '2', '5', '+Inf'];
  const lines = Array.from({ length: 350 }, (_, index) => `t_bucket{path="${index % 50}",le="${bounds[index % 7]}"} 1`);
  let looks = 0;
  const samples = (parseMetrics(lines.join('\n')).get('t_bucket') ?? []).map(({ labels, value }) => ({
    get labels() {
      looks += 1;
      return labels;
    },
    value,
  }));
  const metrics: Metrics = new Map([['t_bucket', samples]]);
  quantileOf(metrics, metrics, 't', 0.5);
  // once to match its labels, once to read its bound
  expect(looks).toBe(2 * 2 * samples.length);
});
