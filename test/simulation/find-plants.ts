import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyTree } from '../support/copy-tree.ts';
import { type Plant, plants } from './plants.ts';
import { Random } from './random.ts';

// Plants each mistake of `plants.ts` in a copy of this tree and runs the simulation, which must
// find a difference within four histories, some two minutes of CPU time:
// node test/simulation/find-plants.ts [--only ID] [--seed N]
// Ends with 1 unless all of them are found.

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seed: { type: 'string' } },
});
const { only } = values;
const seed = values.seed ?? String(new Random(Date.now()).seed());
const histories = '4';
/** A run that is not over by then hangs. */
const minutesMax = '20';

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'subreport-plants-')));
try {
  copyTree(process.cwd(), copy);
  for (const plant of plants.filter(({ id }) => only === undefined || only.includes(id)))
    if (!(await isFound(plant))) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true });
}

/** The one file that has the code of a mistake, once. */
function findCode({ id, search }: Plant): { readonly path: string; readonly text: string } {
  const files = globSync('packages/service/**/*.ts', { cwd: copy, exclude: ['**/test/**', '**/*.test.ts'] })
    .map((file) => join(copy, file))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    .filter(({ text }) => text.includes(search));
  const [found, ...others] = files;
  if (found !== undefined && others.length === 0 && found.text.split(search).length === 2) return found;
  const places = files.map(({ path }) => path).join(', ');
  throw new Error(`Cannot plant '${id}': its code must occur once in packages/service: it occurs in '${places}'`);
}

async function isFound(plant: Plant): Promise<boolean> {
  const { path, text } = findCode(plant);
  const { search, replace } = plant;
  writeFileSync(
    path,
    text.replace(search, () => replace),
  );
  const before = childSeconds();
  const options = ['--seed', seed, '--histories', histories, '--minutes', minutesMax, '--shrink', '0'];
  const child = spawn(process.execPath, ['test/simulation/simulate.ts', ...options], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  writeFileSync(path, text);
  const difference = /^DIFFERENCE.*$/m.exec(output)?.[0];
  const rounds = /(\d+) rounds,/.exec(output)?.[1];
  const cost = `${Math.round(childSeconds() - before)} s of CPU time, ${rounds} rounds passed`;
  console.log(`${plant.id}: ${difference === undefined ? 'NOT FOUND' : 'found'} with --seed ${seed} (${cost})`);
  console.log(`  ${(difference ?? output).slice(0, 500)}`);
  return difference !== undefined;
}

/** CPU time of all child processes that have ended, in seconds; only Linux tells, others give 0. */
function childSeconds(): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}
