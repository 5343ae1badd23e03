import { drawQuery } from './draw.ts';
import { isContradictory, type Query } from './model.ts';
import { Random } from './random.ts';

/** A write to one tenant in a round, while others read. */
export interface WriteStep {
  readonly tenant: string;
  readonly kind: 'import' | 'replace' | 'delete';
  /** Number of rows of the source, or of ids to delete. */
  readonly rows: number;
  /** Whether the rows have ids that other sources use too, or consecutive ones. */
  readonly ids: 'used' | 'new';
  /** Seed of the rows. */
  readonly seed: number;
  /** A command in a child process, or a request to one of the services. */
  readonly via: 'command' | 'http';
  readonly format: 'ndjson' | 'csv';
  readonly compression: 'no' | 'gzip' | 'zstd';
  /**
   * Number of the first rows that the other tenant gets afterwards. After the first round both then
   * have the same number of revisions, and records with the same keys.
   */
  readonly twinRows?: number;
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
  /** Seed of the checks after the round. */
  readonly seed: number;
  readonly write?: WriteStep;
  readonly rotate?: 'plain' | 'compromised';
  readonly fault?: Fault;
  readonly readers: readonly Reader[];
  /** Whether tombstones are removed meanwhile, as if their retention was over. */
  readonly sweep?: boolean;
  readonly backup?: boolean;
  readonly doctor?: boolean;
  /** What happens when the concurrent steps are over. */
  readonly then?: 'restore' | 'delete tenant';
}

/** All rounds on one store, which is empty at first. */
export interface History {
  readonly engine: 'sqlite' | 'postgres';
  /** Number of processes of the second service: 1, or 2 with `--workers 2`. */
  readonly workers: 1 | 2;
  /** Whether the second service and the commands are those of a later version. */
  readonly versions: 1 | 2;
  readonly settings: Readonly<Record<string, string>>;
  /** Queries that are repeated after each change. */
  readonly reports: readonly Query[];
  readonly summaries: readonly Query[];
  readonly rounds: readonly Round[];
}

export const tenants = ['acme', 'globex'] as const;

/** Generates the history of a seed. */
export function makeHistory(seed: number, engine: History['engine'], roundCount: number): History {
  const random = new Random(seed);
  const isLarge = random.chance(0.15);
  const rounds = Array.from({ length: isLarge ? Math.ceil(roundCount / 2) : roundCount }, (_, index) =>
    makeRound(random, engine, index, roundCount),
  );
  return {
    engine,
    workers: random.chance(0.3) ? 2 : 1,
    versions: new Random(seed + 1).chance(0.4) ? 2 : 1, // drawn apart: a seed keeps its rounds
    settings: {
      DATABASE_POOL_SIZE: random.pick(['6', '6', '2']),
    },
    reports: [isWide, isWide, isWide, isShort, () => true].map((fits) => drawRepeated(random, fits)),
    summaries: Array.from({ length: 2 }, () => drawQuery(random, 'getSubscriptionSummary')),
    rounds: isLarge ? rounds.map((round, index) => (index === 0 ? enlarge(random, round) : round)) : rounds,
  };
}

/** Draws a query without contradictions, until it fits. */
function drawRepeated(random: Random, fits: (query: Query) => boolean): Query {
  for (;;) {
    const query = drawQuery(random, 'listSubscriptions');
    if (!isContradictory(query) && fits(query)) return query;
  }
}

const hasAny = (query: Query, names: readonly string[]): boolean => names.some((name) => name in query);
const isPaged = ({ all, size = '20' }: Query): boolean => all !== 'true' && Number(size) <= 100;
const narrow = ['iccid', 'email', 'device-id'];

/** Whether a query has several pages for most tenants, and the same ones at any time. */
const isWide = (query: Query): boolean =>
  isPaged(query) && !hasAny(query, [...narrow, 'expires-within', 'after', 'created-from']);

/** Whether a query selects the records of a short interval, on small pages. */
const isShort = (query: Query): boolean =>
  isPaged(query) &&
  Number(query.size ?? 20) <= 3 &&
  !hasAny(query, [...narrow, 'product-id', 'plan-id', 'expires-within', 'date-field']) &&
  (query.before !== undefined
    ? query.after !== undefined
    : query['created-to'] !== undefined && 'created-from' in query);

/** Lets the first round load so many records that the groups of the counts are split. */
function enlarge(random: Random, { readers, seed }: Round): Round {
  const write = makeWrite(random, 0);
  return {
    seed,
    write: { ...write, rows: random.between(25_500, 30_000), ids: 'new', via: 'command', format: 'ndjson' },
    readers: readers.slice(0, 1),
  };
}

function makeRound(random: Random, engine: History['engine'], index: number, roundCount: number): Round {
  const write = random.chance(0.92) ? makeWrite(random, index) : undefined;
  const fault = write !== undefined && index > 0 && random.chance(0.5) ? makeFault(random, engine) : undefined;
  const rotate = random.chance(0.12) ? random.pick(['plain', 'compromised'] as const) : undefined;
  const readers = Array.from({ length: random.between(1, 4) }, () => makeReader(random));
  const then = random.chance(0.2) ? random.pick(['restore', 'restore', 'delete tenant'] as const) : undefined;
  return {
    seed: random.seed(),
    ...(write !== undefined && { write }),
    ...(fault !== undefined && { fault }),
    ...(rotate !== undefined && fault === undefined && { rotate }),
    readers,
    ...(random.chance(0.2) && { sweep: true }),
    ...((index === 1 || random.chance(0.15)) && { backup: true }),
    ...((index === roundCount - 1 || random.chance(0.08)) && { doctor: true }),
    ...(then !== undefined && index > 1 && { then }),
  };
}

/** Repeated by frequency. */
const kinds = ['import', 'import', 'import', 'replace', 'delete'] as const;
/** A store splits what it writes into transactions of so many rows; each is a revision. */
const rowsOfRevision = 500;

function makeWrite(random: Random, index: number): WriteStep {
  const kind = index === 0 ? 'import' : random.pick(kinds);
  const compression = random.pick(['no', 'no', 'gzip', 'zstd'] as const);
  const isNew = kind === 'import' && random.chance(0.4);
  // an import has several batches from 4,001 rows on
  const manyRows = isNew ? [4_500, 4_500] : [4_000];
  const rows =
    kind === 'delete'
      ? random.between(1, 400)
      : random.pick([random.between(1, 30), random.between(200, 1_500), ...manyRows]);
  const twinRows = rows - random.between(0, Math.min(rows - 1, (rows - 1) % rowsOfRevision));
  const hasTwin = index === 0 || random.chance(isNew ? 0.3 : 0.1);
  return {
    tenant: random.pick(tenants),
    kind,
    rows,
    ids: isNew ? 'new' : 'used',
    seed: random.seed(),
    via: kind === 'delete' || random.chance(0.5) ? 'command' : 'http',
    format: random.chance(0.3) ? 'csv' : 'ndjson',
    compression,
    ...(hasTwin && { twinRows }),
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
