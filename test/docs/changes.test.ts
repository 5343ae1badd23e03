import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { engines } from '../support/engines.ts';
import { hasTools } from '../support/has-tools.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestService } from '../support/service.ts';

const page = readFileSync(new URL('../../docs/readers/changes.md', import.meta.url), 'utf8');
const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
const run = promisify(execFile);

describe.runIf(hasTools('curl', 'jq'))('the loop of docs/readers/changes.md', () => {
  let service: TestService;
  let tenant: TenantId;
  let token: string;
  let folder: string;
  const rows = Array.from({ length: 2_300 }, (_, n) => subscriptionRow({ id: `id_${n}-==`, deviceId: `a\\b\t${n}` }));
  const follow = () =>
    run('sh', ['-c', script], {
      cwd: folder,
      env: { ...process.env, BASE_URL: service.baseUrl, TOKEN: token },
    });
  const copy = () =>
    new Map(
      readdirSync(join(folder, 'copy')).map((file) => [
        file.replace('.json', ''),
        JSON.parse(readFileSync(join(folder, 'copy', file), 'utf8')) as unknown,
      ]),
    );
  const copyOf = (records: readonly { readonly id: string; readonly record: string }[]) =>
    new Map(records.map(({ id, record }) => [id, JSON.parse(record) as unknown]));

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-changes-'));
    service = await startService(await engines[0].openTestStore());
    tenant = await service.createTenant('acme');
    token = await service.accessToken(await service.createClient(tenant));
    await service.store.loadSubscriptions(tenant, rows);
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });

  test('copies all records and keeps the copy up to date', async () => {
    await follow();
    expect(copy()).toEqual(copyOf(rows));
    const kept = readFileSync(join(folder, 'copy.token'), 'utf8');
    await follow();
    expect(readFileSync(join(folder, 'copy.token'), 'utf8')).toBe(kept);
    const changed = subscriptionRow({ id: 'id_1-==', deviceId: 'new' });
    await service.store.loadSubscriptions(tenant, [changed]);
    await service.store.deleteSubscriptions(
      tenant,
      rows.slice(2, 20).map(({ id }) => id),
    );
    await follow();
    expect(copy()).toEqual(copyOf([...rows.slice(0, 1), changed, ...rows.slice(20)]));
  });

  test('exits with an error when the service refuses, and keeps its copy', async () => {
    const before = copy();
    token = 'wrong';
    await expect(follow()).rejects.toMatchObject({ code: 1 });
    expect(copy()).toEqual(before);
  });
});
