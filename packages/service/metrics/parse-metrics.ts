/** A value of a metric with its labels. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of each metric by its name. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;

/** The labels that a sample must have. */
export type Match = Readonly<Record<string, string>>;

const linePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const labelPattern = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

/** Parses the text format of Prometheus; lines that it does not know are ignored. */
export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labelText = '', number = ''] = linePattern.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = [...labelText.matchAll(labelPattern)].map(([, label = '', value = '']) => [
      label,
      unescapeLabel(value),
    ]);
    const samples = metrics.get(name) ?? [];
    samples.push({ labels: Object.fromEntries(labels), value: numberOf(number) });
    metrics.set(name, samples);
  }
  return metrics;
}

const unescapeLabel = (value: string): string => value.replace(/\\[\\"n]/g, (each) => escapes[each] ?? each);

const numberOf = (text: string): number => (/^[+-]?Inf$/.test(text) ? Number(`${text}inity`) : Number(text));

/** The samples of a metric that have all these labels. */
function samplesOf(metrics: Metrics, name: string, match: Match): readonly Sample[] {
  const wanted = Object.entries(match);
  return (metrics.get(name) ?? []).filter(({ labels }) => wanted.every(([label, value]) => labels[label] === value));
}

/** The sum of the matching samples; `undefined` if the metric is absent. */
export function sumOf(metrics: Metrics, name: string, match: Match = {}): number | undefined {
  if (!metrics.has(name)) return undefined;
  return samplesOf(metrics, name, match).reduce((sum, { value }) => sum + value, 0);
}

/** The difference of two readings: a counter that is lower than before has restarted at 0. */
export function increaseOf(before: Metrics, after: Metrics, name: string, match: Match = {}): number | undefined {
  const last = sumOf(after, name, match);
  return last === undefined ? undefined : increaseFrom(sumOf(before, name, match) ?? 0, last);
}

const increaseFrom = (first: number, last: number): number => (last < first ? last : last - first);

/** The sums of the matching buckets of a histogram by their bound, each sample read once. */
function bucketSums(metrics: Metrics, name: string, match: Match): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samplesOf(metrics, `${name}_bucket`, match)) {
    const bound = labels.le ?? '';
    sums.set(bound, (sums.get(bound) ?? 0) + value);
  }
  return sums;
}

/**
 * Estimates a quantile of the values that a histogram gained between two readings, as Prometheus
 * does: linear within a bucket, at most the last finite bound. `undefined` if it gained none.
 */
export function quantileOf(
  before: Metrics,
  after: Metrics,
  name: string,
  quantile: number,
  match: Match = {},
): number | undefined {
  const sums = bucketSums(before, name, match);
  const buckets = [...bucketSums(after, name, match)]
    .map(([le, last]) => ({ bound: numberOf(le), count: increaseFrom(sums.get(le) ?? 0, last) }))
    .sort((a, b) => a.bound - b.bound);
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const rank = quantile * total;
  const index = buckets.findIndex(({ count }) => count >= rank);
  const { bound: low, count: below } = buckets[index - 1] ?? { bound: 0, count: 0 };
  const { bound: high, count } = buckets[index] ?? { bound: low, count: total };
  if (!Number.isFinite(high)) return low;
  return low + (high - low) * ((rank - below) / Math.max(count - below, 1));
}
