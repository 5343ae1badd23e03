import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../../../test/support/run-here.ts';
import { openStore } from '../../storage/open-store.ts';
import { findLastBackup } from '../../storage/tables/audit-entry.ts';
import { places, type StorePlace } from './stores.ts';

describe.each(places)('the audit log in a backup of $engine', ({ makePlace }) => {
  let place: StorePlace;
  let other: StorePlace;
  beforeEach(async () => {
    [place, other] = [await makePlace(), await makePlace()];
  });
  afterEach(() => Promise.all([place.remove(), other.remove()]));

  test('a backup by another tool is recorded as the last one; a file beside --record is refused', async () => {
    const none = await runHere(['backup'], place.environment);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('either a file or --record must be given')]);
    const both = await runHere(['backup', 'backup.db', '--record'], place.environment);
    expect([both.code, both.stderr]).toEqual([2, none.stderr]);
    await runHere(['migrate'], place.environment);
    const { code, stdout } = await runHere(['backup', '--record', '--json'], place.environment);
    const { recorded_at: recordedAt } = JSON.parse(stdout);
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = place.environment;
    const store = openStore({ databaseUrl, dataDir, poolSize: 1, onConnectionError: () => undefined });
    const last = await findLastBackup(store).finally(() => store.close());
    expect([code, last]).toEqual([0, expect.any(Number)]);
    expect(Math.abs(Number(last) - recordedAt)).toBeLessThanOrEqual(120);
  });

  test('is restored, and goes on with the following ids; no token of an operator is accepted again', async () => {
    for (const name of ['first', 'second']) await runHere(['operator', 'create', '--name', name], place.environment);
    const file = join(place.folder, 'backup.db');
    await runHere(['backup', file], place.environment);
    await runHere(['operator', 'create', '--name', 'lost'], other.environment);
    expect(await runHere(['restore', file, '--yes'], other.environment)).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await runHere(['audit', '--ndjson'], other.environment);
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.map(({ id, action }) => [id, action])).toEqual([
      [1, 'operator.create'],
      [2, 'operator.create'],
      [3, 'store.backup'], // its begin
      [4, 'store.restore'],
    ]);
    const operators = await runHere(['operator', 'list', '--json'], other.environment);
    const revoked = JSON.parse(operators.stdout).map(({ revoked_at }: { revoked_at: string | null }) => revoked_at);
    // one may have been revoked after the backup
    expect(revoked).toEqual([expect.any(String), expect.any(String)]);
  });
});
