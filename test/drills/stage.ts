import { execFile, execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { freePort } from '../../tools/free-port.ts';
import { type PostgresServer, startPostgres } from '../../tools/postgres-server.ts';
import type { Random } from '../simulation/random.ts';
import { subscriptionRow } from '../support/rows.ts';
import {
  type CommandOptions,
  type CommandResult,
  type RunningCommand,
  runCommand,
  startCommand,
  untilWritten,
} from '../support/run-command.ts';
import { DrilledService } from './drilled-service.ts';

const runFile = promisify(execFile);

/** Where all drills of a run take place. */
export interface Setting {
  /** Program and arguments that run `subreport`, if not the sources. */
  readonly program: readonly [string, ...string[]] | undefined;
  /** Starts a PostgreSQL server on first use. */
  postgres(): Promise<PostgresServer>;
}

/** A PostgreSQL server that starts on first use, for all drills of a run. */
export function lazyPostgres(): Pick<Setting, 'postgres'> & { stop(): Promise<void> } {
  let starting: Promise<PostgresServer> | undefined;
  return {
    postgres() {
      starting ??= startPostgres();
      return starting;
    },
    stop: async () => (await starting)?.stop(),
  };
}

/** How to start a service. */
export interface ServeOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Program and arguments in front of it, such as a wrapper. */
  readonly program?: readonly [string, ...string[]];
  /** The line of the log to wait for; by default that it serves. */
  readonly line?: string;
}

/** What a service writes that has started before its database. */
export const waitsForStore = 'the database is not available yet; trying again';

/** What one drill uses: a folder, stores, services. All of it is removed by `close`. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'subreport-drill-'));
  /** Seeded choices of the drill. */
  readonly random: Random;
  readonly setting: Setting;
  /** The commands of the drill and their output, as in a terminal. */
  readonly session: string[] = [];
  readonly #cleanups: (() => unknown)[] = [];

  constructor(setting: Setting, random: Random) {
    this.setting = setting;
    this.random = random;
  }

  /** Runs at the end of the drill, the last one first. */
  defer(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** An empty embedded store with a tenant, `records` records and a client. */
  async sqlite(records = 1_000, folder = join(this.folder, 'data')): Promise<FilledPlace> {
    return fill({ DATA_DIR: folder }, records);
  }

  /**
   * The same on PostgreSQL, that of all drills or a server of its own, and a connection of the
   * superuser.
   */
  async postgres(records = 1_000, server?: PostgresServer): Promise<FilledPlace & EmptyPlace> {
    const empty = await this.emptyPostgres(server);
    return { ...empty, ...(await fill(empty.environment, records)) };
  }

  /** An empty database on that server. */
  async emptyPostgres(server?: PostgresServer): Promise<EmptyPlace> {
    const { url } = server ?? (await this.setting.postgres());
    const database = `drill_${this.random.seed()}`;
    const administrator = new pg.Client({ connectionString: url });
    administrator.on('error', () => undefined);
    await administrator.connect();
    await administrator.query(`drop database if exists ${database}`);
    await administrator.query(`create database ${database}`);
    await administrator.end();
    const own = new URL(url);
    own.pathname = database;
    const superuser = new pg.Client({ connectionString: own.href });
    superuser.on('error', () => undefined); // its server may be killed
    await superuser.connect();
    this.defer(() => superuser.end().catch(() => undefined));
    return { environment: { DATABASE_URL: own.href, DATA_DIR: join(this.folder, 'data') }, superuser, database };
  }

  /** Starts a service on a store; resolves once it has written a line. */
  async serve(place: FilledPlace, options: ServeOptions = {}): Promise<DrilledService> {
    const [port, managementPort] = [await freePort(), await freePort()];
    // drills send more than the quota of a client
    const ports = { PORT: String(port), MANAGEMENT_PORT: String(managementPort), RATE_LIMIT_PER_MINUTE: '0' };
    const command = this.start(['serve', ...(options.args ?? [])], {
      environment: { ...place.environment, ...ports, ...options.environment },
      ...(options.program !== undefined && { program: options.program }),
    });
    await untilWritten(command, `"${options.line ?? 'serving'}"`);
    return new DrilledService(command, port, managementPort, place.client);
  }

  /** Starts `subreport` in a child process, which is killed at the end of the drill. */
  start(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    const command = startCommand(args, this.#withProgram(options));
    this.defer(async () => {
      if (command.child.exitCode === null && command.child.signalCode === null) command.child.kill('SIGKILL');
      await command.ended;
    });
    return command;
  }

  /** Runs `subreport` until it exits. */
  run(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    return runCommand(args, this.#withProgram(options));
  }

  /** Runs `subreport` until it exits; throws what it says unless it succeeds. */
  async succeed(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    const result = await this.run(args, options);
    if (result.code !== 0)
      throw new Error(`'subreport ${args.join(' ')}' must succeed: exit code ${result.code}: ${result.stderr}`);
    return result;
  }

  /**
   * Runs a command of an operator in a shell, and adds it and its output to the session. Throws if
   * it fails.
   */
  async shell(command: string, environment: Readonly<Record<string, string>>): Promise<string> {
    const env = { PATH: process.env.PATH, PAGER: '', ...environment };
    const finish = (output: string): string => {
      this.session.push(`$ ${command}`, output.trimEnd(), '');
      return output;
    };
    return runFile('bash', ['-o', 'pipefail', '-c', `{ ${command}\n} 2>&1`], { env }).then(
      ({ stdout }) => finish(stdout),
      ({ stdout, message }: { stdout?: string; message: string }) => {
        throw new Error(`'${command}' must succeed: ${finish(stdout ?? message)}`);
      },
    );
  }

  /** Valid rows as NDJSON; each seed of the drill gives others. */
  rows(count: number, prefix = 'loaded'): string {
    return [...syntheticRows({ count, seed: this.random.seed(), until: 1_767_225_600 })]
      .map((row, n) => `${JSON.stringify({ ...row, id: `${prefix}${n}` })}\n`)
      .join('');
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).toReversed()) await cleanup();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #withProgram(options: CommandOptions): CommandOptions {
    const { program } = this.setting;
    return program === undefined ? options : { program, ...options };
  }
}

/** An empty database on PostgreSQL, and a connection of the superuser. */
interface EmptyPlace {
  readonly environment: Readonly<Record<string, string>>;
  readonly superuser: pg.Client;
  readonly database: string;
}

/** A store with the tenant `acme`. */
export interface FilledPlace {
  readonly environment: Readonly<Record<string, string>>;
  readonly client: Readonly<Record<'client_id' | 'client_secret', string>>;
}

async function fill(environment: Readonly<Record<string, string>>, records: number): Promise<FilledPlace> {
  const store = openStore({
    databaseUrl: environment.DATABASE_URL,
    dataDir: environment.DATA_DIR ?? '',
    poolSize: 2,
    onConnectionError: () => undefined,
  });
  try {
    await store.migrate();
    await insertTenant(store, 'acme', 1);
    const tenant = (await findTenant(store, 'acme'))?.tenant;
    if (tenant === undefined) throw new TypeError('the tenant must exist once it was inserted');
    const rows = Array.from({ length: records }, (_, n) => subscriptionRow({ id: `id${n}`, createdDate: n }));
    await store.loadSubscriptions(tenant, rows);
    const client = await createClient(store, Math.floor(Date.now() / 1000), {
      tenant,
      scopes: ['subscription:read', 'subscription:write'],
    });
    return { environment, client };
  } finally {
    await store.close();
  }
}

/** A file system of a bounded size. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills it to the last byte. */
  fill(): void;
  /** Removes what `fill` wrote. */
  free(): void;
}

/** Mounts a file system of some MiB in memory, until the drill ends. */
export function mountSmallDisk(stage: Stage, mib: number, owner = 65_534): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-disk-'));
  const options = `size=${mib}m,mode=0700,uid=${owner},gid=${owner}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  stage.defer(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const file = openSync(filler, 'w');
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
  };
}
