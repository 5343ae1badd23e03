import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { committedContracts } from '../../tools/write-contract.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { eventually, startMsMax } from '../support/eventually.ts';
import { subscriptionRow } from '../support/rows.ts';
import { runCommand, startCommand, untilWritten } from '../support/run-command.ts';
import { startService, type TestService } from '../support/service.ts';
import { type ChangingReport, createChangingReport, environmentOf } from './changing-report.ts';
import { digestOfCopy } from './read-copy.ts';

let database: string;
let folder: string;
let service: TestService;
let report: ChangingReport;
let silent: Server;
beforeAll(async () => {
  const server = await postgresUrl();
  await createDatabase(server, 'sync_files');
  database = Object.assign(new URL(server), { pathname: '/sync_files' }).href;
  service = await startService(await engines[0].openTestStore());
  report = await createChangingReport(service, 'tenant', 1);
  await report.load(Array.from({ length: 20 }, (_, n) => subscriptionRow({ id: `id_${n}` })));
  // Accepts a session of PostgreSQL, and never responds to its statements: a connection that is
  // not accepted would fail after ten seconds, which other commands may take on a busy machine.
  silent = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'));
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-sync-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(async () => {
  silent.close();
  await service.close();
  await dropDatabase(await postgresUrl(), 'sync_files');
});

const environment = () => environmentOf(service, report.credentials);

function write(text: string): string {
  const file = join(folder, 'sync.yaml');
  writeFileSync(file, text);
  return file;
}

test('run --once runs every entry, tells of each, and fails if one does', async () => {
  const file = write(`metrics: subreport.prom
entries:
  - { name: lite, to: 'sqlite:copy.db' }
  - { name: server, to: '${database}', schedule: '0 3 * * *', zone: Europe/Berlin }
  - { name: missing, to: 'sqlite:no/where.db' }
`);
  const first = await runCommand(['sync', 'run', file, '--once'], { environment: environment() });
  expect(first.code).toBe(1);
  // each line begins with its time, and the entries end in any order
  const told = first.stdout.split('\n').map((line) => line.replace(/^\S+Z /, ''));
  expect(told.toSorted()).toEqual([
    '',
    expect.stringMatching(/^lite: 20 rows at revision 1, scheduled for /),
    expect.stringMatching(/^server: 20 rows at revision 1, scheduled for .*T0[12]:00:00.000Z$/),
  ]);
  expect(first.stderr).toMatch(/Z missing: Cannot use sqlite:no\/where.db: .*\nCannot bring every copy/s);
  expect(await digestOfCopy({ to: `sqlite:${join(folder, 'copy.db')}`, table: 'subscriptions' })).toBe(
    await report.digest(),
  );
  const second = await runCommand(['sync', 'run', file, '--once', '--json'], { environment: environment() });
  const runs = second.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(runs.map(({ entry, succeeded, failures }) => [entry, succeeded, failures]).toSorted()).toEqual([
    ['lite', true, 0],
    ['missing', false, 2],
  ]);
  const status = await runCommand(['sync', 'status', file]);
  expect(status.code).toBe(1);
  expect(status.stdout).toMatch(/^entry +last success +scheduled for/);
  expect(status.stdout).toMatch(/\nmissing .* failed 2 ×: Cannot use sqlite:no\/where.db/);
  expect(status.stderr).toContain('current value is a failure of missing');
  const json = JSON.parse((await runCommand(['sync', 'status', file, '--json'])).stdout);
  expect(json[1]).toMatchObject({ entry: 'server', running: false, late_seconds: 0, last_success: { rows: 20 } });
  expect(readFileSync(join(folder, 'subreport.prom'), 'utf8')).toContain(
    'subreport_sync_failures{entry="missing"} 2\n',
  );
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'subreport.prom', 'sync.yaml', 'sync.yaml.state']);
});

test('run without --once follows the schedules beside a hanging entry, and ends with 0 on SIGTERM', async () => {
  const { port } = silent.address() as { port: number };
  const file = write(`entries:
  - { name: hangs, to: 'postgres://x@127.0.0.1:${port}/x' }
  - { name: lite, to: 'sqlite:copy.db', schedule: '* * * * *' }
`);
  const running = startCommand(['sync', 'run', file], { environment: environment() });
  await untilWritten(running, ' lite: 20 rows');
  const json = async () => JSON.parse((await runCommand(['sync', 'status', file, '--json'])).stdout);
  await eventually(async () =>
    expect(await json()).toMatchObject([
      { entry: 'hangs', running: true },
      { entry: 'lite', running: false },
    ]),
  );
  const other = await runCommand(['sync', 'run', file, '--once'], { environment: environment() });
  expect(other.stderr).toContain('hangs: another process is running it\n');
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([0, '']);
  expect((await json())[0]).toMatchObject({ running: false });
  expect((await json())[0]).not.toHaveProperty('last_failure');
});

test('an entry that hangs is ended after its timeout, and has failed', async () => {
  const { port } = silent.address() as { port: number };
  const file = write(`entries:\n  - { name: hangs, to: 'postgres://x@127.0.0.1:${port}/x', timeout: 1s }\n`);
  const { code, stderr } = await runCommand(['sync', 'run', file, '--once'], { environment: environment() });
  expect(code).toBe(1);
  expect(stderr).toMatch(/ hangs: Cannot end within its timeout of 1s: it was stopped\n/);
  const status = await runCommand(['sync', 'status', file]);
  expect(status.stdout).toMatch(/failed 1 ×: Cannot end within its timeout of 1s/);
});

test('the process of a run ends when that of its schedule is killed', async () => {
  const { port } = silent.address() as { port: number };
  const file = write(`entries:\n  - { name: hangs, to: 'postgres://x@127.0.0.1:${port}/x' }\n`);
  let open = 0;
  silent.on('connection', (socket) => {
    open += 1;
    socket
      .on('error', () => undefined)
      .on('close', () => (open -= 1))
      .resume();
  });
  const running = startCommand(['sync', 'run', file], { environment: environment() });
  await eventually(() => expect(open).toBe(1));
  running.child.kill('SIGKILL');
  await running.ended;
  // its statement hangs, so it takes all of the time that it may take to end
  await eventually(() => expect(open).toBe(0), startMsMax);
});

test('check tries every entry and writes nothing', async () => {
  mkdirSync(join(folder, 'exports'));
  writeFileSync(join(folder, 'else.db'), 'no database of SQLite at all');
  const file = write(`entries:
  - { name: lite, to: 'sqlite:copy.db' }
  - { name: server, to: '${database}', table: checked }
  - { name: broken, to: 'sqlite:else.db' }
`);
  const { code, stdout, stderr } = await runCommand(['sync', 'check', file], { environment: environment() });
  expect(code).toBe(1);
  expect(stdout).toBe('lite: source and destination can be used\nserver: source and destination can be used\n');
  expect(stderr).toMatch(/^broken: Cannot use sqlite:else.db: .*\nCannot use every entry of .* 1 of 3 that failed\n$/);
  expect(existsSync(join(folder, 'copy.db'))).toBe(false);
  expect(await digestOfCopy({ to: database, table: 'checked' })).toBe('none');
  const wrong = { ...environment(), SUBREPORT_CLIENT_SECRET: 'wrong' };
  const refused = await runCommand(['sync', 'check', '--to', `sqlite:${join(folder, 'copy.db')}`], {
    environment: wrong,
  });
  expect([refused.code, refused.stdout]).toEqual([1, '']);
});

test('a file with mistakes ends with 2 before anything runs, and so do options beside a file', async () => {
  const file = write("entries:\n  - { name: a, to: 'sqlite:copy.db', colour: red }\n  - { name: a }\n");
  for (const command of ['run', 'check', 'status']) {
    const { code, stdout, stderr } = await runCommand(['sync', command, file], { environment: environment() });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toHaveLength(3);
  }
  const { code, stderr } = await runCommand(['sync', 'run', file, '--table', 'x']);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^Cannot use --table with '.*sync.yaml': each entry/)]);
  expect(readdirSync(folder)).toEqual(['sync.yaml']);
});

test('docs/sync.schema.json is the schema by which files are checked, and takes those of deploy/', () => {
  const committed = readFileSync(new URL('../../docs/sync.schema.json', import.meta.url), 'utf8');
  expect(committed).toBe(committedContracts()['docs/sync.schema.json']);
  const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(committed));
  const example = parse(readFileSync(new URL('../../deploy/sync.yaml', import.meta.url), 'utf8'));
  expect(isValid(example)).toBe(true);
  expect(isValid({ entries: [{ ...example.entries[0], colour: 'red' }] })).toBe(false);
  expect(isValid({ entries: [] })).toBe(false);
});

test('an entry of files is checked, and its folder has the instant of its schedule', async () => {
  const file = write(`entries:
  - { name: exports, to: 'dir:exports', format: csv.gz, schedule: '0 3 * * *' }
`);
  const exports = join(folder, 'exports');
  mkdirSync(exports);
  const checked = await runCommand(['sync', 'check', file], { environment: environment() });
  expect([checked.code, checked.stdout]).toEqual([0, 'exports: source and destination can be used\n']);
  expect(readdirSync(exports)).toEqual([]);
  const ran = await runCommand(['sync', 'run', file, '--once'], { environment: environment() });
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/exports: 20 rows at revision 1, scheduled for /)]);
  const [instant = '', ...others] = readdirSync(exports);
  expect([instant, others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT030000Z$/), []]);
  expect(readdirSync(join(exports, instant))).toEqual([
    'manifest.json',
    expect.stringMatching(/^subscriptions-.*\.csv\.gz$/),
  ]);
});
