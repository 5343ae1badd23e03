import { signal } from '@preact/signals';
import { ApiError, ExportError, type ExportQuery } from '../../../client/index.ts';
import { announce } from '../../ui/live-region.tsx';
import { reports } from '../api.ts';
import { session } from '../session/session.ts';
import { chooseDestination, type Destination } from './destination.ts';
import type { ExportFormat } from './export-format.ts';
import { exportStrings } from './export-strings.ts';
import { fileName } from './file-name.ts';
import { makeWorkbook } from './make-workbook.ts';
import { type ExportProgress, type ExportResult, runExport, WorkbookFullError } from './run-export.ts';

const text = exportStrings;

export type ExportState =
  | { readonly kind: 'running'; readonly progress: ExportProgress | undefined }
  | { readonly kind: 'saved'; readonly result: ExportResult }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What the person exports. */
export interface ExportOrder {
  readonly query: ExportQuery;
  readonly format: ExportFormat;
  /** The filters and the order, in words. */
  readonly description: string;
}

/** An export of this visit. */
export interface ExportEntry extends ExportOrder {
  readonly id: number;
  readonly file: string;
  readonly startedAt: Date;
  readonly state: ExportState;
  readonly cancel: () => void;
}

/** The exports of this visit, the newest first. They go on while the person moves between pages. */
export const exportEntries = signal<readonly ExportEntry[]>([]);

const isRunning = ({ state }: ExportEntry): boolean => state.kind === 'running';

let lastId = 0;

/** Asks where to save the file, and exports. Call it from a click. */
export async function startExport(order: ExportOrder): Promise<void> {
  const { value } = session.state;
  if (value.kind !== 'signed-in') return;
  const startedAt = new Date();
  const name = fileName(value.session.tenant, startedAt, order.format, undefined, order.query);
  const destination = await chooseDestination(name, order.format);
  if (destination === undefined) return;
  lastId += 1;
  const id = lastId;
  const abort = new AbortController();
  const state: ExportState = { kind: 'running', progress: undefined };
  const cancel = () => abort.abort();
  exportEntries.value = [{ ...order, id, file: destination.name, startedAt, state, cancel }, ...exportEntries.peek()];
  announce(text.started(destination.name));
  const end = await endOf(order, destination, abort.signal, (progress) => update(id, { kind: 'running', progress }));
  update(id, end);
  announce(`${destination.name}: ${sentenceOf(end)}`);
}

async function endOf(
  { query, format }: ExportOrder,
  destination: Destination,
  signal: AbortSignal,
  onProgress: (progress: ExportProgress) => void,
): Promise<ExportState> {
  const { writable } = destination;
  try {
    const result = await runExport({
      client: reports,
      query,
      format,
      writable,
      toWorkbook: makeWorkbook,
      onProgress,
      signal,
    });
    return { kind: 'saved', result };
  } catch (error) {
    await destination.discard().catch(() => undefined);
    return signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error };
  }
}

function update(id: number, state: ExportState): void {
  exportEntries.value = exportEntries.peek().map((entry) => (entry.id === id ? { ...entry, state } : entry));
}

/** The state of an export, in a sentence. */
export function sentenceOf(state: ExportState): string {
  switch (state.kind) {
    case 'running':
      return state.progress === undefined ? 'Waiting for the service' : progressOf(state.progress);
    case 'saved':
      return text.saved(state.result.rows);
    case 'cancelled':
      return 'Cancelled. No file was saved.';
    case 'failed':
      return reasonOf(state.error);
  }
}

function progressOf({ rows, totalRows }: ExportProgress): string {
  if (rows === undefined) return text.receiving(totalRows);
  return totalRows === undefined ? text.receivedSoFar(rows) : text.received(rows, totalRows);
}

/** Nothing of a failed export is kept; the reason says what happened to it. */
function reasonOf(error: unknown): string {
  if (error instanceof WorkbookFullError) return text.workbookFull;
  if (error instanceof ApiError) return 'The export did not start. No file was saved.';
  if (error instanceof ExportError && error.code === 'HASH_DIFFERS') return text.altered;
  return 'The file is incomplete and was not saved.';
}

window.addEventListener('beforeunload', (event) => {
  if (exportEntries.peek().some(isRunning)) event.preventDefault();
});

session.onLeave(() => {
  for (const entry of exportEntries.peek()) entry.cancel();
  exportEntries.value = [];
});
