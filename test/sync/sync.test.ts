import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DestinationOptions } from '../../src/sync/open-destination.ts';
import { createDatabase, dropDatabase } from '../support/databases.ts';
import { engines, postgresUrl } from '../support/engines.ts';
import { startService, type TestService } from '../support/service.ts';
import { createChangingReport } from './changing-report.ts';
import { runHistory } from './sync-history.ts';

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
      const report = await createChangingReport(service, `history-${name}`, 11);
      const tally = await runHistory(report, destinationOf(`history_${engine}`), 12, 9);
      expect(tally.syncs).toBeGreaterThan(1);
      expect(tally.cut).toBeGreaterThan(1);
      expect(tally.reloaded).toBeGreaterThan(1);
    },
  );
});
