import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { directoryStatement, type TenantId } from '../../packages/service/storage/store.ts';
import { type SharedBrowser, shareChromium } from './chromium.ts';
import { signIn } from './console-session.ts';
import { engines } from './engines.ts';
import { startService, type TestClient, type TestService } from './service.ts';

/** The report console of a tenant in a browser. */
export interface ReportConsole {
  readonly service: TestService;
  readonly client: TestClient;
  readonly browser: SharedBrowser;
  /** Loads records over those of the tenant. */
  load(rows: Iterable<object>): Promise<void>;
  /** Lets all loads so far be of one time, in seconds since the epoch. */
  ageLoads(at: number): Promise<void>;
  /** Opens a page of the console, signed in. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  close(): Promise<void>;
}

interface OpenOptions {
  /** That of a proxy before the service. */
  readonly origin?: string;
  readonly width?: number;
  readonly hasTouch?: boolean;
  /** Who signs in, if that is not the client of the tenant `acme`. */
  readonly client?: TestClient;
  /** Runs before the page loads. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** Records that are the same at each run. */
export const rowsOf = (count: number): SyntheticRow[] => [...syntheticRows({ count, seed: 5, until: 1_780_000_000 })];

/** Starts a service with the records of a tenant `acme`, and a browser. */
export async function startReportConsole(
  rows: Iterable<object>,
  environment: Readonly<Record<string, string>> = {},
): Promise<ReportConsole> {
  const service = await startService(await engines[0].openTestStore(), { ...environment });
  const tenant = await service.createTenant('acme');
  const client = await service.createClient(tenant);
  const load = (given: Iterable<object>) => loadRecords(service, tenant, given);
  await load(rows);
  const browser = await shareChromium();
  return {
    service,
    client,
    browser,
    load,
    async ageLoads(at) {
      const commits = 'update subscription_commit set committed_at = $2 where tenant_id = $1';
      await service.store.writeTenant(tenant, [{ sql: commits, values: [at] }]);
      const begin = 'update tenant set history_from_at = $2, history_at = $2 where id = $1';
      await service.store.writeDirectory([directoryStatement(begin, [tenant, at])]);
    },
    async open(path, { origin = service.url, width = 1280, hasTouch = false, prepare, ...other } = {}) {
      const context = await browser.newContext({ viewport: { width, height: 800 }, hasTouch, acceptDownloads: true });
      const { cookie } = await signIn(service.url, other.client ?? client);
      const [name = '', value = ''] = cookie.split('=');
      await context.addCookies([{ name, value, url: origin }]);
      const page = await context.newPage();
      await prepare?.(page);
      await page.goto(origin + path);
      return page;
    },
    async close() {
      await browser.close();
      await service.close();
    },
  };
}

/** Loads valid records over those of a tenant. */
export async function loadRecords({ store }: TestService, tenant: TenantId, rows: Iterable<object>): Promise<void> {
  async function* source() {
    for (const row of rows) yield Buffer.from(`${JSON.stringify(row)}\n`);
  }
  const { rejected } = await importRecords(store, tenant, source(), {
    format: 'ndjson',
    dryRun: false,
    importId: randomUUID(),
    onRejected: () => undefined,
  });
  if (rejected > 0) throw new Error(`${rejected} of the rows for ${tenant} were rejected`);
}
