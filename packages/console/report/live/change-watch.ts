/** What changed since a page was loaded. */
export interface ChangesSeen {
  /** Number of changed records, at most 1,000. */
  readonly count: number;
  /** Whether there are further ones. */
  readonly more: boolean;
  /** Whether the changes cannot be counted, because the history of the records was replaced. */
  readonly replaced: boolean;
}

export const noChanges: ChangesSeen = { count: 0, more: false, replaced: false };

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
  readonly setTimer: (run: () => void, ms: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  readonly onChange: (seen: ChangesSeen) => void;
}

/** Time between two polls. */
export const pollMs = 15_000;
/** Time between two polls after many failures. */
const pollMsMax = 300_000;

/** The time until the following poll after a number of consecutive failures: doubled by each. */
export const pollDelayMs = (failures: number): number => Math.min(pollMs * 2 ** failures, pollMsMax);

/**
 * Counts what changed since `begin`. It polls only while the page is active, and no longer once
 * there are more changes than it counts.
 */
export class ChangeWatch {
  readonly #surroundings: WatchSurroundings;
  #since: string | undefined;
  #etag: string | undefined;
  #failures = 0;
  #timer: unknown;
  #abort: AbortController | undefined;
  #isDone = true;

  constructor(surroundings: WatchSurroundings) {
    this.#surroundings = surroundings;
  }

  /** Counts from now on. */
  begin(): void {
    this.stop();
    this.#isDone = false;
    this.#since = undefined;
    this.#etag = undefined;
    this.#failures = 0;
    this.#surroundings.onChange(noChanges);
    this.resume();
  }

  /** Ends the polling, until `begin`. */
  stop(): void {
    this.#isDone = true;
    this.pause();
  }

  /** Polls now, if the page is active. */
  resume(): void {
    this.pause();
    if (this.#isDone || !this.#surroundings.isActive()) return;
    const abort = new AbortController();
    this.#abort = abort;
    void this.#poll(abort.signal);
  }

  /** Ends the polling, until `resume` or `begin`. */
  pause(): void {
    this.#surroundings.clearTimer(this.#timer);
    this.#abort?.abort();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    try {
      const result = await this.#surroundings.poll(this.#since, this.#etag, signal);
      if (signal.aborted) return;
      this.#failures = 0;
      this.#accept(result);
    } catch {
      if (signal.aborted) return;
      this.#failures += 1;
    }
    if (this.#isDone) return;
    this.#timer = this.#surroundings.setTimer(() => this.resume(), pollDelayMs(this.#failures));
  }

  #accept(result: Poll): void {
    if (result.kind === 'token') this.#since = result.token;
    if (result.kind !== 'changed') return;
    this.#etag = result.etag;
    this.#isDone = result.seen.more || result.seen.replaced;
    this.#surroundings.onChange(result.seen);
  }
}
