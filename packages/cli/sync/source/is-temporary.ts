import { ConnectionError, ExportError, RejectionError, TimeoutError } from '../../../client/index.ts';
import { SyncError } from './error.ts';
import { isDiskFault } from './sqlite-file.ts';

/** Whether the same run may succeed later although nobody changes anything. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.code !== 'CERTIFICATE_REJECTED';
  if (error instanceof RejectionError) return error.status >= 500 || [408, 429].includes(error.status);
  if (error instanceof ExportError) return error.code === 'INCOMPLETE';
  if (error instanceof SyncError) return temporary.includes(error.code) && !isFull(error.cause);
  return error instanceof TimeoutError;
}

const temporary: readonly string[] = ['DESTINATION_BUSY', 'DESTINATION_FAILED', 'DELIVERY_PENDING', 'REVISION_GONE'];

/** A disk stays full until somebody makes room: its error, or the SQLSTATE of PostgreSQL. */
const isFull = (cause: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', '53100'].includes((cause as { code?: string } | undefined)?.code ?? '') || isDiskFault(cause);
