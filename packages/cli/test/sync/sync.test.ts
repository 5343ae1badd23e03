import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../../../test/simulation/random.ts';
import { createDatabase, dropDatabase } from '../../../../test/support/databases.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, postgresUrl } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import type { SubscriptionRow } from '../../../service/storage/subscription-row.ts';
import type { DestinationOptions } from '../../sync/destinations.ts';
import { createChangingReport, environmentOf } from './changing-report.ts';
import { digestOfCopy, syncTo } from './read-copy.ts';
import { runHistory } from './sync-history.ts';

// `SYNC_HISTORIES=125 SYNC_KILLS=100 npx vitest run packages/cli/test/sync/sync.test.ts` runs 500
// histories and 200 kills
const histories = Number(process.env.SYNC_HISTORIES ?? 1);
const kills = Number(process.env.SYNC_KILLS ?? 3);
const timeout = 300_000 * Math.max(histories, kills);

let folder: string;
let database: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subreport-sync-'));
  const server = await postgresUrl();
  await createDatabase(server, 'sync_copies');
  database = Object.assign(new URL(server), { pathname: '/sync_copies' }).href;
});
afterAll(async () => {
  await dropDatabase(await postgresUrl(), 'sync_copies');
  rmSync(folder, { recursive: true });
});

/** Where each history keeps its copy. */
const destinations: Readonly<Record<string, (name: string) => DestinationOptions>> = {
  sqlite: (name) => ({ to: `sqlite:${join(folder, `${name}.db`)}`, table: 'subscriptions' }),
  postgres: (name) => ({ to: database, table: name }),
};

describe.each(drawOne(engines, import.meta.url))('a report on $engine', ({ engine, openTestStore }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openTestStore(), { PAGE_SIZE_MAX: '7', PAGE_SIZE_DEFAULT: '7' });
  });
  afterAll(() => service.close());

  test.each(Object.entries(destinations))(
    'a copy in %s equals the report after each sync of a random history, and no reader sees a part of one',
    { timeout },
    async (name, destinationOf) => {
      const tally = { syncs: 0, cut: 0, lost: 0, unread: 0, refused: 0, reloaded: 0 };
      for (let seed = 12; seed < 12 + histories; seed += 1) {
        const report = await createChangingReport(service, `history-${name}-${seed}`, seed);
        const found = await runHistory(report, destinationOf(`history_${engine}_${seed}`), seed, 9);
        for (const key of ['syncs', 'cut', 'lost', 'unread', 'refused', 'reloaded'] as const) tally[key] += found[key];
      }
      expect(tally.syncs).toBeGreaterThan(1);
      expect(tally.cut).toBeGreaterThan(1);
      expect(tally.reloaded).toBeGreaterThan(1);
      if (histories > 1) process.stdout.write(`${engine} to ${name}: ${JSON.stringify(tally)}\n`);
    },
  );
});

test.each(Object.entries(destinations))(
  'a sync to %s that is killed at any step leaves the copy of before or the next one, no reader sees another, and the following sync completes it',
  { timeout },
  async (name, destinationOf) => {
    const service = await startService(await engines[0].openTestStore());
    const report = await createChangingReport(service, 'killed', 1);
    const options = destinationOf('killed');
    const random = new Random(kills);
    const reader = startProgram('copy-reader.ts', [JSON.stringify(options)]);
    const allowed = new Set(['none']);
    let [before, killed] = ['none', 0];
    for (let round = 1; killed < kills; round += 1) {
      await report.load(manyRows(round));
      const current = await report.digest();
      allowed.add(current);
      const isReload = round % 2 === 0;
      // 1 to 3 are within a reload; the commit is the last step but one
      const killAt = String(random.between(1, isReload || before === 'none' ? 12 : 4));
      const delay = String(random.pick([0, 0, 1, 5, 20]));
      const { code } = await startProgram('sync-process.ts', [
        JSON.stringify({ ...options, reload: isReload }),
        JSON.stringify(environmentOf(service, report.credentials)),
        killAt,
        delay,
      ]).ended;
      if (code !== null && code !== 0) throw new Error(`a sync ended with ${code}`);
      killed += Number(code === null);
      await untilUnlocked(options);
      const found = await digestOfCopy(options);
      expect([before, current]).toContain(found);
      if (round % 3 === 0) await syncTo(report.source, options);
      before = round % 3 === 0 ? current : found;
      expect(await digestOfCopy(options)).toBe(before);
    }
    reader.child.kill('SIGTERM');
    const [reads = '', ...seen] = (await reader.ended).stdout.trim().split('\n').toReversed();
    expect(Number(reads)).toBeGreaterThan(1);
    expect(seen.filter((digest) => !allowed.has(digest))).toEqual([]);
    const without = seen.indexOf('none'); // reversed: no copy is there only before the first one
    expect(without === -1 || without === seen.length - 1).toBe(true);
    if (kills > 3)
      process.stdout.write(
        `to ${name}: ${killed} running processes killed, ${reads} reads saw ${seen.length} copies\n`,
      );
    await service.close();
  },
);

/** Starts a program of this folder. */
const startProgram = (file: string, args: readonly string[]) =>
  startCommand(args, { program: [process.execPath, fileURLToPath(new URL(file, import.meta.url))] });

/** Rows of which every third changes in each round. */
const manyRows = (round: number): SubscriptionRow[] =>
  Array.from({ length: 1_500 }, (_, n) =>
    subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n * 60, deviceId: n % 3 === 0 ? `d-${round}` : 'd' }),
  );

/** Waits until PostgreSQL has noticed that a process which held the lock of a copy was killed. */
async function untilUnlocked({ to }: DestinationOptions): Promise<void> {
  if (!to.startsWith('postgres')) return;
  const client = new pg.Client({ connectionString: to });
  await client.connect();
  const locks = `select pid from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where locktype = 'advisory' and datname = current_database()`;
  await eventually(async () => expect((await client.query(locks)).rows).toEqual([]));
  await client.end();
}
