import { connectionErrorOf, type ErrorContext, SubreportError, TimeoutError } from './error.ts';

/** Aborts an attempt when the caller's signal is aborted or the service is silent for too long. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #expiry = new AbortController();
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #url: string;
  readonly #context: ErrorContext;

  constructor(timeoutMs: number, caller: AbortSignal | undefined, url: string, context: ErrorContext) {
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    this.#url = url;
    this.#context = context;
    this.signal = caller === undefined ? this.#expiry.signal : AbortSignal.any([caller, this.#expiry.signal]);
  }

  /** Runs a part of the attempt under the time limit; its failures become the library's errors. */
  async guard<T>(run: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#expiry.abort(), this.#timeoutMs);
    try {
      return await run();
    } catch (failure) {
      throw this.#explain(failure);
    } finally {
      clearTimeout(timer);
    }
  }

  #explain(failure: unknown): unknown {
    if (this.#caller?.aborted) return this.#caller.reason;
    if (failure instanceof SubreportError) return failure;
    if (!this.#expiry.signal.aborted) return connectionErrorOf(this.#url, failure, this.#context);
    const rule = `it must respond within ${this.#timeoutMs} ms`;
    return new TimeoutError(`Cannot reach ${new URL(this.#url).origin}: ${rule}`, this.#context, { cause: failure });
  }
}
