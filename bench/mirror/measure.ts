import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machineFacts, printSection } from '../support/results.ts';

// What a mirror of a large account costs: CPU time, memory and bytes of its state file, for a walk
// in which everything is new and for one without a change, beside an import of the same records.
// The origin is any server that answers the credentials, such as our own on another port:
//   DATA_DIR=/tmp/o subreport tenant create big
//   DATA_DIR=/tmp/o subreport client create --tenant big --json > /tmp/client.json
//   DATA_DIR=/tmp/o subreport generate --tenant big --subscriptions 1000000
//   DATA_DIR=/tmp/o PORT=8300 subreport serve
//   npm run bench -- mirror CREDENTIALS.json   (as for `subreport login`)

const [credentials = ''] = process.argv.slice(2);
const command = fileURLToPath(new URL('../../src/cli/subreport.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'subreport-mirror-'));
const env = { ...process.env, DATA_DIR: join(folder, 'data'), XDG_CONFIG_HOME: folder };

const run = (...args: string[]): string =>
  execFileSync(process.execPath, [command, ...args], { env, encoding: 'utf8', maxBuffer: 2 ** 26 });

/** CPU seconds and the largest resident set in MiB of a command, and what it printed. */
function measure(...args: string[]) {
  const time = ['-f', '%U %S %M', process.execPath, command];
  const { stdout, stderr, status } = spawnSync('/usr/bin/time', [...time, ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  const [user = 0, system = 0, kilobytes = 0] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { stdout, cpuSeconds: user + system, memoryMib: kilobytes / 1024 };
}

try {
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
  writeFileSync(join(folder, 'subreport/profiles/origin.json'), readFileSync(credentials));
  run('migrate');
  run('tenant', 'create', 'mirrored');
  run('tenant', 'create', 'imported');
  const rows: { name: string; cpuSeconds: number; memoryMib: number }[] = [];
  const mirror = ['mirror', '--from', 'origin', '--to-tenant', 'mirrored', '--max-requests-per-minute', '6000'];
  let records = 0;
  for (const name of ['a walk, everything new', 'a walk without a change', 'the same again']) {
    const { stdout, ...use } = measure(...mirror, '--once', '--json');
    const { walks } = JSON.parse(stdout);
    if (!walks[0].is_complete) throw new Error(walks[0].fault);
    records = walks[0].records;
    rows.push({ name, ...use });
    console.log(JSON.stringify(rows.at(-1)));
  }
  const stateBytes = statSync(join(folder, 'subreport/mirrors/origin-mirrored.db')).size;
  const file = join(folder, 'records.ndjson');
  run('export', file, '--profile', 'origin');
  rows.push({ name: '`subreport import` of the same records', ...measure('import', file, '--tenant', 'imported') });
  const imported = rows.at(-1)?.cpuSeconds ?? Number.NaN;
  const lines = rows.map(
    ({ name, cpuSeconds, memoryMib }) =>
      `| ${name} | ${((cpuSeconds / records) * 1e6).toFixed(0)} | ${(cpuSeconds / imported).toFixed(2)} | ${memoryMib.toFixed(0)} |`,
  );
  printSection(
    'SQLite',
    `${machineFacts('one process')}. ${records.toLocaleString('en')} records. CPU time of the command, which reads the origin and writes the store, without that of the origin.

| | CPU µs a record | ÷ import | most memory, MiB |
|---|---|---|---|
${lines.join('\n')}

State file: ${(stateBytes / records).toFixed(0)} bytes a record.
`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
