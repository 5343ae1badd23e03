import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { engines } from '../../../../test/support/engines.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { countMatching } from '../../storage/read/records.ts';

const writer = fileURLToPath(new URL('../../../../test/support/crash-writer.ts', import.meta.url));
const kills = 8;

describe.each(engines)('kill -9 of a loading process, on $engine', ({ engine, openTestStore }) => {
  test(`at ${kills} random times leaves each acknowledged batch complete and no other batch in part`, async () => {
    const opened = await openTestStore();
    const tenant = await addTenant(opened.store, 'crash');
    let next = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const acknowledged = await runUntilKilled(opened.environment, next);
      const batches = await opened.store.readTenant(tenant, async (reader) => {
        const rows = await reader.all(
          'select created_date as batch, count(*) as n from subscription where tenant_id = $1 group by created_date',
        );
        return new Map(rows.map(({ batch, n }) => [Number(batch), Number(n)]));
      });
      expect(acknowledged.filter((batch) => batches.get(batch) !== 10)).toEqual([]);
      expect([...batches.values()].every((n) => n === 10)).toBe(true);
      expect((await opened.store.readTenant(tenant, checkCounts)).problems).toEqual([]);
      next = Math.max(next, ...batches.keys()) + 1;
    }
    expect(next).toBeGreaterThanOrEqual(kills);
    if (engine === 'sqlite') {
      const database = new DatabaseSync(join(opened.environment.DATA_DIR ?? '', 'subreport.db'), { readOnly: true });
      expect(database.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
      database.close();
    }
    expect(
      await opened.store.readTenant(tenant, (reader) => countMatching(reader, { dateColumn: 'created_date' })),
    ).toBeGreaterThan(0);
    await opened.close();
  });
});

/**
 * Runs a writer and kills it some time after its first acknowledged batch; returns the acknowledged
 * batches.
 */
async function runUntilKilled(environment: Readonly<Record<string, string>>, start: number): Promise<number[]> {
  const child = spawn(process.execPath, [writer, String(start)], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  await sleep(Math.random() * 60);
  child.kill('SIGKILL');
  await closed;
  return text.split('\n').slice(0, -1).map(Number);
}
