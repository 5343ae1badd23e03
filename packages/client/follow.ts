import type { Api } from './api.ts';
import { type ChangesOptions, readChanges } from './changes.ts';
import type { Clock } from './clock.ts';
import { ApiError } from './error.ts';
import type { ChangesPage } from './records.ts';
import { isTransient } from './retry-delay.ts';
import type { ValueStore } from './value-store.ts';

/** A page of changes to apply to a copy. */
export interface FollowPage extends ChangesPage {
  /**
   * Whether the copy must be emptied before the page is applied: this is the first page of a full
   * read, at the beginning or because the change token is no longer valid.
   */
  readonly reset: boolean;
}

/** Options of following changes. */
export interface FollowOptions extends Pick<ChangesOptions, 'signal' | 'correlationId' | 'size'> {
  /** The change token to start from if `store` has none. */
  readonly since?: string | undefined;
  /** Applies a page to the copy. After a crash, it may receive the same page again. */
  readonly onPage: (page: FollowPage) => unknown;
  /** Keeps the change token. It is stored after `onPage` has resolved. */
  readonly store?: ValueStore<string> | undefined;
  /** Time between two polls in milliseconds, 60,000 by default. */
  readonly intervalMs?: number | undefined;
  /** Called after a lost connection, a timeout, 408, 429 or 5xx, which do not end `follow`. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Follows changes until the signal is aborted. */
export async function followChanges(api: Api, options: FollowOptions, clock: Clock): Promise<void> {
  const { signal, correlationId, size, store, onPage, intervalMs = intervalMsDefault } = options;
  const given = { signal, correlationId, size };
  let token = (await store?.load()) ?? options.since;
  while (!signal?.aborted) {
    const page = await readChanges(api, token, given).catch((error: unknown) => failureOf(error, token, options));
    if ('changes' in page) {
      await onPage({ ...page, reset: token === undefined });
      token = page.next;
      await store?.save(token);
      if (!page.hasMore) await pause(intervalMs, signal, clock);
    } else {
      if (page.isStale) token = undefined;
      await pause(page.waitMs, signal, clock);
    }
  }
}

const intervalMsDefault = 60_000;

/** A failure that does not end `follow`. */
interface Failure {
  /** Whether the change token is no longer valid. */
  readonly isStale?: boolean;
  readonly waitMs: number;
}

/** How to continue after a failed request; throws if the error is permanent. */
function failureOf(error: unknown, token: string | undefined, options: FollowOptions): Failure {
  const { signal, onError, intervalMs = intervalMsDefault } = options;
  if (signal?.aborted) return { waitMs: 0 };
  if (error instanceof ApiError && error.code === 'RESYNC_REQUIRED' && token !== undefined)
    return { isStale: true, waitMs: 0 };
  if (!isTransient(error)) throw error;
  onError?.(error as Error);
  const { retryAfterMs = 0 } = error as { retryAfterMs?: number };
  return { waitMs: Math.max(intervalMs, retryAfterMs) };
}

/** Waits until the time has passed or the signal is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined, clock: Clock): Promise<void> {
  await clock.sleep(ms, signal).catch((reason: unknown) => {
    if (!signal?.aborted) throw reason;
  });
}
