import { Random } from './random.ts';

/** A write to one tenant in a round, while others read. */
export interface WriteStep {
  readonly tenant: string;
  readonly kind: 'import' | 'replace' | 'delete';
  /** Number of rows of the source, or of ids to delete. */
  readonly rows: number;
  /** Seed of the rows. */
  readonly seed: number;
  /** A command in a child process, or a request to one of the services. */
  readonly via: 'command' | 'http';
  readonly format: 'ndjson' | 'csv';
  readonly compression: 'no' | 'gzip' | 'zstd';
}

/** A fault injected in a round. */
export interface Fault {
  readonly kind: 'kill service' | 'stop service' | 'kill writer' | 'cut connections';
  /** When it happens, as a share of a usual write's duration; 1 is about its end. */
  readonly moment: number;
  /** The service that fails, 0 or 1. */
  readonly service: 0 | 1;
}

/** A read in a round, concurrent with the write. */
export interface Reader {
  readonly kind: 'pages' | 'export' | 'summary' | 'follow';
  readonly tenant: string;
  readonly seed: number;
  readonly service: 0 | 1;
}

/** Concurrent steps. After each round all reports are compared with the model. */
export interface Round {
  readonly write?: WriteStep;
  readonly rotate?: 'plain' | 'compromised';
  readonly fault?: Fault;
  readonly readers: readonly Reader[];
  readonly doctor?: boolean;
}

/** All rounds on one store, which is empty at first. */
export interface History {
  readonly engine: 'sqlite' | 'postgres';
  /** Number of processes of the second service: 1, or 2 with `--workers 2`. */
  readonly workers: 1 | 2;
  readonly rounds: readonly Round[];
}

export const tenants = ['acme', 'globex'] as const;

/** Generates the history of a seed. */
export function makeHistory(seed: number, engine: History['engine'], roundCount: number): History {
  const random = new Random(seed);
  return {
    engine,
    workers: random.chance(0.3) ? 2 : 1,
    rounds: Array.from({ length: roundCount }, (_, index) => makeRound(random, engine, index, roundCount)),
  };
}

function makeRound(random: Random, engine: History['engine'], index: number, roundCount: number): Round {
  const write = random.chance(0.92) ? makeWrite(random, index) : undefined;
  const fault = write !== undefined && index > 0 && random.chance(0.5) ? makeFault(random, engine) : undefined;
  const rotate = random.chance(0.12) ? random.pick(['plain', 'compromised'] as const) : undefined;
  const readers = Array.from({ length: random.between(1, 4) }, () => makeReader(random));
  return {
    ...(write !== undefined && { write }),
    ...(fault !== undefined && { fault }),
    ...(rotate !== undefined && fault === undefined && { rotate }),
    readers,
    ...((index === roundCount - 1 || random.chance(0.08)) && { doctor: true }),
  };
}

/** Repeated by frequency. */
const kinds = ['import', 'import', 'import', 'replace', 'delete'] as const;

function makeWrite(random: Random, index: number): WriteStep {
  const kind = index === 0 ? 'import' : random.pick(kinds);
  const compression = random.pick(['no', 'no', 'gzip', 'zstd'] as const);
  return {
    tenant: random.pick(tenants),
    kind,
    rows:
      kind === 'delete'
        ? random.between(1, 400)
        : random.pick([random.between(1, 30), random.between(200, 1_500), 4_000]),
    seed: random.seed(),
    via: kind === 'delete' || random.chance(0.5) ? 'command' : 'http',
    format: random.chance(0.3) ? 'csv' : 'ndjson',
    compression,
  };
}

function makeFault(random: Random, engine: History['engine']): Fault {
  const kinds = ['kill service', 'kill service', 'stop service', 'kill writer', 'kill writer', 'kill writer'] as const;
  const kind = engine === 'postgres' && random.chance(0.3) ? 'cut connections' : random.pick(kinds);
  return { kind, moment: random.next() * 1.2, service: random.pick([0, 1] as const) };
}

const makeReader = (random: Random): Reader => ({
  kind: random.pick(['pages', 'pages', 'export', 'summary', 'follow'] as const),
  tenant: random.pick(tenants),
  seed: random.seed(),
  service: random.pick([0, 1] as const),
});
