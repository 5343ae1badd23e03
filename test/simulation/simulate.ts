import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../tools/postgres-server.ts';
import { useMemoryFolder } from '../support/memory-folder.ts';
import { type History, makeHistory } from './history.ts';
import { Random } from './random.ts';
import { runHistory } from './run-history.ts';
import { shrink } from './shrink.ts';
import { describeTally, newTally, type Tally } from './tally.ts';

// Random histories of imports, replacements, deletions, sweeps, backups, restores, key rotations,
// killed processes and lost connections, with concurrent readers, compared with a model that does
// not use our SQL:
// npm run simulate -- --seed 7 --minutes 2 [--histories 4] [--engine sqlite|postgres] [--rounds 12]
// npm run simulate -- --history failing.json
// Prints a difference with its seed and the shortest history that shows it, and exits with 1.

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    histories: { type: 'string' },
    engine: { type: 'string' },
    rounds: { type: 'string', default: '12' },
    shrink: { type: 'string', default: '40' },
    history: { type: 'string' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const historiesMax = Number(values.histories ?? Infinity);
const endsAt = performance.now() + Number(values.minutes) * 60_000;
const engines = values.engine === undefined ? (['sqlite', 'postgres'] as const) : [values.engine as History['engine']];
useMemoryFolder();
const server = await startPostgres();
const tally = newTally();

const attempt = (into: Tally) => async (history: History) =>
  runHistory(history, server.url, into).then(
    () => undefined,
    (error: unknown) => error as Error,
  );

/** Prints a failing history and its shortened form. */
async function report(history: History, error: Error, seed: number | undefined): Promise<void> {
  print(`DIFFERENCE${seed === undefined ? '' : ` with --seed ${seed} on ${history.engine}`}: ${error.message}`);
  print(error.stack ?? '');
  const shrunk = await shrink({ history, error }, attempt(newTally()), Number(values.shrink));
  print(`The shortest history found that differs (${shrunk.history.rounds.length} rounds): ${shrunk.error.message}`);
  print(JSON.stringify(shrunk.history));
  process.exitCode = 1;
}

try {
  if (values.history !== undefined) {
    const history = JSON.parse(readFileSync(values.history, 'utf8')) as History;
    const error = await attempt(tally)(history);
    if (error !== undefined) await report(history, error, undefined);
  } else {
    const seeds = new Random(Number(values.seed));
    // the first history uses the given seed, so that it can be repeated
    let seed = Number(values.seed);
    const isOver = (index: number): boolean =>
      process.exitCode === 1 || index >= historiesMax || (index >= engines.length && performance.now() >= endsAt);
    for (let index = 0; !isOver(index); index += 1) {
      const engine = engines[index % engines.length] as History['engine'];
      const history = makeHistory(seed, engine, Number(values.rounds));
      const error = await attempt(tally)(history);
      if (error !== undefined) await report(history, error, seed);
      if (index % engines.length === engines.length - 1) seed = seeds.seed();
    }
  }
} finally {
  await server.stop();
}
print(`simulate: ${process.exitCode === 1 ? 'a difference was found' : 'no difference'}; ${describeTally(tally)}`);
