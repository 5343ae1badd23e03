import { useEffect, useRef, useState } from 'preact/hooks';
import type { LoadOutcome, LoadSummary } from '../../../contract/load.ts';
import type { Import } from '../../../contract/operator/import.ts';
import type { Subscription } from '../../../contract/subscription.ts';
import { RequestError } from '../../ui/request.ts';
import { call, readRejectedRows } from '../call.ts';
import { describeFile, type FileKind, startBytes } from './describe-file.ts';
import { dryRunFlagsOf, flagsOf, type ImportMode } from './import-modes.ts';
import { upload } from './upload.ts';

/** What to import, and how. */
export interface ImportPlan {
  readonly file: File;
  readonly mode: ImportMode;
  /** How many records a replacement removes, as typed; empty if nobody said so. */
  readonly remove: string;
  /** Which columns of CSV are which fields, as JSON; `undefined` if each has the field's name. */
  readonly mapping: string | undefined;
  /** Whether the mapping is saved for the next import. */
  readonly saves: boolean;
}

/** What a dry run or a load of a file counted, and its first rejected rows as NDJSON. */
export interface ImportOutcome {
  readonly importId: string;
  readonly isDryRun: boolean;
  readonly result: LoadOutcome;
  readonly counts: Pick<
    LoadSummary,
    'read' | 'accepted' | 'rejected' | 'inserted' | 'updated' | 'unchanged' | 'removed'
  >;
  readonly rejectedLines: string;
  /** The first rows of a dry run, as they would be stored. */
  readonly firstRecords: readonly Subscription[];
}

export type ImportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'sending'; readonly isDryRun: boolean; readonly sent: number }
  | { readonly kind: 'done'; readonly outcome: ImportOutcome }
  /** `outcome` has the counts of an import that rejected rows end. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly outcome?: ImportOutcome | undefined };

/** Sends files to a tenant, one at a time. */
export function useImport(tenant: string, unknownFormat: string) {
  const [state, setState] = useState<ImportState>({ kind: 'idle' });
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const run = async (plan: ImportPlan, isDryRun: boolean): Promise<void> => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    setState({ kind: 'sending', isDryRun, sent: 0 });
    const onProgress = (sent: number) => !signal.aborted && setState({ kind: 'sending', isDryRun, sent });
    try {
      const kind = describeFile(plan.file.name, new Uint8Array(await plan.file.slice(0, startBytes).arrayBuffer()));
      if (kind === undefined) throw new Error(unknownFormat);
      const outcome = await send(tenant, { ...plan, isDryRun, kind, onProgress, signal });
      setState({ kind: 'done', outcome });
    } catch (error) {
      if (signal.aborted) setState({ kind: 'idle' });
      else setState(await failureOf(tenant, error, isDryRun));
    }
  };
  const reset = (): void => {
    abort.current.abort();
    setState({ kind: 'idle' });
  };
  return { state, run, reset };
}

interface Sending extends ImportPlan {
  readonly isDryRun: boolean;
  readonly kind: FileKind;
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

async function send(tenant: string, sending: Sending): Promise<ImportOutcome> {
  const { mode, remove, isDryRun, mapping, saves } = sending;
  if (!isDryRun && saves && mapping !== undefined)
    await call('saveColumns', { params: { tenant }, body: { columns: mapping }, signal: sending.signal });
  const flags = isDryRun ? dryRunFlagsOf(mode) : flagsOf(mode);
  const loaded = await upload({
    ...sending,
    tenant,
    flags,
    remove: mode === 'replace' && remove.trim() !== '' ? remove.trim() : undefined,
  });
  const { import_id: importId, outcome: result, errors, first_records: firstRecords = [], ...counts } = loaded;
  return {
    firstRecords,
    importId,
    isDryRun,
    result,
    counts,
    rejectedLines: errors.map((row) => `${JSON.stringify(row)}\n`).join(''),
  };
}

/** The error of an import, and its counts if it was rejected because of its rows. */
async function failureOf(tenant: string, error: unknown, isDryRun: boolean): Promise<ImportState> {
  const outcome = await findOutcome(tenant, error, isDryRun);
  if (outcome === undefined || !(error instanceof RequestError)) return { kind: 'failed', error };
  // the other sentences are the rejected rows, which the outcome lists
  const problem = { ...error.problem, messages: error.messages.slice(0, 1) };
  return { kind: 'failed', error: new RequestError(error.status, problem, error.correlationId), outcome };
}

/** The counts and rejected rows of an import that was rejected: the history has them. */
async function findOutcome(tenant: string, error: unknown, isDryRun: boolean): Promise<ImportOutcome | undefined> {
  if (!(error instanceof RequestError) || error.status !== 400) return undefined;
  try {
    const { data } = await call('listImports', { query: { tenant, limit: 1 } });
    const [newest] = data as readonly Import[];
    if (newest === undefined || (newest.rejected ?? 0) === 0) return undefined;
    const { id, read, accepted, rejected, inserted, updated, unchanged } = newest;
    const counts = { read, accepted, rejected, inserted, updated, unchanged };
    return {
      importId: id,
      isDryRun,
      firstRecords: [],
      result: 'failed',
      counts: Object.fromEntries(
        Object.entries(counts).map(([name, count]) => [name, count ?? 0]),
      ) as ImportOutcome['counts'],
      rejectedLines: await readRejectedRows(id),
    };
  } catch {
    return undefined; // the error itself is shown
  }
}
