import pg from 'pg';
import { Random } from '../../../../test/simulation/random.ts';
import { ConnectionError } from '../../../client/index.ts';
import { type DestinationOptions, openDestination } from '../../sync/destinations.ts';
import { SyncError } from '../../sync/source/error.ts';
import type { Destination } from '../../sync/table/destination.ts';
import { runSync } from '../../sync/table/run-sync.ts';
import { type ChangingReport, clientOf } from './changing-report.ts';
import { startLossyProxy } from './lossy-proxy.ts';
import { digestOfCopy } from './read-copy.ts';

/** What happened in a history, for messages. */
export interface HistoryTally {
  syncs: number;
  cut: number;
  /** Connections to PostgreSQL that its server ended. */
  lost: number;
  /** Connections to the service that were lost. */
  unread: number;
  /** Syncs beside another one of the same copy. */
  refused: number;
  reloaded: number;
}

class Cut extends Error {}

/**
 * Changes a report and syncs it at random, with changes and cut connections between any two steps
 * of a sync. Throws unless each completed copy equals the report, and each cut sync has left the
 * copy as it was; a reader beside every step sees the copy of before.
 */
export async function runHistory(
  report: ChangingReport,
  options: DestinationOptions,
  seed: number,
  rounds: number,
): Promise<HistoryTally> {
  const random = new Random(seed);
  const tally: HistoryTally = { syncs: 0, cut: 0, lost: 0, unread: 0, refused: 0, reloaded: 0 };
  const { origin } = new URL(report.source.service);
  const proxy = await startLossyProxy(origin);
  const source = { ...report.source, client: clientOf(proxy.url, origin, report.credentials, 2) };
  let last = 'none';
  const require = async (expected: string, when: string): Promise<void> => {
    const found = await digestOfCopy(options);
    if (found !== expected) throw new Error(`seed ${seed}: ${when}: the copy is ${found}, not ${expected}`);
  };
  for (let round = 1; round <= rounds; round += 1) {
    for (let changes = random.between(0, 3); changes > 0; changes -= 1) await report.change();
    const cutAt = random.chance(0.5) ? random.between(1, 8) : Number.POSITIVE_INFINITY;
    const changeAt = random.between(1, 8);
    const otherAt = random.chance(0.2) ? random.between(1, 4) : 0;
    const isLost = options.to.startsWith('postgres') && random.chance(0.5);
    const unreadAt = random.chance(0.2) ? random.between(1, 6) : 0;
    let step = 0;
    const between = async (): Promise<void> => {
      step += 1;
      await require(last, `beside step ${step} of sync ${round}`);
      if (step === changeAt) await report.change();
      // a sync whose connection was lost holds no lock any more
      if (step === otherAt && !(isLost && step > cutAt)) await requireRefused(report, options, tally);
      // both attempts of a request, in the head of the response or within its body
      if (step === unreadAt) proxy.lose(2, random.between(0, 3_000));
      if (step === cutAt && isLost) await endConnections(options.to);
      else if (step === cutAt) throw new Cut();
    };
    const destination = watched(await openDestination(options, async () => undefined), between);
    try {
      const { reloaded } = await runSync(source, destination);
      tally.syncs += 1;
      tally.reloaded += Number(reloaded);
      // the report may have changed during the sync
      await runSync(report.source, await openDestination(options, async () => undefined));
      last = await report.digest();
    } catch (error) {
      const wasLost = isLost && error instanceof SyncError && error.code === 'DESTINATION_FAILED';
      const wasUnread = unreadAt > 0 && error instanceof ConnectionError;
      if (!(error instanceof Cut) && !wasLost && !wasUnread) throw error;
      tally[wasLost ? 'lost' : wasUnread ? 'unread' : 'cut'] += 1;
    }
    proxy.lose(0, 0);
    await require(last, `after sync ${round}`);
  }
  proxy.close();
  return tally;
}

/** A second sync of the same copy is refused, and changes nothing. */
async function requireRefused(report: ChangingReport, options: DestinationOptions, tally: HistoryTally): Promise<void> {
  const second = openDestination(options, async () => undefined).then((destination) =>
    runSync(report.source, destination),
  );
  const error = await second.catch((reason: unknown) => reason);
  if (!(error instanceof SyncError) || error.code !== 'DESTINATION_BUSY')
    throw new Error(`a second sync was not refused: ${error}`);
  tally.refused += 1;
}

/** Ends the connections of syncs, as a restarted server or a cut network does. */
async function endConnections(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'subreport-sync'`,
  );
  await client.end();
}

/** A destination that calls `between` before each of its steps, and within a whole report. */
export function watched(destination: Destination, between: () => Promise<void>): Destination {
  const before = async <T>(work: () => Promise<T>): Promise<T> => {
    await between();
    return work();
  };
  return {
    begin: (source) => destination.begin(source),
    resync: (batches) => before(() => destination.resync(interrupted(batches, between))),
    apply: (changes) => before(() => destination.apply(changes)),
    count: () => before(() => destination.count()),
    commit: (position) => before(() => destination.commit(position)),
    close: () => destination.close(),
  };
}

async function* interrupted<T>(
  batches: AsyncIterable<readonly T[]>,
  between: () => Promise<void>,
): AsyncGenerator<readonly T[], void, undefined> {
  for await (const rows of batches) {
    yield rows.slice(0, rows.length / 2);
    await between();
    yield rows.slice(rows.length / 2);
  }
}
