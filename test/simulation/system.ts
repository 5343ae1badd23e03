import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { sweepTombstones } from '../../packages/service/storage/tables/history.ts';
import { sweepVersions } from '../../packages/service/storage/tables/sweep-versions.ts';
import { endAtExit } from '../../tools/end-at-exit.ts';
import { freePort } from '../../tools/free-port.ts';
import { bundleProgram } from '../support/bundle-program.ts';
import { compileCache } from '../support/compile-cache.ts';
import { makeNewerVersion, type NewerVersion } from '../support/newer-version.ts';
import { Difference } from './failure.ts';
import type { History } from './history.ts';

const main = await bundleProgram();
const logBytesMax = 20_000;

/** A child process of subreport. */
export interface OurProcess {
  readonly child: ChildProcess;
  /** The last part of its output. */
  output(): string;
  /** Resolves when it has exited. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string }>;
}

/** Where one of the two services listens. */
export interface Place {
  readonly url: string;
  readonly managementUrl: string;
  process: OurProcess;
}

/**
 * An address of this machine that no other test uses: another process could take the port of a
 * service while it is stopped.
 */
function ownAddress(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  const [a = 0, b = 0, c = 0] = randomBytes(3);
  return `127.${1 + (a % 254)}.${b}.${1 + (c % 254)}`;
}

const newDatabase = (): string => `simulation_${randomBytes(6).toString('hex')}`;

/** One store with two services, each in its own process. */
export class System {
  readonly folder = mkdtempSync(join(tmpdir(), 'subreport-simulation-'));
  readonly places: Place[] = [];
  readonly #postgresUrl: string | undefined;
  #database = newDatabase();
  readonly #workers: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #newer: NewerVersion | undefined;
  #environment: Readonly<Record<string, string>> = {};

  /** @param postgresUrl of a superuser; without it, the embedded store is used */
  constructor(
    postgresUrl: string | undefined,
    { workers, versions, settings }: Pick<History, 'workers' | 'versions' | 'settings'>,
  ) {
    this.#postgresUrl = postgresUrl;
    this.#workers = workers;
    this.#settings = settings;
    this.#newer = versions > 1 ? makeNewerVersion({ compatible: true, program: main }) : undefined;
  }

  async start(): Promise<void> {
    if (this.#postgresUrl !== undefined) await this.#administer(`create database ${this.#database}`);
    const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const host = ownAddress();
    this.#environment = {
      DATA_DIR: join(this.folder, 'data'),
      HOST: host,
      MANAGEMENT_HOST: host,
      ALLOW_HTTP: 'true',
      PUBLIC_URL: `http://${host}:${ports[0]}`,
      EXPORTS_MAX: '40',
      LOG_LEVEL: 'warn',
      ...this.#settings,
      ...(this.#postgresUrl !== undefined && { DATABASE_URL: this.#urlOf(this.#database) }),
    };
    await this.command(['migrate']);
    for (const service of [0, 1] as const) {
      const [port, management] = [ports[service], ports[service + 2]];
      this.places.push({
        url: `http://${host}:${port}`,
        managementUrl: `http://${host}:${management}`,
        process: this.#serve(service, port, management),
      });
    }
    await this.ready();
  }

  /** Restarts a service that was killed or stopped. */
  restart(service: 0 | 1): void {
    const place = this.places[service];
    if (place === undefined) return;
    place.process = this.#serve(service, Number(new URL(place.url).port), Number(new URL(place.managementUrl).port));
  }

  /**
   * Removes the tombstones and former versions of all changes before this call, as the services do
   * when the retention is over: for this call, some days pass.
   */
  async sweep(): Promise<number> {
    const store = openStore({
      databaseUrl: this.#environment.DATABASE_URL,
      dataDir: this.#environment.DATA_DIR ?? '',
      poolSize: 1,
      onConnectionError: () => undefined,
    });
    const daySeconds = 86_400;
    const nowSeconds = Math.floor(Date.now() / 1000) + this.#sweepDays * daySeconds;
    this.#sweepDays += 4;
    try {
      await sweepTombstones(store, { nowSeconds, days: 1 });
      const later = { nowSeconds: nowSeconds + 3 * daySeconds, days: 1 };
      await sweepVersions(store, later);
      return await sweepTombstones(store, later);
    } finally {
      await store.close();
    }
  }
  #sweepDays = 1;

  /** Stops both services, restores a backup, and starts them again. */
  async restore(file: string): Promise<void> {
    for (const { process } of this.places) process.child.kill('SIGTERM');
    await Promise.all(this.places.map(({ process }) => process.ended));
    const replaced = this.#database;
    if (this.#postgresUrl !== undefined) {
      this.#database = newDatabase();
      await this.#administer(`create database ${this.#database}`);
      this.#environment = { ...this.#environment, DATABASE_URL: this.#urlOf(this.#database) };
    }
    const { replaced: aside } = await this.command(['restore', file, '--yes']);
    if (this.#postgresUrl !== undefined) await this.#administer(`drop database ${replaced} with (force)`);
    if (aside !== undefined) rmSync(aside, { force: true });
    for (const service of [0, 1] as const) this.restart(service);
    await this.ready();
  }

  /** Resolves when both services can return a report. */
  async ready(): Promise<void> {
    for (const place of this.places) {
      for (let tries = 0; ; tries += 1) {
        const response = await fetch(`${place.url}/readyz`).catch(() => undefined);
        await response?.arrayBuffer();
        if (response?.status === 200 && place.process.child.exitCode === null) break;
        if (place.process.child.exitCode !== null || tries > 1_200)
          throw new Difference(`a service does not become ready: ${place.process.output()}`);
        await sleep(50);
      }
    }
  }

  /** Starts a command in a child process, of the later version if there are two. */
  spawn(args: readonly string[], more: Readonly<Record<string, string>> = {}, program = this.#newer?.main): OurProcess {
    const child = spawn(process.execPath, [program ?? main, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NO_COLOR: '1',
        MANAGEMENT_PORT: '0',
        ...compileCache,
        ...this.#environment,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endAtExit(child);
    const texts = { stdout: '', both: '' };
    child.stdout.on('data', (chunk) => {
      texts.stdout = (texts.stdout + chunk).slice(-logBytesMax);
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        texts.both = (texts.both + chunk).slice(-logBytesMax);
      });
    }
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout: texts.stdout }));
    return { child, output: () => texts.both, ended };
  }

  /** Runs a command that must succeed, and returns its parsed JSON output. */
  async command(args: readonly string[]): Promise<Record<string, string>> {
    const running = this.spawn([...args, '--json']);
    const { code, stdout } = await running.ended;
    if (code !== 0) throw new Difference(`'subreport ${args.join(' ')}' ended with ${code}: ${running.output()}`);
    return stdout === '' ? {} : JSON.parse(stdout);
  }

  /** Terminates every connection of subreport to PostgreSQL, as a failover would. */
  async cutConnections(): Promise<void> {
    await this.#administer(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${this.#database}'`,
    );
  }

  /** Resolves when PostgreSQL has finished all work of a killed process. */
  async quiet(): Promise<void> {
    if (this.#postgresUrl === undefined) return;
    for (let quietRounds = 0; quietRounds < 2; ) {
      const [row] = await this.#administer(
        `select count(*)::int as n from pg_stat_activity where datname = '${this.#database}' and state <> 'idle'`,
      );
      quietRounds = row?.n === 0 ? quietRounds + 1 : 0;
      await sleep(20);
    }
  }

  async close(): Promise<void> {
    for (const { process } of this.places) process.child.kill('SIGKILL');
    await Promise.all(this.places.map(({ process }) => process.ended));
    if (this.#postgresUrl !== undefined) await this.#administer(`drop database ${this.#database} with (force)`);
    rmSync(this.folder, { recursive: true, force: true });
    this.#newer?.remove();
  }

  #serve(service: 0 | 1, port = 0, management = 0): OurProcess {
    const workers = service === 1 && this.#workers > 1 ? ['--workers', String(this.#workers)] : [];
    const ports = { PORT: String(port), MANAGEMENT_PORT: String(management) };
    return this.spawn(['serve', ...workers], ports, service === 0 ? main : undefined);
  }

  #urlOf(database: string): string {
    const url = new URL(this.#postgresUrl ?? '');
    url.pathname = `/${database}`;
    return url.href;
  }

  async #administer(sql: string): Promise<readonly { readonly n?: number }[]> {
    const client = new pg.Client({ connectionString: this.#postgresUrl ?? '' });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
}
