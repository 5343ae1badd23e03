/** What changed since a page was loaded. */
export interface ChangesSeen {
  /** Number of changed records, at most 1,000. */
  readonly count: number;
  /** Whether there are further ones. */
  readonly more: boolean;
  /** Whether the changes cannot be counted, because the history of the records was replaced. */
  readonly replaced: boolean;
}

/** The result of one request of the changes. */
export type Poll =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly etag: string | undefined; readonly seen: ChangesSeen };

/** What the watch needs from its surroundings. */
export interface WatchSurroundings {
  /** Requests a change token of the present, or the changes after one. Rejects if that fails. */
  readonly poll: (since: string | undefined, etag: string | undefined, signal: AbortSignal) => Promise<Poll>;
  /** Whether the page is visible and has a network. */
  readonly isActive: () => boolean;
  readonly onChange: (seen: ChangesSeen) => void;
}

/** Time between two polls. */
export const pollMs = 15_000;

interface ChangeWatch {
  /** Polls now, if the page is active. */
  readonly resume: () => void;
  readonly stop: () => void;
}

/**
 * Counts what changed from now on. It polls only while the page is active, and no longer once there
 * are more changes than it counts. A poll that fails is repeated at the time of the following one.
 */
export function watchChanges({ poll, isActive, onChange }: WatchSurroundings): ChangeWatch {
  let since: string | undefined;
  let etag: string | undefined;
  let isDone = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort = new AbortController();
  const pause = (): void => {
    clearTimeout(timer);
    abort.abort();
  };
  const resume = async (): Promise<void> => {
    pause();
    if (isDone || !isActive()) return;
    abort = new AbortController();
    const { signal } = abort;
    const result = await poll(since, etag, signal).catch(() => undefined);
    if (signal.aborted) return;
    if (result?.kind === 'token') since = result.token;
    if (result?.kind === 'changed') {
      etag = result.etag;
      isDone = result.seen.more || result.seen.replaced;
      onChange(result.seen);
    }
    if (!isDone) timer = setTimeout(resume, pollMs);
  };
  void resume();
  return {
    resume: () => void resume(),
    stop: () => {
      isDone = true;
      pause();
    },
  };
}
