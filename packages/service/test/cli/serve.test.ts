import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Check } from 'typebox/value';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startNetwork } from '../../../../test/drills/postgres.ts';
import { makeCommandFolder } from '../../../../test/support/command-folder.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openPostgres } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { hasTools } from '../../../../test/support/has-tools.ts';
import {
  type CommandOptions,
  mainProgram,
  type RunningCommand,
  runCommand,
  startCommand,
  untilWritten,
} from '../../../../test/support/run-command.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { startPostgres } from '../../../../tools/postgres-server.ts';
import { Subscription } from '../../../contract/subscription.ts';

const drawn = drawOne(engines, import.meta.url);

const errorMessage = /^Cannot [^\n]+\n$/;
let folder: string;
let environment: Record<string, string>;
const started: RunningCommand[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-serve-'));
  environment = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) };
});
afterEach(async () => {
  for (const command of started.splice(0)) {
    command.child.kill('SIGKILL');
    await command.ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

function start(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const command = startCommand(args, { ...options, environment: { ...environment, ...options.environment } });
  started.push(command);
  return command;
}

async function startDemo(options?: CommandOptions): Promise<RunningCommand> {
  const command = start(['serve', '--demo'], options);
  await untilWritten(command, '"serving"');
  return command;
}

const demoPath = (...path: string[]): string => join(folder, 'data', `demo-${environment.PORT}`, ...path);
const modeOf = (...path: string[]): string => (statSync(demoPath(...path)).mode & 0o777).toString(8);
const demoClient = () =>
  JSON.parse(readFileSync(demoPath('demo-client.json'), 'utf8')) as Record<string, string> & {
    readonly base_url: string;
    readonly token_url: string;
    readonly client_secret: string;
  };

/** The URL of the demo's report, and a token of its client. */
async function signIn(): Promise<{ readonly baseUrl: string; readonly token: string }> {
  const { base_url: baseUrl, token_url: tokenUrl, client_id = '', client_secret = '' } = demoClient();
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const response = await fetch(tokenUrl, { method: 'POST', body });
  return { baseUrl, token: ((await response.json()) as { access_token: string }).access_token };
}

/** Requests the demo's report as its client. */
async function readDemo(path: string) {
  const { baseUrl, token } = await signIn();
  const response = await fetch(`${baseUrl}/v1/subscription${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect([path, response.status]).toEqual([path, 200]);
  return response;
}

/** Every record of the demo's report. */
const readAll = async (): Promise<Subscription[]> =>
  (await (await readDemo('?all=true&format=ndjson')).text())
    .split('\n')
    .slice(0, -2) // the last line is the summary
    .map((line) => JSON.parse(line));

describe('serve --demo', () => {
  test('creates 2,000 realistic records with a past, and a client, whose file is in the log and whose secret is not', async () => {
    const command = await startDemo();
    expect(readdirSync(join(folder, 'data'))).toEqual([`demo-${environment.PORT}`]);
    const url = `http://127.0.0.1:${environment.PORT}`;
    expect(command.stdout()).toContain(`"client_file":"${demoPath('demo-client.json')}"`);
    const lines = command.stdout().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).service)).toEqual(lines.map(() => 'subreport'));
    for (const unwanted of ['\u001b', demoClient().client_secret]) expect(command.stdout()).not.toContain(unwanted);
    expect(demoClient()).toEqual({
      base_url: `${url}/connect-api`,
      token_url: `${url}/oauth2/token`,
      client_id: expect.any(String),
      client_secret: expect.any(String),
      tenant: 'demo',
    });
    const records = await readAll();
    expect(records).toHaveLength(2_000);
    expect(records.filter((record) => !Check(Subscription, record))).toEqual([]);
    const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const past = await (await readDemo(`/summary?as-of=${dayAgo(10)}`)).json();
    expect([past.total > 1_900, past.total < 2_000]).toEqual([true, true]);
    const { added, changed, by } = await (await readDemo(`/changes/summary?since=${dayAgo(1)}`)).json();
    for (const count of [added, changed, by.status.length, by.import.length]) expect(count).toBeGreaterThan(0);
    const { findings } = await (await readDemo('/findings')).json();
    expect(findings.filter(({ count }: { count: number }) => count === 0)).toEqual([]);
    const ending = records.filter(({ expirationDate: end }) => end > dayAgo(0) && end < dayAgo(-7));
    expect(new Set(ending.map(({ product }) => product.name)).size).toBeGreaterThan(5);
    expect(records.some(({ status }) => status === undefined)).toBe(true);
    expect(new Set(records.map(({ product }) => product.period))).toEqual(new Set([365, 90, 30, 15, 7, 0]));
    const files = ['subreport.db', 'subreport.db-wal', 'demo-client.json', 'demo.env'];
    expect([modeOf(), ...files.map((file) => modeOf(file))]).toEqual(['700', '600', '600', '600', '600']);
    const { client_id, client_secret } = demoClient();
    expect(readFileSync(demoPath('demo.env'), 'utf8')).toBe(
      `SUBREPORT_URL=${url}\nSUBREPORT_CLIENT_ID=${client_id}\nSUBREPORT_CLIENT_SECRET=${client_secret}\n`,
    );
  });

  test.runIf(process.platform === 'linux')(
    'on a terminal prints a readable log, the client, and commands that read a report and sign in as the operator',
    async () => {
      const line = [process.execPath, mainProgram, 'serve', '--demo'].join(' ');
      const management = `http://127.0.0.1:${await freePort()}`;
      const command = start([line, '/dev/null'], {
        program: ['script', '-qec'],
        environment: { MANAGEMENT_PORT: new URL(management).port },
      });
      await untilWritten(command, 'operator create');
      const text = command.stdout().replaceAll('\r', '');
      const { client_id: id, client_secret: secret, base_url: baseUrl, token_url: tokenUrl } = demoClient();
      const origin = `http://127.0.0.1:${environment.PORT}`;
      const labels = { Console: `${origin}/console`, 'API reference': `${origin}/docs` };
      const credentials = { 'Client id': id, 'Client secret': secret, 'Base URL': baseUrl, 'Token URL': tokenUrl };
      const operator = { 'Operator console': `${management}/console`, 'Operator API': `${management}/docs` };
      for (const [label, value] of Object.entries({ ...labels, ...operator, ...credentials }))
        expect(text).toMatch(new RegExp(`^  ${label} +${value}$`, 'm'));
      expect(text).toMatch(/^\d\d:\d\d:\d\d INFO {2}listening at /m);
      expect(text).not.toContain('{"');
      const pasted = text.slice(text.indexOf('another terminal')).match(/(?:^ {2}\S.*\n|^ {4}.*\n)+/gm) ?? [];
      const made = makeCommandFolder();
      const env = { ...made.environment, XDG_CONFIG_HOME: folder };
      const [listed = '', fetched = '', created = ''] = pasted.map((commands) =>
        execFileSync('bash', ['-ec', commands], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }),
      );
      rmSync(made.folder, { recursive: true });
      expect(listed.split('\n').filter((each) => each.startsWith('{"id"'))).toHaveLength(20);
      expect(fetched).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(JSON.parse(fetched.split('\r\n\r\n')[1] ?? '')).toHaveLength(2);
      expect(created).toContain(`DATA_DIR=${demoPath()}.`);
      const [token] = /sro_\S+/.exec(created) ?? [];
      const signIn = await fetch(`${management}/operator/v1/tenants`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([signIn.status, await signIn.text()]).toEqual([200, expect.stringContaining('"demo"')]);
    },
  );

  test('has the same client at the second start, and goes on with the same records', async () => {
    const first = await startDemo();
    const [client, records] = [demoClient(), await readAll()];
    first.child.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
    await startDemo();
    expect(demoClient()).toEqual(client);
    const later = new Set((await readAll()).map((record) => JSON.stringify(record)));
    expect(records.filter((record) => later.has(JSON.stringify(record))).length).toBeGreaterThan(1_980);
  });

  test('runs beside another one with the same DATA_DIR and its own data, client and management listener', async () => {
    const ports = [environment.PORT ?? '', String(await freePort())];
    const demos = [];
    for (const PORT of ports) {
      environment.PORT = PORT;
      await startDemo({ environment: { MANAGEMENT_PORT: '' } });
      demos.push(demoClient());
    }
    const operatorApis = started.map((command) => /"management":"([^"]+)"/.exec(command.stdout())?.[1]);
    expect(new Set(operatorApis)).toHaveLength(2);
    for (const [index, PORT] of ports.entries()) {
      environment.PORT = PORT;
      expect(demoClient()).toEqual(demos[index]);
      expect(await readAll()).toHaveLength(2_000);
    }
  });

  test('names a MANAGEMENT_HOST that it cannot use', async () => {
    const unusable = { ...environment, MANAGEMENT_PORT: '', MANAGEMENT_HOST: '192.0.2.1', ALLOW_HTTP: 'true' };
    const { code, stderr } = await runCommand(['serve', '--demo'], { environment: unusable });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot listen on 192\.0\.2\.1:\d+: MANAGEMENT_HOST/)]);
  });

  test('with --json announces itself in one line', async () => {
    const command = start(['serve', '--demo', '--json']);
    await untilWritten(command, '"report"');
    const [line = ''] = command
      .stdout()
      .split('\n')
      .filter((each) => each.includes('"report"'));
    expect(JSON.parse(line)).toMatchObject({ report: `${demoClient().base_url}/v1/subscription`, tenant: 'demo' });
    expect(command.stdout()).not.toContain(demoClient().client_secret);
  });
});

test('a listener that other machines could use over plain http is refused before anything is created', async () => {
  const { code, stderr } = await start(['serve'], { environment: { HOST: '0.0.0.0' } }).ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(errorMessage)]);
  for (const named of ['with HOST:', 'ALLOW_HTTP=true', "'0.0.0.0'"]) expect(stderr).toContain(named);
  expect(readdirSync(folder)).toEqual([]);
});

test('a wrong KEY_ENCRYPTION_SECRET stops the start with a message that does not show it', async () => {
  const right = { KEY_ENCRYPTION_SECRET: randomBytes(32).toString('base64') };
  await untilWritten(start(['serve'], { environment: right }), '"serving"');
  const wrong = randomBytes(32).toString('base64');
  const { code, stderr } = await start(['serve'], { environment: { KEY_ENCRYPTION_SECRET: wrong } }).ended;
  expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
  expect(stderr).toContain('KEY_ENCRYPTION_SECRET');
  expect(stderr).not.toContain(wrong);
});

describe('serve fails with a message, exit code 1 and no stack for', () => {
  const failure = async (options: CommandOptions = {}) => {
    const result = await start(['serve'], options).ended;
    expect([result.code, result.stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
    return result.stderr;
  };

  test('a port in use', async () => {
    const server = createServer().listen(Number(environment.PORT), '127.0.0.1');
    expect(await failure()).toContain(`127.0.0.1:${environment.PORT}: the port must be free`);
    server.close();
  });

  test('a data folder that cannot be created', async () => {
    const below = join(import.meta.filename, 'data');
    expect(await failure({ environment: { DATA_DIR: below } })).toContain(`'${below}'`);
  });

  test.runIf(process.getuid?.() === 0 && hasTools('setpriv'))('a data folder that this user cannot write', async () => {
    mkdirSync(join(folder, 'data'), { mode: 0o755 });
    // another user, who may still read this clone in a folder of root alone
    const onlyRead = '-all,+dac_read_search';
    const capabilities = [`--inh-caps=${onlyRead}`, `--ambient-caps=${onlyRead}`];
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups', ...capabilities];
    const result = await failure({ program: ['setpriv', ...user, process.execPath, mainProgram] });
    expect(result).toContain(join(folder, 'data'));
  });
});

describe('a database that is not available at the start', () => {
  const ask = async (path: string, port = environment.PORT): Promise<readonly unknown[]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, response.headers.get('retry-after'), await response.text()];
  };

  test.each(['1', '2'])('is waited for, with --workers %s', async (workers) => {
    const opened = await openPostgres(testRole);
    const { DATABASE_URL: url = '' } = opened.environment;
    const network = await startNetwork(url);
    network.moveTo(`postgres://127.0.0.1:${await freePort()}`);
    const MANAGEMENT_PORT = String(await freePort());
    const command = start(['serve', '--workers', workers], {
      environment: { DATABASE_URL: network.url, MANAGEMENT_PORT },
    });
    await untilWritten(command, '"the database is not available yet; trying again"');
    const unavailable = [503, '2', expect.stringContaining('"UNAVAILABLE"')];
    for (const path of ['/readyz', '/connect-api/v1/subscription', '/oauth2/token'])
      expect(await ask(path)).toEqual(unavailable);
    expect((await ask('/healthz'))[0]).toBe(200);
    expect(await ask('/metrics', MANAGEMENT_PORT)).toEqual([200, null, 'subreport_ready 0\n']);
    network.moveTo(url);
    await untilWritten(command, '"serving"');
    expect((await ask('/readyz'))[0]).toBe(200);
    command.child.kill('SIGTERM');
    expect((await command.ended).code).toBe(0);
    await network.close();
    await opened.close();
  });

  test('refuses a wrong password and a role without the right, which stop the start, and is waited for while it stops', async () => {
    const access = join(folder, 'pg_hba.conf');
    writeFileSync(access, 'host all reporter all scram-sha-256\nhost all all all trust\n');
    chmodSync(folder, 0o755);
    const server = await startPostgres([`hba_file=${access}`]);
    onTestFinished(() => server.stop());
    const superuser = await connectPostgres(server.url);
    await superuser.query(
      "create role reporter login password 'right'; revoke connect on database postgres from public",
    );
    for (const [password, remedy] of [
      ['wrong', 'correct the user or the password in DATABASE_URL'], // 28P01
      ['right', 'grant connect on the database to the role'], // 42501
    ] as const) {
      const DATABASE_URL = server.url.replace('postgres@', `reporter:${password}@`);
      const { code, stderr } = await start(['serve'], { environment: { DATABASE_URL } }).ended;
      expect([code, stderr]).toEqual([1, expect.stringMatching(errorMessage)]);
      expect(stderr).toContain(remedy);
    }
    process.kill(server.pid, 'SIGTERM'); // it waits for the session of the superuser
    const command = start(['serve'], { environment: { DATABASE_URL: server.url } });
    await untilWritten(command, 'it answers, but is starting, stopping or in recovery'); // 57P03
    await superuser.end();
    await eventually(() => server.restart());
    await untilWritten(command, '"serving"');
  });

  test('may have a name that does not resolve yet; its password is not shown, and SIGTERM ends the wait', async () => {
    const DATABASE_URL = 'postgres://subreport:hidden@database.invalid/subreport';
    const command = start(['serve'], { environment: { DATABASE_URL } });
    await untilWritten(command, '"the database is not available yet; trying again"');
    expect((await ask('/readyz'))[0]).toBe(503);
    command.child.kill('SIGTERM');
    const { code, stdout } = await command.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('DATABASE_URL points to database.invalid')]);
    expect(stdout).not.toContain('hidden');
  });
});

describe.each(drawn)('stopping, on $engine', ({ openTestStore }) => {
  test('SIGTERM with running requests: each gets its response, then the process exits with 0', async () => {
    const opened = await openTestStore();
    const command = await startDemo({ environment: { ...opened.environment, DATA_DIR: environment.DATA_DIR ?? '' } });
    const { baseUrl, token } = await signIn();
    const read = () =>
      fetch(`${baseUrl}/v1/subscription?size=1000`, { headers: { authorization: `Bearer ${token}` } }).then(
        async (response) => [response.status, ((await response.json()) as unknown[]).length],
      );
    await read();
    const running = Array.from({ length: 20 }, read);
    await sleep(5);
    command.child.kill('SIGTERM');
    expect(await Promise.all(running)).toEqual(running.map(() => [200, 1_000]));
    const { code, stdout } = await command.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('"stopped"');
    await expect(read()).rejects.toThrow();
    await opened.close();
  });
});

test.runIf(process.platform === 'linux')(
  'a low limit of open files is a warning, as what it resets leaves no line',
  async () => {
    const program = ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, mainProgram] as const;
    const command = start(['serve'], { program });
    await untilWritten(command, '"serving"');
    expect(command.stdout()).toContain('"open_files":64');
  },
);

test('after SIGTERM a process announces its stop at /readyz and on each connection, and exits with 0', async () => {
  const command = start(['serve'], { environment: { SHUTDOWN_DELAY_SECONDS: '3' } });
  await untilWritten(command, '"serving"');
  const ask = (path: string) => fetch(`http://127.0.0.1:${environment.PORT}${path}`);
  expect((await ask('/readyz')).status).toBe(200);
  command.child.kill('SIGTERM');
  await untilWritten(command, '"stopping"');
  const [ready, alive] = [await ask('/readyz'), await ask('/healthz')];
  expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close']);
  expect([alive.status, alive.headers.get('connection')]).toEqual([200, 'close']);
  const { code, stdout } = await command.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('"stopped"')]);
});

test('SIGHUP does not stop a service without a terminal', async () => {
  const command = start(['serve']);
  await untilWritten(command, '"serving"');
  command.child.kill('SIGHUP');
  const alive = await fetch(`http://127.0.0.1:${environment.PORT}/healthz`);
  expect([alive.status, command.child.exitCode]).toEqual([200, null]);
  command.child.kill('SIGTERM');
  expect((await command.ended).code).toBe(0);
});

test.runIf(process.platform === 'linux')('a closed terminal stops its service', async () => {
  const program = ['script', '-qec', `exec ${process.execPath} ${mainProgram} serve`, '/dev/null'] as const;
  const terminal = start([], { program });
  const ask = () => fetch(`http://127.0.0.1:${environment.PORT}/healthz`);
  await eventually(async () => expect((await ask()).status).toBe(200));
  terminal.child.kill('SIGKILL'); // the kernel sends SIGHUP to the service
  await eventually(() => expect(ask()).rejects.toThrow());
});

/** A service with a request that waits for a lock of the database. */
async function serveWithHeldRequest(more: Record<string, string> = {}) {
  const opened = await openPostgres(testRole);
  const DATA_DIR = environment.DATA_DIR ?? '';
  const command = await startDemo({ environment: { ...opened.environment, DATA_DIR, ...more } });
  const { baseUrl, token } = await signIn();
  const locker = await connectPostgres(opened.environment.DATABASE_URL);
  await locker.query('begin; lock table subscription in access exclusive mode');
  // other clients would close the connection before the service does
  const socket = connect(Number(environment.PORT), '127.0.0.1').on('error', () => undefined);
  socket.write(`GET /connect-api/v1/subscription?size=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await eventually(async () => {
    const { rows } = await locker.query(
      "select 1 from pg_locks where not granted and relation = 'subscription'::regclass",
    );
    expect(rows).toHaveLength(1);
  });
  return { command, baseUrl, locker, socket, opened };
}

test('a request that outlasts the wait after SIGTERM gets its response, and its kept-alive connection does not delay the exit', async () => {
  const { command, baseUrl, locker, socket, opened } = await serveWithHeldRequest();
  command.child.kill('SIGTERM');
  await eventually(() => expect(fetch(baseUrl)).rejects.toThrow());
  await locker.end();
  const [response] = (await once(socket, 'data')) as [Buffer];
  expect(response.toString()).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  // an idle connection is kept for 15 seconds, the time of a shutdown
  const { code, stdout } = await command.ended;
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('requests are aborted')]);
  await opened.close();
});

test('a request that does not end, as that of a client that does not read, does not make a stop fail', async () => {
  const { command, locker, opened } = await serveWithHeldRequest({ REQUEST_SECONDS_MAX: '60' });
  command.child.kill('SIGTERM');
  const { code, stdout } = await command.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('unfinished requests are aborted')]);
  await locker.end();
  await opened.close();
});
