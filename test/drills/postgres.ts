import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freezePostgres } from '../../tools/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { untilWritten } from '../support/run-command.ts';
import type { Drill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import { type FilledPlace, mountSmallDisk, type Stage, waitsForStore } from './stage.ts';

/** The time that a request may wait for the database; the default of 7 s is only longer. */
const patience = { REQUEST_SECONDS_MAX: '2' };
/** The same where no request hangs: on a busy machine, one may take longer than that. */
const patienceOfWork = { REQUEST_SECONDS_MAX: '60' };
const unavailable = '503 with Retry-After';

async function serve(
  stage: Stage,
  place: FilledPlace,
  environment: Record<string, string> = {},
): Promise<DrilledService> {
  const service = await stage.serve(place, { environment: { ...patience, ...environment } });
  await service.logIn();
  await service.report();
  return service;
}

/** What clients and probes see: of a report, of `/healthz` and of `/readyz`. */
async function look(service: DrilledService): Promise<string> {
  const statuses = [await service.report(), await service.status('/healthz'), await service.status('/readyz')];
  const [report, health, ready] = statuses;
  return `report ${report}; /healthz ${health}; /readyz ${ready}`;
}
const downAndUp = `report ${unavailable}; /healthz 200; /readyz ${unavailable}; afterwards report 200; /readyz 200`;

async function lookAfterwards(service: DrilledService): Promise<string> {
  const [report, ready] = [await service.until('200'), await service.until('200', () => service.status('/readyz'))];
  return `afterwards report ${report}; /readyz ${ready}`;
}

/** Locks a table against all others, as a statement that was forgotten in psql does. */
async function lockTable(place: Awaited<ReturnType<Stage['postgres']>>): Promise<() => Promise<unknown>> {
  await place.superuser.query('begin');
  await place.superuser.query('lock table subscription in access exclusive mode');
  return () => place.superuser.query('rollback');
}

export const postgresDrills: readonly Drill[] = [
  {
    name: 'postgres-killed',
    fault: 'PostgreSQL is killed (kill -9) and started again',
    expected: downAndUp,
    needs: ['Linux'],
    async run(stage) {
      const service = await serve(stage, await stage.postgres());
      const server = await stage.setting.postgres();
      await server.crash();
      const seen = await look(service);
      await server.restart();
      return `${seen}; ${await lookAfterwards(service)}`;
    },
  },
  {
    name: 'postgres-late',
    fault: 'the machine starts, and PostgreSQL is ready a minute after the service',
    expected: `for a minute /healthz 200, /readyz ${unavailable}; afterwards report 200; no restart`,
    needs: ['Linux'],
    async run(stage) {
      const place = await stage.postgres();
      const server = await stage.setting.postgres();
      await server.crash();
      const seen = new Set<string>();
      const service = await stage
        .serve(place, { line: waitsForStore, args: ['--workers', '2'] })
        .then(async (waiting) => {
          for (const end = performance.now() + 60_000; performance.now() < end; await sleep(1_000))
            seen.add(`/healthz ${await waiting.status('/healthz')}, /readyz ${await waiting.status('/readyz')}`);
          return waiting;
        })
        .finally(() => server.restart());
      await untilWritten(service.command, '"serving"');
      await service.logIn();
      return `for a minute ${[...seen]}; afterwards report ${await service.report()}; no restart`;
    },
  },
  {
    name: 'postgres-paused',
    fault: 'all processes of PostgreSQL are paused (SIGSTOP), then resumed',
    expected: downAndUp,
    async run(stage) {
      const service = await serve(stage, await stage.postgres());
      const resume = await freezePostgres(await stage.setting.postgres());
      stage.defer(resume);
      const seen = await look(service);
      resume();
      return `${seen}; ${await lookAfterwards(service)}`;
    },
  },
  {
    name: 'connection-killed',
    fault: 'pg_terminate_backend ends every idle connection of the service, 10 times',
    expected: 'reports 200; /readyz 200',
    async run(stage) {
      const place = await stage.postgres();
      const service = await serve(stage, place, patienceOfWork);
      const statuses = new Set<string>();
      for (let round = 0; round < 10; round += 1) {
        await place.superuser.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'subreport'",
          [place.database],
        );
        statuses.add(await service.report());
      }
      return `reports ${[...statuses]}; /readyz ${await service.until('200', () => service.status('/readyz'))}`;
    },
  },
  {
    name: 'statement-blocked',
    fault: 'another session locks the records, so statements of reports never end',
    expected: `report ${unavailable}; statements left on the server: 0; afterwards report 200; /readyz 200`,
    async run(stage) {
      const place = await stage.postgres();
      const service = await serve(stage, place);
      const unlock = await lockTable(place);
      const report = await service.report();
      const left = await eventually(async () => {
        const { rows } = await place.superuser.query(
          "select count(*)::int as n from pg_stat_activity where datname = $1 and application_name = 'subreport' and state = 'active'",
          [place.database],
        );
        if (rows[0].n !== 0) throw new Error(`${rows[0].n} statements still run`);
        return 0;
      });
      await unlock();
      return `report ${report}; statements left on the server: ${left}; ${await lookAfterwards(service)}`;
    },
  },
  {
    name: 'pool-exhausted',
    fault: 'all 2 connections of the pool wait for a lock',
    expected: `waiting reports ${unavailable}; invalid request 400; without token 401; /healthz 200; afterwards report 200; /readyz 200`,
    async run(stage) {
      const place = await stage.postgres();
      const service = await serve(stage, place, { DATABASE_POOL_SIZE: '2' });
      const unlock = await lockTable(place);
      const waiting = service.keepReporting(6);
      // on a slow machine, notifications are late, and the check of a token needs a connection too
      const invalid = await service.until('400', () => service.report('size=0'));
      const anonymous = await service.until('401', () => service.status('/connect-api/v1/subscription'));
      const health = await service.status('/healthz');
      const reports = await waiting.stop();
      await unlock();
      return `waiting reports ${[...reports]}; invalid request ${invalid}; without token ${anonymous}; /healthz ${health}; ${await lookAfterwards(service)}`;
    },
  },
  {
    name: 'too-many-connections',
    fault: 'the server refuses new connections of the role (53300)',
    expected: downAndUp,
    async run(stage) {
      const place = await stage.postgres();
      await place.superuser.query(`create role ${place.database} login connection limit 50`);
      await place.superuser.query(`grant all on all tables in schema public to ${place.database}`);
      await place.superuser.query(`create policy drill on subscription to ${place.database} using (true)`);
      const url = new URL(place.environment.DATABASE_URL ?? '');
      url.username = place.database;
      const environment = { ...place.environment, DATABASE_URL: url.href, MIGRATE_ON_START: 'false' };
      const service = await serve(stage, { ...place, environment });
      await place.superuser.query(`alter role ${place.database} connection limit 0`);
      await eventually(async () => {
        // one that was connecting is not seen at first
        const { rowCount } = await place.superuser.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
          [place.database],
        );
        if (rowCount !== 0) throw new Error(`${rowCount} connections were left`);
      });
      const seen = await look(service);
      await place.superuser.query(`alter role ${place.database} connection limit 50`);
      const after = await lookAfterwards(service);
      stage.defer(async () => {
        await place.superuser.query(`drop owned by ${place.database}`);
        await place.superuser.query(`drop role ${place.database}`);
      });
      await service.stop();
      return `${seen}; ${after}`;
    },
  },
  {
    name: 'postgres-read-only',
    fault: 'the server becomes read-only (25006), as a standby is',
    expected: `report 200; new token ${unavailable.slice(0, 3)}; afterwards new token 200`,
    async run(stage) {
      const place = await stage.postgres();
      const service = await serve(stage, place);
      const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
        await place.superuser.query('set default_transaction_read_only = off');
        await place.superuser.query(`alter database ${place.database} set default_transaction_read_only = ${value}`);
        await place.superuser.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
          [place.database],
        );
      };
      await setReadOnly('on');
      const report = await service.until('200');
      const token = await service.requestToken();
      await setReadOnly('off');
      const after = await service.until('200', () => service.requestToken());
      return `report ${report}; new token ${token}; afterwards new token ${after}`;
    },
  },
  {
    name: 'database-network',
    fault: 'the network to PostgreSQL swallows everything, resets each connection, or sends 1 byte at a time',
    expected: `silent: report ${unavailable}; resets: report ${unavailable}; 1 byte at a time: report 200; afterwards report 200; /readyz 200`,
    async run(stage) {
      const place = await stage.postgres();
      const network = await startNetwork(place.environment.DATABASE_URL ?? '');
      stage.defer(() => network.close());
      const environment = { ...place.environment, DATABASE_URL: network.url };
      const service = await serve(stage, { ...place, environment });
      const seen: string[] = [];
      for (const [name, fault] of [
        ['silent', 'silent'],
        ['resets', 'reset'],
        ['1 byte at a time', 'trickle'],
      ] as const) {
        network.fault = fault;
        seen.push(`${name}: report ${fault === 'trickle' ? await service.until('200') : await service.report()}`);
      }
      network.fault = undefined;
      return `${seen.join('; ')}; ${await lookAfterwards(service)}`;
    },
  },
  {
    name: 'postgres-disk-full',
    fault: 'the disk of the tables is full',
    expected: 'load: exit code 75; records as before the load; report 200; with space again the load: exit code 0',
    needs: ['Linux', 'tmpfs'],
    async run(stage) {
      const place = await stage.postgres();
      const disk = mountSmallDisk(stage, 24);
      await place.superuser.query(`create tablespace ${place.database}_disk location '${disk.folder}'`);
      const administrator = new pg.Client({ connectionString: (await stage.setting.postgres()).url });
      await place.superuser.end();
      await administrator.connect();
      await administrator.query(`alter database ${place.database} set tablespace ${place.database}_disk`);
      const service = await serve(stage, place, patienceOfWork);
      const before = await service.total();
      disk.fill();
      const load = () =>
        stage.run(['import', '-', '--tenant', 'acme', '--format', 'ndjson'], {
          environment: place.environment,
          input: stage.rows(5_000),
        });
      const { code } = await load();
      const kept = (await service.total()) === before ? 'as before the load' : `${await service.total()}`;
      const report = await service.report();
      disk.free();
      const { code: later } = await load();
      await service.stop();
      await administrator.query(`drop database ${place.database} with (force)`);
      await administrator.query(`drop tablespace ${place.database}_disk`);
      await administrator.end();
      return `load: exit code ${code}; records ${kept}; report ${report}; with space again the load: exit code ${later}`;
    },
  },
];

/** A network in front of a server that can fail, and an address that can move. */
interface Network {
  readonly url: string;
  fault: 'silent' | 'reset' | 'trickle' | undefined;
  /** Closes all connections, and leads new ones to another server, as a virtual IP does. */
  moveTo(databaseUrl: string): void;
  close(): Promise<void>;
}

export async function startNetwork(databaseUrl: string): Promise<Network> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const url = new URL(databaseUrl);
  const network: Network = {
    get url() {
      return url.href;
    },
    fault: undefined,
    moveTo(databaseUrl) {
      target = new URL(databaseUrl);
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      if (network.fault === 'reset') from.resetAndDestroy();
      else if (network.fault === 'trickle') for (const byte of chunk) to.write(Buffer.of(byte));
      else if (network.fault === undefined) to.write(chunk);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    sockets.add(from.setNoDelay());
  };
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    forward(client, database);
    forward(database, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.port = String((server.address() as { port: number }).port);
  return network;
}
