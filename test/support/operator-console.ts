import type { Page } from 'playwright-core';
import { generateOperatorToken, hashOperatorToken } from '../../packages/service/auth/verify/authorize-operator.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { withHistory } from '../../packages/service/import/with-history.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { insertOperatorToken } from '../../packages/service/storage/tables/operator-token.ts';
import { freePort } from '../../tools/free-port.ts';
import { signInWith } from './console-session.ts';
import { type ReportConsole, rowsOf, startReportConsole } from './report-console.ts';

/** Both consoles of a service in a browser. */
export interface BothConsoles extends ReportConsole {
  /** URL of the operator's console, without its path. */
  readonly operatorUrl: string;
  /** Gives a browser the session of an operator with all scopes. */
  signInOperator(page: Page): Promise<void>;
  /** Creates a token of an operator with all scopes. */
  createOperator(name: string): Promise<string>;
  /** Imports a record and a row that is rejected; returns the id of the import. */
  importFaultyRow(): Promise<string>;
}

/** Starts a service with the records of a tenant `acme`, a management listener, and a browser. */
export async function startBothConsoles(rows: Iterable<object>): Promise<BothConsoles> {
  const port = await freePort();
  const operatorUrl = `http://127.0.0.1:${port}`;
  const reports = await startReportConsole(rows, { MANAGEMENT_PORT: String(port) });
  const createOperator = async (name: string): Promise<string> => {
    const token = generateOperatorToken();
    const scopes = ['operator:read', 'operator:write', 'subscription:write'] as const;
    const operator = { id: `op-${name}`, name, scopes, createdAt: 1_780_000_000, expiresAt: null };
    await insertOperatorToken(reports.service.store, operator, hashOperatorToken(token));
    return token;
  };
  const token = await createOperator('tester');
  return {
    ...reports,
    operatorUrl,
    createOperator,
    importFaultyRow: () => importFaultyRow(reports.service.store),
    async signInOperator(page) {
      const [name = '', value = ''] = (await signInWith(operatorUrl, { token })).cookie.split('=');
      await page.context().addCookies([{ name, value, url: operatorUrl }]);
    },
  };
}

async function importFaultyRow(store: Store): Promise<string> {
  const actor = { kind: 'command', user: 'ada' } as const;
  const origin = { tenant: 'acme' as TenantId, actor, via: 'command', format: 'ndjson', flags: [] } as const;
  const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
  async function* source() {
    const row = { ...rowsOf(1)[0], id: 'imported' };
    for (const each of [row, { ...row, iccid: 'none' }]) yield Buffer.from(`${JSON.stringify(each)}\n`);
  }
  const rethrow = (error: unknown): never => {
    throw error;
  };
  const { importId } = await withHistory(store, origin, rethrow, (follow) =>
    importRecords(store, origin.tenant, source(), follow(options)),
  );
  return importId;
}
