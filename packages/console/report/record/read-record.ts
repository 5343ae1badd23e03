import type { Subscription } from '../../../client/index.ts';
import { reportPaths } from '../../../contract/report.ts';
import { RequestError } from '../../ui/request.ts';
import { session } from '../session/session.ts';

/** A record, and its JSON as the service sent it. */
export interface ReadRecord {
  readonly record: Subscription;
  readonly json: string;
}

/**
 * Reads a record, also of the past; `undefined` if none has this id. Rejects with `RequestError`.
 */
export async function readRecord(
  id: string,
  asOf: string | undefined,
  signal: AbortSignal,
): Promise<ReadRecord | undefined> {
  const path = reportPaths.getSubscription.replace('{id}', encodeURIComponent(id));
  const query = asOf === undefined ? '' : `?as-of=${asOf}`;
  const response = await session.fetch(`/console${path}${query}`, { signal });
  const json = await response.text();
  const body = parse(json);
  // an id such as `changes` is the path of another operation
  if (response.ok) return isRecord(body, id) ? { record: body, json } : undefined;
  // an address with an id that no record can have is rejected with 400
  if (response.status === 404 || (response.status === 400 && asOf === undefined)) return undefined;
  throw new RequestError(response.status, body ?? {}, response.headers.get('x-correlation-id') ?? undefined);
}

function parse(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return;
  }
}

const isRecord = (body: unknown, id: string): body is Subscription => (body as { id?: unknown } | undefined)?.id === id;
