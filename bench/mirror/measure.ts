import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/free-port.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { machineFacts, printSection } from '../support/results.ts';

// What a mirror of a large account costs: CPU time of the command and of the service that has its
// tenant, memory and bytes of its state file, for a walk in which everything is new and for one
// without a change, beside an import of the same records.
// The origin is any server that answers the credentials, such as our own on another port:
//   DATA_DIR=/tmp/o subreport tenant create big
//   DATA_DIR=/tmp/o subreport client create --tenant big --json > /tmp/client.json
//   DATA_DIR=/tmp/o subreport generate --tenant big --subscriptions 1000000
//   DATA_DIR=/tmp/o PORT=8300 subreport serve
//   npm run bench -- mirror /tmp/client.json http://127.0.0.1:8300

const [credentials, url] = process.argv.slice(2);
if (credentials === undefined || url === undefined) {
  console.error(
    'Cannot measure a mirror: it must have credentials and an origin, such as client.json http://127.0.0.1:8300',
  );
  process.exit(2);
}
const command = fileURLToPath(new URL('../../packages/service/cli/subreport.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'subreport-mirror-'));
const [port, managementPort] = [String(await freePort()), String(await freePort())];
const env: NodeJS.ProcessEnv = {
  ...process.env,
  DATA_DIR: join(folder, 'data'),
  XDG_CONFIG_HOME: folder,
  PORT: port,
  MANAGEMENT_PORT: managementPort,
  LOG_LEVEL: 'warn',
};

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

const service: ChildProcess[] = [];
try {
  run('login', '--profile', 'origin', '--url', url, '--credentials', credentials);
  run('migrate');
  run('tenant', 'create', 'mirrored');
  run('tenant', 'create', 'imported');
  const scopes = 'operator:read,subscription:write';
  const { token } = JSON.parse(run('operator', 'create', '--name', 'mirror', '--scopes', scopes, '--json'));
  Object.assign(env, { SUBREPORT_SERVER: `http://127.0.0.1:${managementPort}`, SUBREPORT_OPERATOR_TOKEN: token });
  service.push(spawn(process.execPath, [command, 'serve'], { env, stdio: 'ignore' }));
  const { pid = 0 } = service[0] as ChildProcess;
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await sleep(100);
  const rows: { name: string; cpuSeconds: number; serviceSeconds: number; memoryMib: number }[] = [];
  const mirror = ['mirror', '--from', 'origin', '--to-tenant', 'mirrored', '--max-requests-per-minute', '6000'];
  let records = 0;
  for (const name of ['a walk, everything new', 'a walk without a change', 'the same again']) {
    const before = exactCpuSeconds(pid);
    const { stdout, ...use } = measure(...mirror, '--once', '--json');
    const serviceSeconds = exactCpuSeconds(pid) - before;
    const { walks } = JSON.parse(stdout);
    if (!walks[0].is_complete) throw new Error(walks[0].fault);
    records = walks[0].records;
    rows.push({ name, ...use, serviceSeconds });
    console.log(JSON.stringify(rows.at(-1)));
  }
  const stateBytes = statSync(join(folder, 'subreport/mirrors/origin-mirrored.db')).size;
  const file = join(folder, 'records.ndjson');
  run('export', file, '--profile', 'origin');
  const importing = measure('import', file, '--tenant', 'imported', '--server=');
  rows.push({ name: '`subreport import` of the same records into the store', ...importing, serviceSeconds: 0 });
  const lines = rows.map(({ name, cpuSeconds, serviceSeconds, memoryMib }) => {
    const [own, ofService] = [cpuSeconds, serviceSeconds].map((seconds) => ((seconds / records) * 1e6).toFixed(0));
    const ratio = ((cpuSeconds + serviceSeconds) / importing.cpuSeconds).toFixed(2);
    return `| ${name} | ${own} | ${serviceSeconds === 0 ? '–' : ofService} | ${ratio} | ${memoryMib.toFixed(0)} |`;
  });
  printSection(
    'SQLite',
    `${machineFacts('two processes')}. ${records.toLocaleString('en')} records. CPU time of the command, which reads the origin, and of the service, which writes the store; without that of the origin.

| | command, CPU µs a record | service | both ÷ import | most memory of the command, MiB |
|---|---|---|---|---|
${lines.join('\n')}

State file: ${(stateBytes / records).toFixed(0)} bytes a record.
`,
  );
} finally {
  for (const process of service) {
    process.kill();
    await once(process, 'exit');
  }
  rmSync(folder, { recursive: true });
}
