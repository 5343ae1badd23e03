import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatInstant } from '../../packages/contract/instant.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { engines } from '../support/engines.ts';
import { type RunningCommand, startCommand } from '../support/run-command.ts';
import { startService, type TestService } from '../support/service.ts';
import { linkPackages } from './link-packages.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

const daySeconds = 86_400;

/** Days until rows expire, and whether they renew; all other rows have expired since 2024. */
const later = new Map([
  [290, { days: 5, auto_renew: 'false' }],
  [291, { days: 2, auto_renew: 'false' }],
  [292, { days: 3, auto_renew: 'true' }],
  [293, { days: 9, auto_renew: 'false' }],
]);

/** The subscriptions of each tenant. */
export const rows = [...syntheticRows({ count: 300, seed: 11, until: Date.UTC(2024, 5) / 1000 })].map((row, index) => {
  const { days, auto_renew } = later.get(index) ?? {};
  if (days === undefined || auto_renew === undefined) return row;
  const expires = Math.floor(Date.now() / 1000) + (days + 0.5) * daySeconds;
  return { ...row, auto_renew, status: 'ACTIVE', expirationDate: formatInstant(expires) };
});
export type Row = (typeof rows)[number];

/** Loads rows as an operator does. */
export async function loadRows(service: TestService, tenant: TenantId, given: readonly Row[]): Promise<void> {
  const source = (async function* () {
    yield Buffer.from(given.map((row) => JSON.stringify(row)).join('\n'));
  })();
  const onRejected = ({ errors }: { errors: unknown }): never => {
    throw new Error(`a row is invalid: ${JSON.stringify(errors)}`);
  };
  await importRecords(service.store, tenant, source, { format: 'ndjson', dryRun: false, onRejected });
}

/** A tenant of the service, and the programs that read its subscriptions. */
export interface ExampleTenant {
  readonly tenant: TenantId;
  /** Starts an example in the temporary folder; `settings` override those of the tenant. */
  start(name: string, args?: readonly string[], settings?: Readonly<Record<string, string>>): RunningCommand;
  /** Starts `react/`, copied into a project of its own. */
  startVite(port: string): RunningCommand;
}

/** A service for the examples, and a folder for their files. */
export interface ExampleService {
  readonly service: TestService;
  readonly folder: string;
  createTenant(name: string): Promise<ExampleTenant>;
  close(): Promise<void>;
}

export async function startExampleService(): Promise<ExampleService> {
  const service = await startService(await engines[0].openTestStore());
  const folder = mkdtempSync(join(tmpdir(), 'subreport-examples-'));
  return {
    service,
    folder,
    async createTenant(name) {
      const tenant = await service.createTenant(name);
      const { client_id, client_secret } = await service.createClient(tenant);
      await loadRows(service, tenant, rows);
      const environment = {
        SUBREPORT_URL: service.url,
        SUBREPORT_CLIENT_ID: client_id,
        SUBREPORT_CLIENT_SECRET: client_secret,
        PORT: '0',
      };
      return {
        tenant,
        start: (file, args = [], settings = {}) =>
          startCommand(args, {
            program: [process.execPath, join(examples, file)],
            cwd: folder,
            environment: { ...environment, ...settings },
          }),
        startVite(port) {
          cpSync(join(examples, 'react'), join(folder, 'react'), { recursive: true });
          linkPackages(folder);
          mkdirSync(join(folder, 'node_modules/@subreport'));
          symlinkSync(join(modules, '@subreport/client'), join(folder, 'node_modules/@subreport/client'));
          return startCommand(['react'], {
            program: [process.execPath, join(modules, '.bin/vite')],
            cwd: folder,
            environment: { ...environment, PORT: port },
          });
        },
      };
    },
    async close() {
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Output without what differs between runs: dates and addresses. */
export const withoutVariables = (output: string): string =>
  output.replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:]+Z)?/g, '<date>').replaceAll(/127\.0\.0\.1:\d+/g, '<address>');
