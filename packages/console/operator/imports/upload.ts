import type { LoadFlag, LoadSummary } from '../../../contract/load.ts';
import { RequestError } from '../../ui/request.ts';
import { parseProblem } from '../call.ts';
import { urlOf } from '../routes.ts';
import { session } from '../session/session.ts';
import { type FileKind, mediaTypes } from './describe-file.ts';

/** A file and what the service does with its rows. */
interface Upload {
  readonly tenant: string;
  readonly file: Blob;
  readonly kind: FileKind;
  readonly charset: string;
  readonly flags: readonly LoadFlag[];
  /** How many records a replacement removes, if that is said. */
  readonly remove: string | undefined;
  /** Which columns of CSV are which fields, as JSON. */
  readonly mapping: string | undefined;
  /** Called with the part of the file that was sent, from 0 to 1. */
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

const path = '/operator/v1/tenants/{tenant}/subscriptions';

/**
 * Sends a file to `loadSubscriptions`; `fetch` reports no progress of what it sends. Rejects with
 * `RequestError`, with a `TypeError` if the connection failed, or as the signal says.
 */
export async function upload(plan: Upload): Promise<LoadSummary> {
  const { tenant, file, kind, charset, flags, remove, mapping, onProgress, signal } = plan;
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  request.open(
    'PUT',
    urlOf(path, { tenant }, { ...Object.fromEntries(flags.map((flag) => [flag, 'true'])), remove, columns: mapping }),
  );
  request.setRequestHeader('content-type', `${mediaTypes[kind.format]}; charset=${charset}`);
  if (kind.encoding !== undefined) request.setRequestHeader('content-encoding', kind.encoding);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total));
  await sent(request, file, signal);
  if (request.status === 200) return JSON.parse(request.responseText) as LoadSummary;
  const content = parseProblem(request.responseText);
  if (request.status === 401) void session.check(); // asks the operator to sign in again
  throw new RequestError(request.status, content, request.getResponseHeader('x-correlation-id') ?? undefined);
}

function sent(request: XMLHttpRequest, body: Blob, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request.addEventListener('load', () => resolve());
  request.addEventListener('error', () => reject(new TypeError('the upload failed')));
  request.addEventListener('abort', () => reject(signal.reason));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  request.send(body);
  return promise;
}
