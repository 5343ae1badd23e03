import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freezePostgres, type PostgresServer, startPostgres } from '../../tools/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import type { Drill } from './drill.ts';
import type { DrilledService } from './drilled-service.ts';
import { changedAsKept, keepMoment, lookAtHistory, readMoment } from './history.ts';
import { startNetwork } from './postgres.ts';
import type { FilledPlace, Stage } from './stage.ts';

// Failover of PostgreSQL as docs/operators/operating.md describes it: the standby is promoted, and
// the address in DATABASE_URL moves to it. The service is not restarted.

const unavailable = '503 with Retry-After';

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** The network between the two. */
  readonly replication: Awaited<ReturnType<typeof startNetwork>>;
  /** The address of the primary, which can move. */
  readonly address: Awaited<ReturnType<typeof startNetwork>>;
  /** The store at that address. */
  readonly place: FilledPlace;
}

/** A primary with a filled database, and a standby that follows it. */
async function startPair(stage: Stage, isSynchronous: boolean): Promise<Pair> {
  const primary = await startPostgres(['wal_keep_size=512MB']);
  stage.defer(() => primary.stop());
  const { superuser, ...own } = await stage.postgres(1_000, primary);
  const replication = await startNetwork(primary.url);
  stage.defer(() => replication.close());
  const standby = await primary.startStandby(replication.url);
  stage.defer(() => standby.stop());
  if (isSynchronous) {
    await superuser.query("alter system set synchronous_standby_names = '*'");
    await superuser.query('select pg_reload_conf()');
  }
  await eventually(async () => {
    const { rows } = await superuser.query(
      'select sync_state, replay_lsn = pg_current_wal_lsn() as same from pg_stat_replication',
    );
    const state = isSynchronous ? 'sync' : 'async';
    if (rows[0]?.sync_state !== state || rows[0]?.same !== true) throw new Error(`the standby must be ${state}`);
  });
  const address = await startNetwork(own.environment.DATABASE_URL ?? '');
  stage.defer(() => address.close());
  const place = { ...own, environment: { ...own.environment, DATABASE_URL: address.url } };
  return { primary, standby, replication, address, place };
}

async function promote({ url }: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('select pg_promote()');
  await client.end();
}

/**
 * Loads 20 records at a time over HTTP until it is stopped; returns the ids of acknowledged loads.
 */
function keepLoading(stage: Stage, service: DrilledService) {
  const loads: string[][] = [];
  let isOver = false;
  const loading = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const rows = stage.rows(20, `load${n}-`);
      const isAcknowledged = await service.tryToLoad(rows).then(
        ({ status }) => status === 200,
        () => false, // the connection was lost
      );
      if (isAcknowledged)
        loads.push(
          rows
            .trim()
            .split('\n')
            .map((row) => (JSON.parse(row) as { id: string }).id),
        );
      else await sleep(50);
    }
  })();
  return {
    /** Waits until so many more loads were acknowledged. */
    async reach(more: number): Promise<void> {
      const wanted = loads.length + more;
      await eventually(() => {
        if (loads.length < wanted) throw new Error(`${wanted} loads must be acknowledged: ${loads.length} are`);
      });
    },
    async stop(): Promise<readonly string[]> {
      isOver = true;
      await loading;
      return loads.flat();
    },
  };
}

const serve = async (stage: Stage, place: FilledPlace): Promise<DrilledService> => {
  const service = await stage.serve(place);
  await service.logIn();
  return service;
};

/** The database of a place on another server. */
const onServer = ({ environment }: FilledPlace, { url }: PostgresServer): string =>
  new URL(new URL(environment.DATABASE_URL ?? '').pathname, url).href;

const status = (service: DrilledService, path: string, headers = {}): Promise<string> =>
  service.status(`/connect-api/v1/subscription${path}`, { authorization: `Bearer ${service.token}`, ...headers });

async function tagOf(service: DrilledService): Promise<string> {
  const { headers } = await service.read('?size=7', { 'accept-encoding': 'identity' });
  return headers.get('etag') ?? '';
}

export const failoverDrills: readonly Drill[] = [
  {
    name: 'failover-synchronous',
    fault: 'the primary is paused under reports and loads; its synchronous standby is promoted and gets its address',
    expected: `reports 200, 503 with Retry-After; afterwards report 200; acknowledged records missing: 0, among the changes after an older token: 0; the report of before as it was; ${changedAsKept}`,
    needs: ['Linux'],
    async run(stage) {
      const { primary, standby, address, place } = await startPair(stage, true);
      const service = await serve(stage, place);
      const { next } = await service.changes();
      const before = await keepMoment(service);
      const [reading, loading] = [service.keepReporting(4, 20), keepLoading(stage, service)];
      await loading.reach(3);
      stage.defer(await freezePostgres(primary)); // as unreachable as after a power failure
      await service.until(unavailable);
      await promote(standby);
      address.moveTo(standby.url);
      await loading.reach(3);
      const [acknowledged, statuses] = [await loading.stop(), await reading.stop()];
      const [after, all] = [await service.until('200'), await service.changes()];
      const changed = await service.changes(next);
      const missing = [all, changed].map(({ ids }) => acknowledged.filter((id) => !ids.has(id)).length);
      return `reports ${[...statuses].sort().join(', ')}; afterwards report ${after}; acknowledged records missing: ${missing[0]}, among the changes after an older token: ${missing[1]}; the report of before ${await readMoment(service, before)}; ${await lookAtHistory(stage, service, (rows) => service.load(rows))}`;
    },
  },
  {
    name: 'failover-asynchronous',
    fault:
      'the primary fails before its last load has reached the asynchronous standby, which is promoted, gets a new history, and then its address',
    expected: `acknowledged records missing: 20; afterwards report 200; as many loads later: change tokens 410, 410; report with an ETag of before 200; new loads are in the changes; the report of before 410 HISTORY_NOT_KEPT; ${changedAsKept}`,
    needs: ['Linux'],
    async run(stage) {
      const { primary, standby, replication, address, place } = await startPair(stage, false);
      const service = await serve(stage, place);
      const older = await service.changes();
      const before = await keepMoment(service);
      replication.fault = 'silent';
      const lost = stage.rows(20, 'lost-');
      await service.load(lost);
      const newer = await service.changes();
      const tag = await tagOf(service);
      await primary.crash();
      await promote(standby);
      const environment = { ...place.environment, DATABASE_URL: onServer(place, standby) };
      await stage.succeed(['restore', '--new-history'], { environment });
      address.moveTo(standby.url);
      await service.logIn();
      const after = await service.until('200');
      const { ids, next } = await service.changes();
      const missing = [...newer.ids].filter((id) => !ids.has(id)).length;
      await service.load(stage.rows(20, 'other-')); // as many revisions as were lost
      const tokens = await Promise.all([older, newer].map((token) => status(service, `/changes?since=${token.next}`)));
      const conditional = await status(service, '?size=7', { 'if-none-match': tag });
      const { ids: following } = await service.changes(next);
      return `acknowledged records missing: ${missing}; afterwards report ${after}; as many loads later: change tokens ${tokens.join(', ')}; report with an ETag of before ${conditional}; new loads are ${following.size === 20 ? '' : 'not '}in the changes; the report of before ${await readMoment(service, before)}; ${await lookAtHistory(stage, service, (rows) => service.load(rows))}`;
    },
  },
];
