import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService } from '../../../../test/support/service.ts';

const pageBytes = 4_096;

/** Overwrites every page of a database file that holds records, and no other page. */
function destroyRecords(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  const bytes = readFileSync(file);
  for (let start = pageBytes; start < bytes.length; start += pageBytes)
    if (
      bytes.includes('a-record-of-this-test', start) &&
      bytes.subarray(start, start + pageBytes).includes('a-record-of')
    )
      bytes.fill(0, start, start + 8); // the header of the page
  writeFileSync(file, bytes);
}

test('a report that finds the store damaged turns /readyz to 503, and the log says what to do', async () => {
  const opened = await engines[0].openTestStore();
  const service = await startService(opened);
  onTestFinished(() => service.close());
  const tenant = await service.createTenant('acme');
  const token = await service.accessToken(await service.createClient(tenant));
  const rows = Array.from({ length: 2_000 }, (_, n) => subscriptionRow({ id: `a-record-of-this-test-${n}` }));
  await service.store.loadSubscriptions(tenant, rows);
  destroyRecords(join(opened.environment.DATA_DIR ?? '', 'subreport.db'));
  // nothing has read the damaged pages yet
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const answers = [];
  for (const path of ['?size=1000&page=2', '?all=true&format=ndjson'])
    answers.push(
      await service.get(`/v1/subscription${path}`, token).then(
        ({ status }) => status,
        () => 'aborted',
      ),
    );
  expect(answers).toContain(500);
  const { messages } = await expectProblem(await fetch(`${service.url}/readyz`), 'UNAVAILABLE');
  expect(messages).toEqual([
    'Cannot serve reports now: the operator must repair the database; the log contains instructions',
  ]);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect(service.logText()).toContain('restore a backup');
});
