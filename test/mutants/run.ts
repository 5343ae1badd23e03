import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutant } from './mutant.ts';
import { areas, mutants } from './mutants.ts';
import { resultsOf, runTests } from './run-tests.ts';
import { copyTree, findMutatedFile, readSources } from './source-tree.ts';

/**
 * Plants each mistake of this folder in a copy of this tree and runs the test that must notice it.
 * Ends with 1 unless all of them are killed.
 */
const { values } = parseArgs({
  options: {
    /** Only the mutants of these areas, such as `auth`. */
    area: { type: 'string', multiple: true },
    /** Only the mutants of these ids. */
    only: { type: 'string', multiple: true },
    /** Print the list and run nothing. */
    list: { type: 'boolean', default: false },
  },
});

const { area, only } = values;
// a named test may be one that a run does not draw
process.env.ALL = '1';
const isArea = (name: string): name is keyof typeof areas => Object.hasOwn(areas, name);
const wrong = area?.filter((name) => !isArea(name)) ?? [];
if (wrong.length > 0)
  throw new Error(`Cannot run: --area must be one of ${Object.keys(areas).join(', ')}: current value is '${wrong}'`);
const candidates = area === undefined ? mutants : area.filter(isArea).flatMap((name) => areas[name]);
const chosen = candidates.filter(({ id }) => only === undefined || only.includes(id));
if (chosen.length < (only?.length ?? 1)) throw new Error(`Cannot run: --only must be an id that --list shows: ${only}`);

if (values.list) for (const mutant of chosen) console.log(describe(mutant));
else process.exitCode = runAll() ? 0 : 1;

/** Runs the mutants one after the other; returns whether all were killed. */
function runAll(): boolean {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'subreport-mutants-')));
  try {
    copyTree(process.cwd(), copy);
    requirePassing(copy);
    const survived = chosen.filter((mutant) => !isKilled(copy, mutant));
    console.log(`${chosen.length - survived.length} killed, ${survived.length} survived`);
    return survived.length === 0;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Throws unless each test passes in a tree without a mistake. */
function requirePassing(copy: string): void {
  const started = performance.now();
  const results = runTests(copy, chosen);
  const faults = chosen.flatMap((mutant) => {
    const own = resultsOf(mutant, results);
    if (own.length > 0 && own.every(({ passed }) => passed)) return [];
    return [describe(mutant), ...own.flatMap(({ failures }) => failures)];
  });
  if (faults.length > 0)
    throw new Error(`Cannot run: without a mistake these tests must run and pass:\n${faults.join('\n')}`);
  console.log(`without a mistake all tests pass (${secondsSince(started)} s)`);
}

/** Plants one mistake, runs its test, and takes the mistake back. */
function isKilled(copy: string, mutant: Mutant): boolean {
  const started = performance.now();
  const { path, text } = findMutatedFile(readSources(copy), mutant);
  writeFileSync(
    path,
    text.replace(mutant.search, () => mutant.replace),
  );
  const own = resultsOf(mutant, runTests(copy, [mutant]));
  writeFileSync(path, text);
  const killed = own.some(({ passed }) => !passed);
  const outcome = killed ? 'killed' : own.length === 0 ? 'NOT RUN' : 'SURVIVED';
  console.log(`${outcome.padEnd(8)} ${describe(mutant)} (${secondsSince(started)} s)`);
  return killed;
}

function describe({ id, breaks, file, test, on = [] }: Mutant): string {
  const place = on.length === 0 ? '' : ` [${on.join(', ')}]`;
  return `${id.padEnd(28)} ${breaks}\n${' '.repeat(9)}${file}${place}: ${test}`;
}

function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}
