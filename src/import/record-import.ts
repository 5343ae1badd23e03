import type { importFlags } from '../contract/operator-import.ts';
import type { LoadCounts, Store, TenantId } from '../storage/store.ts';
import { type ImportCounts, type ImportRow, interruptImports, putImport } from '../storage/tables/import-history.ts';
import { putRejections } from '../storage/tables/import-rejection.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import { ImportError } from './error.ts';
import { createImportId } from './import-id.ts';
import type { RejectedRow, SourceOptions, Tally } from './read-valid-rows.ts';
import { RejectionList } from './rejection-list.ts';
import type { ReplaceSummary } from './replace-records.ts';

/** Who started an import: a user of the machine, a client, or an operator with a token. */
type ImportActor =
  | { readonly kind: 'command'; readonly user: string }
  | { readonly kind: 'client'; readonly clientId: string; readonly address: string }
  | { readonly kind: 'operator'; readonly id: string; readonly name: string; readonly address: string };

/** An option of an import that the history shows. */
export type ImportFlag = (typeof importFlags)[number];

/** What the history says about an import before it begins. */
export interface ImportOrigin {
  readonly tenant: TenantId;
  readonly actor: ImportActor;
  readonly via: 'command' | 'http';
  readonly format: string;
  readonly flags: readonly ImportFlag[];
}

/** Adds to the options of an import the callbacks by which the history follows it. */
export type FollowImport = <T extends SourceOptions>(options: T) => T;

type Summary = Partial<ReplaceSummary> & Pick<ImportCounts, 'read' | 'rejected'>;

/** Longest error sentence that is stored, in characters. */
const errorMax = 2_048;

/**
 * Runs an import and stores it in the history: as running once it holds the tenant's import lock,
 * and with its result when it has ended. An attempt that is rejected because another import is
 * running, or because the tenant is gone, is not stored. A failure to store the result is passed to
 * `onUnrecorded`, because the import itself has ended.
 */
export async function recordImport<T extends Summary>(
  store: Store,
  origin: ImportOrigin,
  onUnrecorded: (error: unknown) => void,
  work: (follow: FollowImport) => Promise<T>,
): Promise<T & { readonly importId: string }> {
  const running = runningRow(origin, Date.now());
  const rejections = new RejectionList();
  let counts: ImportCounts = noRows;
  const end = (ended: Pick<ImportRow, 'result' | 'error'>): Promise<void> =>
    putEnd(store, origin.tenant, { ...running, ...ended, counts }, rejections).catch(onUnrecorded);
  try {
    const summary = await work((options) => ({
      ...options,
      onStart: async () => {
        await interruptImports(store, origin.tenant);
        await putImport(store, running);
      },
      onCounts: (newer: LoadCounts & Tally) => {
        counts = { ...noRows, ...newer };
      },
      onRejected: (row: RejectedRow) => {
        rejections.add(row);
        return options.onRejected(row);
      },
    }));
    counts = countsOf(summary);
    await end({ result: summary.refused === undefined ? 'ok' : 'failed', error: summary.refused?.message ?? null });
    return { ...summary, importId: running.id };
  } catch (error) {
    if (!neverBegan(error)) await end({ result: 'failed', error: sentenceOf(error) });
    throw error;
  }
}

const noRows: ImportCounts = { read: 0, rejected: 0, inserted: 0, updated: 0, unchanged: 0, removed: 0 };

function runningRow({ tenant, actor, via, format, flags }: ImportOrigin, nowMs: number): ImportRow {
  return {
    id: createImportId(nowMs),
    tenant,
    startedAt: Math.floor(nowMs / 1000),
    endedAt: null,
    actorKind: actor.kind,
    actorId: actor.kind === 'command' ? actor.user : actor.kind === 'client' ? actor.clientId : actor.id,
    actorName: actor.kind === 'operator' ? actor.name : null,
    address: actor.kind === 'command' ? null : actor.address,
    via,
    format,
    options: flags,
    result: 'running',
    error: null,
    counts: null,
    revision: null,
  };
}

async function putEnd(store: Store, tenant: TenantId, row: ImportRow, rejections: RejectionList): Promise<void> {
  if (rejections.lines !== '') await putRejections(store, tenant, row.id, rejections.lines);
  const revision = (await findTenant(store, tenant))?.revision ?? null;
  await putImport(store, { ...row, endedAt: Math.floor(Date.now() / 1000), revision });
}

const countsOf = ({
  read,
  rejected,
  inserted = 0,
  updated = 0,
  unchanged = 0,
  removed = 0,
}: Summary): ImportCounts => ({
  ...{ read, rejected, inserted, updated, unchanged, removed },
});

const neverBegan = (error: unknown): boolean =>
  error instanceof ImportError && (error.code === 'BUSY' || error.code === 'NO_TENANT');

const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, errorMax);
