import type { FastifyBaseLogger } from 'fastify';

const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent', 'child'] as const;

/**
 * The logger of a request, made when it first logs something. Most requests have only the line of
 * the access log, which needs none, and making one takes a twelfth of the time of a cached page.
 */
class RequestLog {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  get made(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }

  get level(): string {
    return this.made.level;
  }
}

for (const name of methods)
  Object.defineProperty(RequestLog.prototype, name, {
    value(this: RequestLog, ...values: readonly unknown[]): unknown {
      return Reflect.apply(this.made[name], this.made, values);
    },
  });

/** Returns a logger that `make` makes when it is first used. */
export const createRequestLog = (make: () => FastifyBaseLogger): FastifyBaseLogger =>
  new RequestLog(make) as unknown as FastifyBaseLogger;
