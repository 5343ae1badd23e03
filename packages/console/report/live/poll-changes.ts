import { reportPaths } from '../../../contract/report.ts';
import { backgroundReports } from '../api.ts';
import { session } from '../session/session.ts';
import type { Poll } from './change-watch.ts';

const path = `/console${reportPaths.listSubscriptionChanges}`;

/** The changes that one response may have. */
const sizeMax = 1000;

/**
 * Requests the changes after a token in the background, which does not extend the session. An
 * unchanged revision is a 304, for which the service reads no record.
 */
export async function pollChanges(
  since: string | undefined,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<Poll> {
  if (since === undefined) return { kind: 'token', token: await readPresentToken() };
  const query = new URLSearchParams({ since, size: String(sizeMax) });
  const headers = { 'x-background': '1', ...(etag !== undefined && { 'if-none-match': etag }) };
  const response = await session.fetch(`${path}?${query}`, { headers, signal, cache: 'no-store' });
  if (response.status === 304) return { kind: 'unchanged' };
  const replaced = { count: 0, more: false, replaced: true };
  if (response.status === 410) return { kind: 'changed', etag: undefined, seen: replaced };
  if (!response.ok)
    throw new Error(`Cannot read the changes: the status must be 200: current value is ${response.status}`);
  const { changes, has_more: more } = await response.json();
  const seen = { count: changes.length, more, replaced: false };
  return { kind: 'changed', etag: response.headers.get('etag') ?? undefined, seen };
}

let present: Promise<string> | undefined;

/** The current change token. A page and its watch ask for it at once, and share one request. */
export function readPresentToken(): Promise<string> {
  present ??= requestPresentToken().finally(() => {
    present = undefined;
  });
  return present;
}

async function requestPresentToken(): Promise<string> {
  const { value } = await backgroundReports.changes('now', { size: sizeMax }).next();
  if (value === undefined) throw new TypeError('Cannot read the change token: the feed must have a page');
  return value.next;
}
