import { fileURLToPath } from 'node:url';

/** The parts of a CPU profile of V8 that are read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Id of the node that each sample found. */
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** Self time by stage and by function, each as a fraction of the time outside of system calls. */
export interface ProfileShares {
  readonly stages: ReadonlyMap<string, number>;
  readonly functions: ReadonlyMap<string, number>;
}

/** The stages of a request by the files that they consist of; the first match counts. */
const stages: readonly (readonly [stage: string, files: RegExp])[] = [
  ['SQLite', /node:sqlite/],
  ['driver of PostgreSQL', /node_modules\/(pg|pg-|postgres-|split2|xtend)|src\/storage\/postgres\//],
  [
    'Fastify and plugins',
    /node_modules\/(fastify|@fastify|find-my-way|avvio|accepts|negotiator|mime|light-my-request|fast-|secure-json|toad-cache|reusify|process-warning|rfdc|ret|safe-regex2|@lukeed)/,
  ],
  ['metrics', /node_modules\/prom-client|src\/metrics\//],
  ['access log', /node_modules\/(pino|quick-format|sonic|on-exit|thread-stream|safe-stable)|listener\/access-log/],
  ['token', /src\/auth\/|node_modules\/jose/],
  [
    'queue, limits, deadline, turns',
    /listener\/(fair-queue|take-turn|rate-limit|request-deadline|limit-connections|slots)/,
  ],
  ['other hooks', /src\/http\/listener\/|src\/http\/server|src\/cli\/|src\/audit\//],
  ['parse', /report\/(parse|read-query|read-filters|contradictions|applied-filters|refuse)|src\/contract\//],
  ['cache, entity tag, send', /src\/http\/report\/|storage\/bounded-map|lru-cache/],
  ['plan', /report\/plan/],
  ['format', /report\/(format|cursor|write-records)/],
  ['other stages of the report', /src\/report\/|src\/tracing\//],
  ['store', /src\/storage\//],
  ['node: sockets and HTTP', /^node:|^$/],
];

/**
 * Functions that wait, belong to the profiler, or are mostly system calls. A sample also counts the
 * time in which another process had the processor, and that is where it gets it.
 */
const ignored: ReadonlySet<string> = new Set([
  '(idle)',
  '(program)',
  'post',
  'writev',
  'writeBuffer',
  'writeUtf8String',
]);

const sqliteMethods: ReadonlySet<string> = new Set(['all', 'get', 'exec', 'run', 'prepare', 'iterate']);

/**
 * Sums the self time of a profile. A native function counts for the file that calls it, except
 * those of SQLite.
 */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): ProfileShares {
  const selfUs = new Map<number, number>();
  samples.forEach((id, index) => {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  });
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = ({ id }: ProfileNode): ProfileNode | undefined => byId.get(parents.get(id) ?? -1);
  const byStage = new Map<string, number>();
  const functions = new Map<string, number>();
  let ranUs = 0;
  for (const node of nodes) {
    const us = selfUs.get(node.id) ?? 0;
    if (us <= 0 || ignored.has(node.callFrame.functionName)) continue;
    ranUs += us;
    const stage = stageOf(node, parentOf);
    byStage.set(stage, (byStage.get(stage) ?? 0) + us);
    const name = `${stage}: ${nameOf(node)}`;
    functions.set(name, (functions.get(name) ?? 0) + us);
  }
  return { stages: fractions(byStage, ranUs), functions: fractions(functions, ranUs) };
}

function stageOf(node: ProfileNode, parentOf: (node: ProfileNode) => ProfileNode | undefined): string {
  const { functionName } = node.callFrame;
  if (functionName === '(garbage collector)') return 'garbage collection';
  let file: ProfileNode | undefined = node;
  while (file !== undefined && file.callFrame.url === '') file = parentOf(file);
  const url = file?.callFrame.url ?? '';
  if (file !== node && sqliteMethods.has(functionName) && url.includes('/storage/sqlite/')) return 'SQLite';
  return stages.find(([, files]) => files.test(url))?.[0] ?? 'other';
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const nameOf = ({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string =>
  `${functionName || '(anonymous)'} ${url.replace(`file://${root}`, '')}${url === '' ? '' : `:${lineNumber + 1}`}`;

const fractions = (us: ReadonlyMap<string, number>, wholeUs: number): ReadonlyMap<string, number> =>
  new Map([...us].sort(([, a], [, b]) => b - a).map(([name, each]) => [name, each / wholeUs]));
