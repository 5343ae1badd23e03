import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Drill, Outcome } from './drill.ts';
import { drills } from './drills.ts';
import { drillsPage } from './drills-page.ts';
import { runDrill } from './run-drill.ts';
import { lazyPostgres } from './stage.ts';

// Plants faults on a real service and compares what is observed with what is expected:
//   npm run drill                          every drill
//   npm run drill -- list                  the names
//   npm run drill -- disk-full keys-rotated [--seed 7] [--json]
//   npm run drill -- disk-full --program /usr/bin/subreport   an installed build
//   npm run drill -- --write               and write test/drills/results.md
// Exits with 0 if all was as expected, 1 if something was not, 3 if drills could not run here.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    program: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const wanted = positionals.filter((name) => name !== 'list');
const unknown = wanted.filter((name) => !drills.some((drill) => drill.name === name));

if (unknown.length > 0) {
  console.error(
    `Cannot run the drills: each must be a name that 'npm run drill -- list' prints: ${unknown.join(', ')}`,
  );
  process.exitCode = 2;
} else if (positionals.includes('list')) {
  for (const { name, fault } of drills) console.log(`${name.padEnd(22)} ${fault}`);
} else {
  process.exitCode = await runAll(drills.filter(({ name }) => wanted.length === 0 || wanted.includes(name)));
}

/** Runs drills one after another, prints a row for each, and returns the exit code. */
async function runAll(chosen: readonly Drill[]): Promise<number> {
  const { stop, postgres } = lazyPostgres();
  const program = values.program?.split(' ') as [string, ...string[]] | undefined;
  const outcomes: Outcome[] = [];
  const print = (outcome: Outcome): void => {
    outcomes.push(outcome);
    if (values.json) return;
    if (outcome.session !== undefined && outcome.session !== '') console.log(`\n${outcome.session}`);
    console.log(rowOf(outcome));
  };
  if (!values.json) console.log('| drill | fault | expected | observed | ok |\n|---|---|---|---|---|');
  for (const drill of chosen) print(await runDrill(drill, { program, postgres }, Number(values.seed)));
  await stop();
  if (values.json) console.log(JSON.stringify(outcomes, undefined, 2));
  const count = (ok: Outcome['ok']): number => outcomes.filter((outcome) => outcome.ok === ok).length;
  console.error(`${count('yes')} as expected, ${count('NO')} not as expected, ${count('NOT RUN')} NOT RUN`);
  if (values.write) writePage(outcomes);
  if (count('NO') > 0) return 1;
  return count('NOT RUN') > 0 ? 3 : 0;
}

function writePage(outcomes: readonly Outcome[]): void {
  const page = new URL('results.md', import.meta.url);
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeFileSync(page, drillsPage(drills, outcomes, before, new Date().toISOString().slice(0, 10)));
}

function rowOf({ name, fault, expected, observed, ok }: Outcome): string {
  return `| ${[name, fault, expected, observed, ok].map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
