import { parseArgs } from 'node:util';

/**
 * Options of the benchmarks:
 * `--records 50000 --rounds 3 --seconds 2 --connections 32 --engine sqlite`.
 */
export interface BenchOptions {
  readonly records: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** The stores to measure; for benchmarks of both. */
  readonly engines: readonly string[];
  /** Another checkout of this repository, whose service is measured too. */
  readonly base: string | undefined;
  /** Whether the results are written into results.md. */
  readonly write: boolean;
}

/** Parses the options of the command line; the defaults are those of results.md. */
export function readOptions(
  defaults: Pick<BenchOptions, 'records'> & Partial<Omit<BenchOptions, 'engines' | 'base' | 'write'>>,
): BenchOptions {
  const { records, rounds, seconds, connections } = { rounds: 5, seconds: 3, connections: 32, ...defaults };
  const { values } = parseArgs({
    options: {
      records: { type: 'string', default: String(records) },
      rounds: { type: 'string', default: String(rounds) },
      seconds: { type: 'string', default: String(seconds) },
      connections: { type: 'string', default: String(connections) },
      engine: { type: 'string', multiple: true, default: ['postgres', 'sqlite'] },
      base: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'records' | 'rounds' | 'seconds' | 'connections'): number => {
    const value = Number(values[name]);
    if (!(value > 0))
      throw new RangeError(`Cannot measure: --${name} must be above 0: current value is '${values[name]}'`);
    return value;
  };
  return {
    records: number('records'),
    rounds: number('rounds'),
    seconds: number('seconds'),
    connections: number('connections'),
    engines: values.engine,
    base: values.base,
    write: values.write,
  };
}
