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
          for (const [of, value] of typeof found === 'number' ? [[{}, found] as const] : (found ?? []))
            this.inc(of, value);
        },
      });
    },
    /** Adds a counter that is kept elsewhere. */
    counter(name: string, help: string, read: () => number): void {
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
  };
}
