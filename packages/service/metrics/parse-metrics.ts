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
const samplesOf = (metrics: Metrics, name: string, match: Match): readonly Sample[] =>
  (metrics.get(name) ?? []).filter(({ labels }) =>
    Object.entries(match).every(([label, value]) => labels[label] === value),
  );

/** The sum of the matching samples; `undefined` if the metric is absent. */
export function sumOf(metrics: Metrics, name: string, match: Match = {}): number | undefined {
  if (!metrics.has(name)) return undefined;
  return samplesOf(metrics, name, match).reduce((sum, { value }) => sum + value, 0);
}

/** The difference of two readings: a counter that is lower than before has restarted at 0. */
export function increaseOf(before: Metrics, after: Metrics, name: string, match: Match = {}): number | undefined {
  const [first, last] = [sumOf(before, name, match) ?? 0, sumOf(after, name, match)];
  if (last === undefined) return undefined;
  return last < first ? last : last - first;
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
  const bounds = [...new Set(samplesOf(after, `${name}_bucket`, match).map(({ labels }) => labels.le ?? ''))];
  const buckets = bounds
    .map((le) => ({
      bound: numberOf(le),
      count: increaseOf(before, after, `${name}_bucket`, { ...match, le }) ?? 0,
    }))
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
