import { formatInstant, timeOf } from '../../contract/instant.ts';
import { outcomeOf } from '../../contract/load.ts';
import type { Import, LastImport } from '../../contract/operator/import.ts';
import type { Store, TenantId } from '../storage/store.ts';
import {
  findImportRow,
  type ImportFilter,
  type ImportRow,
  interruptImports,
  type LastImportRow,
  listImportRows,
  readRejections,
} from '../storage/tables/import-history.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import { OperatorError } from './error.ts';
import type { OperatorContext } from './perform.ts';

type Reading = Pick<OperatorContext, 'store'>;

/** Up to `limit` imports that match, the newest first. */
export async function listImports(
  { store }: Reading,
  filter: ImportFilter,
  limit: number,
): Promise<readonly ImportRow[]> {
  const rows = await listImportRows(store, filter, limit);
  return (await interruptDead(store, rows)) ? listImportRows(store, filter, limit) : rows;
}

export async function showImport({ store }: Reading, id: string): Promise<ImportRow> {
  const row = await requireImport(store, id);
  return (await interruptDead(store, [row])) ? requireImport(store, id) : row;
}

/** The first rejected rows of an import, as NDJSON. */
export async function readImportErrors({ store }: Reading, id: string): Promise<string> {
  const { tenant: name } = await requireImport(store, id);
  const tenant = (await findTenant(store, name))?.tenant;
  return tenant === undefined ? '' : readRejections(store, tenant, id);
}

async function requireImport(store: Store, id: string): Promise<ImportRow> {
  const row = await findImportRow(store, id);
  if (row !== undefined) return row;
  throw new OperatorError(
    'NOT_FOUND',
    `Cannot find the import: its id must be in the list of imports, which keeps them for 90 days: current value is '${id}'`,
  );
}

/**
 * Marks imports as interrupted that are stored as running while no process holds their tenant's
 * import lock. Returns whether there were any.
 */
export async function interruptDead(
  store: Store,
  rows: readonly { readonly tenant: string; readonly result: string | null }[],
): Promise<boolean> {
  const tenants = new Set(rows.filter(({ result }) => result === 'running').map(({ tenant }) => tenant as TenantId));
  let found = false;
  for (const tenant of tenants) {
    const lock = await store.lockImport(tenant);
    if (lock === undefined) continue;
    try {
      await interruptImports(store, tenant);
      found = true;
    } finally {
      await lock.release();
    }
  }
  return found;
}

/** An import as the API and the commands show it. */
export function describeImport(row: ImportRow): Import {
  const { read, rejected, ...changes } = row.counts ?? noCounts;
  return {
    id: row.id,
    tenant: row.tenant,
    started_at: formatInstant(row.startedAt),
    ended_at: timeOf(row.endedAt),
    actor: { kind: row.actorKind as Import['actor']['kind'], id: row.actorId, name: row.actorName },
    address: row.address,
    via: row.via as Import['via'],
    format: row.format as Import['format'],
    options: row.options as Import['options'],
    columns: row.columns,
    result: row.result,
    outcome: importOutcomeOf({ ...row, read, rejected, dryRun: row.options.includes('dry-run') }),
    error: row.error,
    read,
    accepted: read === null ? null : read - rejected,
    rejected,
    ...changes,
    revision: row.revision,
  };
}

const noCounts = { read: null, rejected: null, inserted: null, updated: null, unchanged: null, removed: null };

/** An import in short. A tenant's last import is no dry run. */
export const describeLastImport = (row: LastImportRow): LastImport => ({
  id: row.id,
  started_at: formatInstant(row.startedAt),
  ended_at: timeOf(row.endedAt),
  result: row.result,
  outcome: importOutcomeOf({ ...row, dryRun: false }),
  accepted: row.read === null ? null : row.read - (row.rejected ?? 0),
  rejected: row.rejected,
});

interface StoredOutcome extends Pick<ImportRow, 'result'> {
  readonly read?: number | null;
  readonly rejected?: number | null;
  readonly dryRun: boolean;
}

const importOutcomeOf = ({ result, read, rejected, dryRun }: StoredOutcome): Import['outcome'] =>
  result === 'ok' ? outcomeOf({ read: read ?? 0, rejected: rejected ?? 0, dryRun }) : result;
