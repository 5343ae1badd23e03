import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calm, originCredentials, SimulatedOrigin } from '../../../../test/origin/origin.ts';
import { type KeptTestStore, openSqlite } from '../../../../test/support/engines.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { findTenant } from '../../../service/storage/tables/tenant.ts';
import { TenantTarget } from '../../mirror/tenant.ts';
import { callOn } from '../../remote/server-operations.ts';

const folder = mkdtempSync(join(tmpdir(), 'mirror-restore-'));
const origin = new SimulatedOrigin(11, { ...calm, sizeMax: 20 }, 60);

let opened: KeptTestStore;
let service: TestService;
let environment: Record<string, string>;

/** Starts the service on the store of the test, with an operator's token for the mirror. */
async function start(): Promise<void> {
  const port = await freePort();
  const store = opened.openAgain();
  service = await startService({ ...opened, store, close: () => opened.closeStores() }, { MANAGEMENT_PORT: `${port}` });
  const create = ['operator', 'create', '--name', 'mirror', '--scopes', 'operator:read,subscription:write', '--json'];
  environment = {
    XDG_CONFIG_HOME: folder,
    SUBREPORT_SERVER: `http://127.0.0.1:${port}`,
    SUBREPORT_OPERATOR_TOKEN: JSON.parse((await runHere(create, opened.environment)).stdout).token,
  };
}

beforeAll(async () => {
  const url = await origin.listen();
  mkdirSync(join(folder, 'subreport/profiles'), { recursive: true });
  const { clientId: client_id, clientSecret: client_secret } = originCredentials;
  const profile = { base_url: `${url}/connect-api`, token_url: `${url}/token`, client_id, client_secret };
  writeFileSync(join(folder, 'subreport/profiles/origin.json'), JSON.stringify(profile));
  opened = await openSqlite();
  await opened.closeStores();
  await start();
});
afterAll(async () => {
  origin.close();
  await service.close();
  await opened.close();
  rmSync(folder, { recursive: true });
});

const mirror = (...more: string[]) =>
  runHere(['mirror', ...more, '--from', 'origin', '--to-tenant', 'acme'], environment);

/** One walk, an hour after the one before. */
async function walk(): Promise<number | null> {
  const { code, stderr } = await mirror('--once', '--max-requests-per-minute', '6000');
  expect(stderr).toContain('walk ');
  const state = new DatabaseSync(join(folder, 'subreport/mirrors/origin-acme.db'));
  state.exec('update walk set startedAt = startedAt - 3600, originAt = originAt - 3600');
  state.close();
  return code;
}

/** The devices of the tenant's records, by id. */
async function devices(): Promise<ReadonlyMap<string, string>> {
  const rows = await service.store.readDirectory('select id, record from subscription' as never);
  return new Map(rows.map(({ id, record }) => [String(id), JSON.parse(String(record)).device_id]));
}
const originDevices = () => new Map([...origin.records].map(([id, record]) => [id, record.device_id]));

test('a mirrored tenant restored from a backup equals its origin after two walks', async () => {
  await service.createTenant('acme');
  await walk();
  await walk();
  const file = join(folder, 'backup.db');
  expect((await runHere(['backup', file], opened.environment)).code).toBe(0);
  for (let added = 0; added < 15; added += 1) origin.add();
  const [removed = '', ...changed] = [...origin.records.keys()].slice(0, 12);
  origin.records.delete(removed);
  for (const id of changed) origin.records.set(id, { ...origin.records.get(id), device_id: 'another' } as never);
  expect([await walk(), await walk()]).toEqual([75, 0]);
  expect(await devices()).toEqual(originDevices());

  await service.close();
  expect((await runHere(['restore', file, '--yes'], opened.environment)).code).toBe(0);
  await start();
  const restored = await devices();
  expect([restored.size, restored.has(removed), restored.get(changed[0] ?? '')]).toEqual([60, true, 'device-2']);
  await walk();
  expect(await walk()).toBe(0);
  expect(await devices()).toEqual(originDevices());
  expect((await mirror('verify')).stdout).toContain('has what the mirror has sent: 74 records');
});

test('a copy of the store and as many changes as it lacks are not taken for what the mirror left', async () => {
  await service.createTenant('copied');
  const target = () => {
    const { SUBREPORT_SERVER: url = '', SUBREPORT_OPERATOR_TOKEN: token = '' } = environment;
    return new TenantTarget(callOn({ url, token }), 'copied', id);
  };
  const id = randomUUID();
  await target().begin({ id, origin: 'https://connect.example.com/connect-api reader' });
  const [one, two] = [origin.add(), origin.add()].map((record) => ({ ...record }));
  const rest = { removed: [], ages: { newAsOf: null, changesAsOf: null } };
  const before = await target().apply({ ...rest, records: [one as never], token: undefined });
  const file = join(folder, 'copy.db');
  expect((await runHere(['backup', file], opened.environment)).code).toBe(0);
  const left = await target().apply({ ...rest, records: [two as never], token: before.token });
  expect(left.isExpected).toBe(true);

  const revision = async () => (await findTenant(service.store, 'copied'))?.revision;
  const leftRevision = await revision();
  await service.close();
  const store = join(opened.environment.DATA_DIR ?? '', 'subreport.db');
  for (const side of ['-wal', '-shm']) rmSync(`${store}${side}`, { force: true });
  copyFileSync(file, store);
  await start();
  const erase = ['subscription', 'delete', '--id', one?.id ?? '', '--tenant', 'copied'];
  expect((await runHere(erase, opened.environment)).code).toBe(0);
  expect(await revision()).toBe(leftRevision);
  const found = await target().apply({ ...rest, records: [], token: left.token });
  expect(found.isExpected).toBe(false);
  expect(await target().apply({ ...rest, records: [], token: found.token })).toMatchObject({ isExpected: true });
});
