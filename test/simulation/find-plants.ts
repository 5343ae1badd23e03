import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyTree, findMutatedFile, readSources } from '../mutants/source-tree.ts';
import { type Plant, plants } from './plants.ts';
import { Random } from './random.ts';

// Plants each mistake of `plants.ts` in a copy of this tree and runs the simulation, which must
// find a difference within two minutes: node test/simulation/find-plants.ts [--only ID] [--seed N]
// Ends with 1 unless all of them are found.

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seed: { type: 'string' } },
});
const { only } = values;
const seed = values.seed ?? String(new Random(Date.now()).seed());
const minutes = '2';

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'subreport-plants-')));
try {
  copyTree(process.cwd(), copy);
  for (const plant of plants.filter(({ id }) => only === undefined || only.includes(id)))
    if (!(await isFound(plant))) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true });
}

async function isFound(plant: Plant): Promise<boolean> {
  const { path, text } = findMutatedFile(readSources(copy), plant);
  const { search, replace } = plant;
  writeFileSync(
    path,
    text.replace(search, () => replace),
  );
  const started = performance.now();
  const options = ['--seed', seed, '--minutes', minutes, '--shrink', '0'];
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
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${plant.id}: ${difference === undefined ? 'NOT FOUND' : 'found'} in ${seconds} s with --seed ${seed}`);
  console.log(`  ${(difference ?? output).slice(0, 500)}`);
  return difference !== undefined;
}
