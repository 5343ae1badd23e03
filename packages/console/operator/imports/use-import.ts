import { useEffect, useRef, useState } from 'preact/hooks';
import type { LoadSummary } from '../../../contract/load.ts';
import { call } from '../call.ts';
import { describeFile, type FileKind, startBytes } from './describe-file.ts';
import { dryRunFlagsOf, flagsOf, type ImportMode } from './import-modes.ts';
import { upload } from './upload.ts';

/** What to import, and how. */
export interface ImportPlan {
  readonly file: File;
  readonly mode: ImportMode;
  /** The encoding of its text. */
  readonly charset: string;
  /** How many records a replacement removes, as typed; empty if nobody said so. */
  readonly remove: string;
  /** Which columns of CSV are which fields, as JSON; `undefined` if each has the field's name. */
  readonly mapping: string | undefined;
  /** Whether the mapping is saved for the next import. */
  readonly saves: boolean;
}

export type ImportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'sending'; readonly isDryRun: boolean; readonly sent: number }
  | { readonly kind: 'done'; readonly outcome: LoadSummary }
  /** The error has the first rows that were rejected, if these end an import. */
  | { readonly kind: 'failed'; readonly error: unknown };

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
      setState(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error });
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

async function send(tenant: string, sending: Sending): Promise<LoadSummary> {
  const { mode, remove, isDryRun, mapping, saves } = sending;
  if (!isDryRun && saves && mapping !== undefined)
    await call('saveColumns', { params: { tenant }, body: { columns: mapping }, signal: sending.signal });
  const flags = isDryRun ? dryRunFlagsOf(mode) : flagsOf(mode);
  const removed = mode === 'replace' && remove.trim() !== '' ? remove.trim() : undefined;
  return upload({ ...sending, tenant, flags, remove: removed });
}
