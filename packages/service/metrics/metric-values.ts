import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The values of all metrics of a process, as one process sends them to another. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** The labels that a value must have. */
type Match = Readonly<Record<string, string>>;

const valuesOf = (metrics: MetricValues, name: string) => metrics.find((metric) => metric.name === name)?.values ?? [];

/** The values of a gauge or a counter; empty if the metric is absent. */
export const listValues = (metrics: MetricValues, name: string): number[] =>
  valuesOf(metrics, name).map(({ value }) => value);

/** The sum of the values with all labels of `match`; `undefined` if the metric is absent. */
export function sumOf(metrics: MetricValues, name: string, match: Match = {}): number | undefined {
  const values = valuesOf(metrics, name);
  if (values.length === 0) return undefined;
  const wanted = Object.entries(match);
  return values
    .filter(({ labels }) => wanted.every(([label, value]) => labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

/** The label of the first value of a metric. */
export const labelOf = (metrics: MetricValues, name: string, label: string): string | undefined =>
  valuesOf(metrics, name)[0]?.labels[label]?.toString();
