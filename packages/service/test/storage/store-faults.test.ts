import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService } from '../../../../test/support/service.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const open = (folder: string): Store =>
  openStore({ databaseUrl: undefined, dataDir: folder, poolSize: 1, onConnectionError: () => undefined });

async function newTenant(store: Store): Promise<TenantId> {
  return addTenant(store, 'acme');
}

const rowsFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${start + n}`, createdDate: start + n }));

describe('a damaged embedded store', () => {
  test('is reported with its path and a remedy, and /readyz returns 503 after the first damaged read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-damaged-'));
    const file = join(folder, 'subreport.db');
    let store = open(folder);
    await store.migrate();
    await store.loadSubscriptions(await newTenant(store), rowsFrom(0, 4_000));
    await store.close();
    const bytes = readFileSync(file);
    for (let at = 200 * 4_096; at < bytes.length; at += 4_096) bytes.fill(0x5a, at, at + 600);
    writeFileSync(file, bytes);
    store = open(folder);
    const environment = { DATA_DIR: folder };
    const close = () => store.close();
    const service = await startService({ store, environment, openAgain: () => open(folder), close });
    const tenant = (await findTenant(store, 'acme'))?.tenant as TenantId;
    const token = await service.accessToken(await service.createClient(tenant));
    // nothing has read the damaged pages yet
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    let status = 200;
    for (let page = 1; status === 200 && page <= 4; page += 1)
      ({ status } = await service.get(`/v1/subscription?size=1000&page=${page}`, token));
    expect([status, (await fetch(`${service.url}/healthz`)).status]).toEqual([500, 200]);
    const { messages } = await expectProblem(await fetch(`${service.url}/readyz`), 'UNAVAILABLE');
    expect(messages).toEqual([
      'Cannot serve reports now: the operator must repair the database; the log contains instructions',
    ]);
    const expected = `Cannot use the embedded store '${file}': its file must be undamaged`;
    expect(service.logText()).toContain(expected);
    expect(service.logText()).toContain("restore a backup with 'subreport restore'");
    await service.close();
    const { code, stdout } = await runHere(['doctor'], environment);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`'${file}'`)]);
    rmSync(folder, { recursive: true });
  });

  test('that is not a database makes a command fail with its path and a remedy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-damaged-'));
    const file = join(folder, 'subreport.db');
    writeFileSync(file, 'this is no database, however long it is '.repeat(200));
    const { code, stderr } = await runHere(['tenant', 'list'], { DATA_DIR: folder });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Cannot use the embedded store '${file}'`)]);
    expect(stderr).toContain('subreport restore');
    rmSync(folder, { recursive: true });
  });
});

describe('a full disk', () => {
  test('is reported with the path and a remedy, keeps acknowledged writes, and needs no restart', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-full-'));
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', folder]);
    if (status !== 0) {
      rmSync(folder, { recursive: true });
      console.warn(`SKIPPED: a file system of a bounded size cannot be mounted: ${stderr}`);
      return skip();
    }
    const store = open(folder);
    try {
      await store.migrate();
      const tenant = await newTenant(store);
      let acknowledged = 0;
      const load = () => store.loadSubscriptions(tenant, rowsFrom(acknowledged, 500));
      const fill = async (): Promise<unknown> => {
        for (;;) {
          const error: unknown = await load().then(
            () => undefined,
            (failure: unknown) => failure,
          );
          if (error !== undefined) return error;
          acknowledged += 500;
        }
      };
      const filler = join(folder, 'filler');
      writeFileSync(filler, Buffer.alloc(1_048_576));
      const error = await fill();
      expect(error).toMatchObject({ code: expect.stringMatching(/^(FULL|UNAVAILABLE)$/) });
      expect((error as Error).message).toMatch(
        new RegExp(`^Cannot use the embedded store '${folder}/subreport.db'.*free space`),
      );
      const count = async () => {
        const [row] = await store.readTenant(tenant, (reader) =>
          reader.all('select count(*) as n from subscription where tenant_id = $1'),
        );
        return Number(row?.n);
      };
      expect(await count()).toBe(acknowledged);
      rmSync(filler);
      await load();
      expect(await count()).toBe(acknowledged + 500);
    } finally {
      await store.close();
      spawnSync('umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
