import type { Logger } from 'pino';
import { createClient, rotateClientSecret } from '../../auth/clients/manage-clients.ts';
import { changeSeconds, demoRows } from '../../import/demo-rows.ts';
import { importWhole } from '../../import/import-records.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { withHistory } from '../../import/with-history.ts';
import { requireAnyTenant, requireTenant } from '../../operator/require-tenant.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { dateCommits } from '../../storage/tables/date-commits.ts';
import { listImportRows } from '../../storage/tables/import-history.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';
import { ndjsonOf } from './generate-command.ts';

/** Who makes the imports of the demo; no user of a machine has this name. */
const actor = { kind: 'command', user: 'nightly import (demo)' } as const;

const day = 86_400;
/** The history of a first start. */
const historySeconds = 30 * day;

/**
 * Creates the tenant `demo` with a month of history, or brings it to the present, and the tenant
 * `demo-partner`, whose last import was refused for three of its rows.
 */
export async function prepareTenants(store: Store): Promise<TenantId> {
  const now = nowSeconds();
  await insertTenant(store, 'demo', now - historySeconds);
  const tenant = await requireTenant(store, 'demo', 'add');
  await loadDue(store, now);
  if (!(await insertTenant(store, 'demo-partner', now - 9 * day))) return tenant;
  const { client_id } = await createClient(store, now - 400 * day, { tenant, name: 'Nightly export' });
  await rotateClientSecret(store, now - day, client_id, { overlapSeconds: 3 * day });
  const partner = await requireTenant(store, 'demo-partner', 'add');
  const rows = [...syntheticRows({ count: 40, seed: 7, until: now - 8 * day })];
  await load(store, partner, rows, now - 8 * day);
  const faults = [{ iccid: '8944' }, { expirationDate: '2026-02-30T00:00:00Z' }, { auto_renew: 'monthly' }];
  const refused = [...rows, ...faults.map((fault) => ({ ...rows[0], ...fault }))];
  await load(store, partner, refused, now - day / 4, ['strict']);
  return tenant;
}

/**
 * Loads what has changed since the last import: until the first start day by day, each import at
 * its time; later at once, however long the demo did not run. Once somebody else has loaded
 * records, and while the last import is in the future, it leaves the tenant alone.
 */
async function loadDue(store: Store, now: number): Promise<void> {
  const { tenant, createdAt, revision } = await requireAnyTenant(store, 'demo');
  const [last] = await listImportRows(store, { tenant }, 1);
  if (last === undefined ? revision > 0 : last.actorId !== actor.user || last.startedAt > now) return;
  const until = createdAt + historySeconds;
  const linesAt = (at: number) => demoRows(until, at).map((row) => JSON.stringify(row));
  let lines = last?.result === 'ok' ? linesAt(last.startedAt) : [];
  const changesUntil = (at: number) => {
    const before = new Set(lines);
    lines = linesAt(at);
    return lines.filter((line) => !before.has(line)).map((line): object => JSON.parse(line));
  };
  for (let at = last?.startedAt ?? createdAt; at <= Math.min(until, now); at += day)
    await load(store, tenant, changesUntil(at), at);
  await load(store, tenant, changesUntil(now));
}

/** Imports rows as at a past time, before anybody can read them, or now. */
async function load(store: Store, tenant: TenantId, rows: readonly object[], at?: number, flags: ['strict'] | [] = []) {
  if (rows.length === 0) return;
  const [strict, clock] = [flags.length > 0, at === undefined ? Date.now : () => at * 1000];
  const options = { format: 'ndjson', strict, replace: false, dryRun: false, onRejected: () => undefined } as const;
  const work: Parameters<typeof withHistory>[3] = (follow) =>
    importWhole(store, tenant, { open: () => ndjsonOf(rows) }, follow(options));
  const fail = (error: unknown) => Promise.reject(error);
  await withHistory(store, { tenant, actor, via: 'command', format: 'ndjson', flags }, fail, work, clock);
  if (at !== undefined) await dateCommits(store, tenant, at);
}

/** Changes a subscription of the demo regularly; returns the function that ends it. */
export function changeRegularly(store: Store, logger: Logger): () => void {
  const change = () =>
    void loadDue(store, nowSeconds()).catch((error: unknown) => logger.warn({ err: error }, 'the demo did not change'));
  const timer = setInterval(change, changeSeconds * 1000).unref();
  return () => clearInterval(timer);
}
