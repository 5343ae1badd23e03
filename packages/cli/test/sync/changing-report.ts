import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../../../test/simulation/random.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { TestClient, TestService } from '../../../../test/support/service.ts';
import { createClient, type SubreportClient } from '../../../client/index.ts';
import { eraseRecords } from '../../../service/import/erase-records.ts';
import type { RecordOwner, TenantId } from '../../../service/storage/store.ts';
import type { SubscriptionRow } from '../../../service/storage/subscription-row.ts';
import { beginHistory } from '../../../service/storage/tables/history.ts';
import { findSubscriptionIds } from '../../../service/storage/tables/subscription-ids.ts';
import type { Source } from '../../sync/source/read-source.ts';

/** The report of a tenant that changes at random, and who syncs it. */
export interface ChangingReport {
  readonly tenant: TenantId;
  readonly source: Source;
  readonly credentials: TestClient;
  /**
   * Makes a random change: a load, an erasure by id, by email or by ICCID, a replacement, a new
   * history as after a restore, lost tombstones, or none.
   */
  change(): Promise<void>;
  load(rows: readonly SubscriptionRow[]): Promise<unknown>;
  erase(ids: readonly string[]): Promise<unknown>;
  /** Removes the tombstones: a change token from before is no longer valid. */
  loseTombstones(): Promise<unknown>;
  /** SHA-256 of the lines of the NDJSON export. */
  digest(): Promise<string>;
}

const names = ['Europe 1 GB', 'Überall, 5 GB', 'tab\\t "quoted" \\N', '日本 30 日 🗾', "it's; --", ''];

const emails = ['ann@example.com', 'bob@example.com', 'eve@example.com'];
const iccids = ['8944500102198304826', '8944500102198304834', '8944500102198304842'];

/** Creates a tenant without records on a service. */
export async function createChangingReport(service: TestService, name: string, seed: number): Promise<ChangingReport> {
  const random = new Random(seed);
  const tenant = await service.createTenant(name);
  const credentials = await service.createClient(tenant);
  const client = clientOf(service.url, service.url, credentials);
  const { store } = service;
  const report = {
    load: (rows: readonly SubscriptionRow[]) => store.loadSubscriptions(tenant, rows),
    erase: (ids: readonly string[]) => store.deleteSubscriptions(tenant, ids),
    async loseTombstones() {
      const [page] = await Array.fromAsync(client.changes('now'));
      return store.sweepTombstones(tenant, page?.revision ?? 0, 10_000);
    },
  };
  const changes: readonly (() => Promise<unknown>)[] = [
    () => report.load(drawRows(random, random.between(1, 20))),
    () => report.load(drawRows(random, random.between(1, 20))),
    () => report.erase(drawRows(random, random.between(1, 12)).map(({ id }) => id)),
    () => eraseOwner(service, tenant, { column: 'email', value: random.pick(emails) }),
    () => eraseOwner(service, tenant, { column: 'iccid', value: random.pick(iccids) }),
    () => replace(service, tenant, drawRows(random, random.between(0, 25))),
    async () => {
      await replace(service, tenant, drawRows(random, random.between(0, 25)));
      await beginHistory(store, Math.floor(Date.now() / 1000));
    },
    () => report.loseTombstones(),
    async () => undefined,
  ];
  return {
    ...report,
    tenant,
    credentials,
    source: { client, service: service.baseUrl, clientId: credentials.client_id },
    async change() {
      const at = random.between(0, changes.length - 1);
      await changes[at]?.();
    },
    async digest() {
      const response = await service.get(
        '/v1/subscription?all=true&format=ndjson',
        await service.accessToken(credentials),
      );
      const lines = (await response.text()).split('\n').slice(0, -2);
      return sha256(lines.map((line) => `${line}\n`).join(''));
    },
  };
}

/** A client that reads reports at one URL with tokens of another. */
export const clientOf = (
  url: string,
  issuer: string,
  { client_id: clientId, client_secret: clientSecret }: TestClient,
  attempts = 3,
): SubreportClient => createClient({ url, clientId, clientSecret, tokenUrl: `${issuer}/oauth2/token`, attempts });

/** The environment of a command that reads the report. */
export const environmentOf = ({ url }: TestService, { client_id, client_secret }: TestClient) => ({
  SUBREPORT_URL: url,
  SUBREPORT_CLIENT_ID: client_id,
  SUBREPORT_CLIENT_SECRET: client_secret,
});

/**
 * The same with a profile in a folder, if what it requests of the API passes a proxy; tokens come
 * from the service itself.
 */
export function environmentThrough(proxy: string, { url }: TestService, credentials: TestClient, folder: string) {
  const config = mkdtempSync(join(folder, 'config-'));
  mkdirSync(join(config, 'subreport/profiles'), { recursive: true });
  const profile = { base_url: `${proxy}/connect-api`, token_url: `${url}/oauth2/token`, ...credentials };
  writeFileSync(join(config, 'subreport/profiles/default.json'), JSON.stringify(profile));
  return { XDG_CONFIG_HOME: config };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Rows with few ids, so that most loads change some of them. Dates repeat, and are far apart. */
function drawRows(random: Random, count: number): SubscriptionRow[] {
  const rows = Array.from({ length: count }, () => {
    const id = `id-${random.between(1, 30)}${random.pick(['', '=', '_A'])}`;
    const createdDate = random.pick([1_700_000_000, 1_700_000_001, -1_000_000_000, 4_000_000_000]);
    const of = { iccid: random.pick(iccids), email: random.pick([...emails, null]) };
    const row = subscriptionRow({ id, createdDate, ...of, status: random.pick(['ACTIVE', 'EXPIRED', null]) });
    const record = JSON.parse(row.record);
    record.product.name = random.pick(names);
    record.auto_renew = random.pick(['true', 'false']);
    return { ...row, autoRenew: record.auto_renew, record: JSON.stringify(record) };
  });
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

async function eraseOwner({ store }: TestService, tenant: TenantId, owner: RecordOwner): Promise<void> {
  const findIds = async () => new Set(await findSubscriptionIds(store, tenant, owner));
  await eraseRecords(store, tenant, findIds, owner);
}

async function replace({ store }: TestService, tenant: TenantId, rows: readonly SubscriptionRow[]): Promise<void> {
  const lock = await store.lockImport(tenant);
  const replacement = await store.openStagedLoad(tenant);
  try {
    await replacement.add(rows);
    await replacement.finish(false);
  } finally {
    await replacement.close();
    await lock?.release();
  }
}
