import { randomUUID } from 'node:crypto';
import type { importFlags } from '../../contract/load.ts';
import type { LoadCounts, Store, TenantId } from '../storage/store.ts';
import {
  type ImportCounts,
  type ImportRow,
  interruptImports,
  putImport,
  putRejections,
} from '../storage/tables/import-history.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import type { ColumnMapping } from './csv-layout.ts';
import { ImportError } from './error.ts';
import type { ImportSummary } from './import-summary.ts';
import type { RejectedRow, SourceOptions, Tally } from './read-valid-rows.ts';

/** Who started an import: a user of the machine, a client, or an operator with a token. */
type ImportActor =
  | { readonly kind: 'command'; readonly user: string }
  | { readonly kind: 'client'; readonly clientId: string; readonly address: string }
  | { readonly kind: 'operator'; readonly id: string; readonly name: string; readonly address: string };

/** An option of an import that the history shows. */
type ImportFlag = (typeof importFlags)[number];

/** What the history says about an import before it begins. */
export interface ImportOrigin {
  readonly tenant: TenantId;
  readonly actor: ImportActor;
  readonly via: 'command' | 'http';
  readonly format: string;
  readonly flags: readonly ImportFlag[];
  /** Which columns of CSV are which fields, unless each has the name of its field. */
  readonly mapping?: ColumnMapping | undefined;
}

/** Adds to the options of an import the callbacks by which the history follows it. */
type FollowImport = <T extends SourceOptions>(options: T) => T;

/** The result of an import that the history has. */
export type RecordedImport = ImportSummary & { readonly importId: string };

/** Longest error sentence that is stored, in characters. */
const errorMax = 2_048;

/**
 * Runs an import and stores it in the history: as running once it holds the tenant's import lock,
 * and with its result when it has ended. An attempt that is rejected because another import is
 * running, or because the tenant is gone, is not stored. A failure to store the result is passed to
 * `onUnrecorded`, because the import itself has ended.
 */
export async function withHistory(
  store: Store,
  origin: ImportOrigin,
  onUnrecorded: (error: unknown) => void,
  work: (follow: FollowImport) => Promise<ImportSummary>,
  clock = Date.now,
): Promise<RecordedImport> {
  const running = runningRow(origin, clock());
  const rejections = new RejectionList();
  let counts: ImportCounts = noRows;
  const putEnd = async (ended: Pick<ImportRow, 'result' | 'error'>): Promise<void> => {
    if (rejections.lines !== '') await putRejections(store, origin.tenant, running.id, rejections.lines);
    const revision = (await findTenant(store, origin.tenant))?.revision ?? null;
    await putImport(store, { ...running, ...ended, counts, endedAt: Math.floor(clock() / 1000), revision });
  };
  try {
    const summary = await work((options) => ({
      ...options,
      importId: running.id,
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
    const { refused } = summary;
    await putEnd({ result: refused === undefined ? 'ok' : 'failed', error: refused?.message ?? null }).catch(
      onUnrecorded,
    );
    return { ...summary, importId: running.id };
  } catch (error) {
    if (!neverBegan(error)) await putEnd({ result: 'failed', error: sentenceOf(error) }).catch(onUnrecorded);
    throw error;
  }
}

const noRows: ImportCounts = { read: 0, rejected: 0, inserted: 0, updated: 0, unchanged: 0, removed: 0 };

function runningRow({ tenant, actor, via, format, flags, mapping }: ImportOrigin, nowMs: number): ImportRow {
  return {
    id: `${firstImportIdAt(nowMs)}-7${randomUUID().slice(15)}`, // version 7; Node 24.15 lacks it
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
    columns: mapping === undefined ? null : JSON.stringify(mapping),
    result: 'running',
    error: null,
    counts: null,
    revision: null,
  };
}

const countsOf = ({ read, rejected, inserted, updated, unchanged, removed = 0 }: ImportSummary): ImportCounts => ({
  ...{ read, rejected, inserted, updated, unchanged, removed },
});

const neverBegan = (error: unknown): boolean =>
  error instanceof ImportError && (error.code === 'BUSY' || error.code === 'NO_TENANT');

const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, errorMax);

/** Less than the id of every import that starts at this time or later, greater than any before. */
export function firstImportIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Limits of the rejected rows that the history keeps of an import: rows and bytes. */
const rowsMax = 100;
const bytesMax = 131_072;

/** Collects the first rejected rows of an import. */
class RejectionList {
  /** The rows as NDJSON, without the text of the row: it may contain an address. */
  lines = '';
  #rows = 0;
  #isFull = false;

  add({ line, errors }: RejectedRow): void {
    if (this.#isFull) return;
    const more = `${JSON.stringify({ line, errors })}\n`;
    this.#rows += 1;
    this.#isFull = this.#rows > rowsMax || Buffer.byteLength(this.lines) + Buffer.byteLength(more) > bytesMax;
    if (!this.#isFull) this.lines += more;
  }
}
