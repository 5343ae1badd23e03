import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SubscriptionRow } from '../../src/storage/subscription-row.ts';
import type { DestinationOptions } from '../../src/sync/open-destination.ts';
import { Random } from '../simulation/random.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startCommand } from '../support/run-command.ts';
import { startService, type TestService } from '../support/service.ts';
import { createChangingReport, environmentOf } from './changing-report.ts';
import { digestOfCopy, syncTo } from './read-copy.ts';
import { runHistory } from './sync-history.ts';

// `SYNC_HISTORIES=125 SYNC_KILLS=100 npx vitest run test/sync/sync.test.ts` runs 500 histories and
// 200 kills
const histories = Number(process.env.SYNC_HISTORIES ?? 1);
const kills = Number(process.env.SYNC_KILLS ?? 3);

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

describe.each(engines)('a report on $engine', ({ engine, openTestStore }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openTestStore(), { PAGE_SIZE_MAX: '7', PAGE_SIZE_DEFAULT: '7' });
  });
  afterAll(() => service.close());

  test.each(Object.entries(destinations))(
    'a copy in %s equals the report after each sync of a random history, and no reader sees a part of one',
    async (name, destinationOf) => {
      const tally = { syncs: 0, cut: 0, reloaded: 0 };
      for (let seed = 12; seed < 12 + histories; seed += 1) {
        const report = await createChangingReport(service, `history-${name}-${seed}`, seed);
        const found = await runHistory(report, destinationOf(`history_${engine}_${seed}`), seed, 9);
        for (const key of ['syncs', 'cut', 'reloaded'] as const) tally[key] += found[key];
      }
      expect(tally.syncs).toBeGreaterThan(1);
      expect(tally.cut).toBeGreaterThan(1);
      expect(tally.reloaded).toBeGreaterThan(1);
      if (histories > 1) process.stdout.write(`${engine} to ${name}: ${JSON.stringify(tally)}\n`);
    },
  );
});

test.each(Object.entries(destinations))(
  'a sync to %s that is killed leaves the copy of before or the next one, and the following sync completes it',
  async (name, destinationOf) => {
    const service = await startService(await engines[0].openTestStore());
    const report = await createChangingReport(service, 'killed', 1);
    const options = destinationOf('killed');
    const random = new Random(kills);
    let [before, killed] = ['none', 0];
    for (let round = 1; round <= kills; round += 1) {
      await report.load(manyRows(round));
      const running = startCommand(['sync', '--to', options.to, '--table', options.table, ...reloadAt(round)], {
        environment: environmentOf(service, report.credentials),
      });
      await sleep(random.between(200, 1_200));
      running.child.kill('SIGKILL');
      killed += Number((await running.ended).code === null);
      const [found, current] = [await digestOfCopy(options), await report.digest()];
      expect([before, current]).toContain(found);
      if (round % 3 === 0) await syncTo(report.source, options);
      before = round % 3 === 0 ? current : found;
      expect(await digestOfCopy(options)).toBe(before);
    }
    if (kills > 3) process.stdout.write(`to ${name}: ${killed} of ${kills} were killed while they ran\n`);
    await service.close();
  },
);

/** Rows of which every third changes in each round. */
const manyRows = (round: number): SubscriptionRow[] =>
  Array.from({ length: 4_000 }, (_, n) =>
    subscriptionRow({ id: `id_${n}`, createdDate: 1_600_000_000 + n * 60, deviceId: n % 3 === 0 ? `d-${round}` : 'd' }),
  );

const reloadAt = (round: number): string[] => (round % 2 === 0 ? ['--reload'] : []);
