import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endAtExit } from '../tools/end-at-exit.ts';

// Runs a benchmark: `npm run bench -- NAME [options]`. bench/README.md says what each measures.

const programs: Readonly<Record<string, readonly string[]>> = {
  handler: ['handler/measure.ts'],
  report: ['report/cold.ts'],
  any: ['any/measure.ts'],
  import: ['--max-old-space-size=8192', 'import/bench.ts'],
  export: ['report/export.ts'],
  token: ['token/bench.ts'],
};

const [name = '', ...args] = process.argv.slice(2);
const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
if (program === undefined) {
  console.error(`Cannot run the benchmark: it must be one of ${Object.keys(programs).join(', ')}, such as report`);
  process.exit(2);
}
const command = program.map((word) => (word.endsWith('.ts') ? `${import.meta.dirname}/${word}` : word));
const child = spawn(process.execPath, [...command, ...args], { stdio: 'inherit' });
endAtExit(child, 'SIGTERM');
const [status] = await once(child, 'exit');
process.exitCode = status ?? 1;
