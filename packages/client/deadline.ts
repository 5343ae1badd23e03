import { connectionErrorOf, type ErrorContext, SubreportError, TimeoutError } from './error.ts';

/**
 * Aborts an attempt when the caller's signal is aborted or the service is silent for too long.
 * `AbortSignal.any` is missing in older runtimes.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #url: string;
  readonly #context: ErrorContext;
  readonly #abort = () => this.#controller.abort(this.#caller?.reason);
  #expired = false;
  #kept = false;

  constructor(timeoutMs: number, caller: AbortSignal | undefined, url: string, context: ErrorContext) {
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    this.#url = url;
    this.#context = context;
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs a part of the attempt under the time limit; its failures become the library's errors. */
  async guard<T>(run: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#expire(), this.#timeoutMs);
    try {
      return await run();
    } catch (failure) {
      this.end();
      throw this.#explain(failure);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Keeps the attempt open until `end`, because its body is read later. */
  keep(): void {
    this.#kept = true;
  }

  /** Ends the attempt unless it is kept. */
  release(): void {
    if (!this.#kept) this.end();
  }

  /** Disconnects the caller's signal. */
  end(): void {
    this.#caller?.removeEventListener('abort', this.#abort);
  }

  #expire(): void {
    this.#expired = true;
    this.#controller.abort();
  }

  #explain(failure: unknown): unknown {
    if (this.#caller?.aborted) return this.#caller.reason;
    if (failure instanceof SubreportError) return failure;
    if (!this.#expired) return connectionErrorOf(this.#url, failure, this.#context);
    const rule = `it must respond within ${this.#timeoutMs} ms`;
    return new TimeoutError(`Cannot reach ${new URL(this.#url).origin}: ${rule}`, this.#context, { cause: failure });
  }
}
