import { Counter, Gauge, type Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

/** One value, or one for each combination of labels; those of the same labels are added up. */
type Found = number | readonly (readonly [Labels, number])[] | undefined;

interface MetricOptions {
  readonly labels?: readonly string[];
  /** How the values of several processes become one. */
  readonly aggregator?: 'max' | 'min' | 'sum';
}

/** Makes the functions that add metrics to a registry whose values are read at each scrape. */
export function readMetricsOf(registry: Registry) {
  const registers = [registry];
  return {
    /** Adds a gauge. While its value cannot be read, it is absent rather than 0. */
    gauge(
      name: string,
      help: string,
      read: () => Found | Promise<Found>,
      { labels = [], aggregator = 'max' }: MetricOptions = {},
    ): void {
      new Gauge({
        ...{ name, help, labelNames: [...labels], aggregator, registers },
        async collect() {
          const reading = (async () => read())();
          const found = await reading.catch(() => undefined);
          if (labels.length === 0) this.remove();
          else this.reset();
          for (const [of, value] of valuesOf(found)) this.inc(of, value);
        },
      });
    },
    /** Adds a counter that is kept elsewhere. */
    counter(name: string, help: string, read: () => Found, { labels = [] }: MetricOptions = {}): void {
      new Counter({
        ...{ name, help, labelNames: [...labels], registers },
        collect() {
          this.reset();
          for (const [of, value] of valuesOf(read())) this.inc(of, value);
        },
      });
    },
  };
}

function valuesOf(found: Found): readonly (readonly [Labels, number])[] {
  if (found === undefined) return [];
  return typeof found === 'number' ? [[{}, found]] : found;
}
