import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const drawn = drawOne(engines, import.meta.url);

const total = 20_000;

describe.each(drawn)('an import in another process while a server runs, on $engine', ({ openTestStore }) => {
  let service: TestService;
  let environment: Readonly<Record<string, string>>;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-beside-'));
    file = join(folder, 'rows.ndjson');
    const opened = await openTestStore();
    environment = opened.environment;
    service = await startService(opened);
    const made = ['generate', '--subscriptions', String(total), '--until', '2026-01-01T00:00:00Z', '--output', file];
    expect((await runHere(made)).code).toBe(0);
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test(`of ${total} rows: every concurrent read succeeds, totals only grow, and at the end all rows are visible`, async () => {
    const token = await service.accessToken(await service.createClient(await service.createTenant('acme')));
    const readTotal = async (): Promise<number> => {
      const response = await service.get('/v1/subscription?size=100', token);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      return Number(response.headers.get('x-total-count'));
    };
    const command = startCommand(['import', file, '--tenant', 'acme', '--json'], { environment });
    let ended = false;
    void command.ended.then(() => {
      ended = true;
    });
    const totals: number[] = [];
    while (!ended) {
      totals.push(await readTotal());
      await sleep(10); // reads without a pause take the CPU from the import
    }
    const { code, stdout, stderr } = await command.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ read: total, inserted: total, rejected: 0 });
    expect(await readTotal()).toBe(total);
    expect(totals).toEqual(totals.toSorted((a, b) => a - b));
    // it was read while it grew
    expect(totals.filter((n) => n > 0 && n < total).length).toBeGreaterThan(1);
  });
});
