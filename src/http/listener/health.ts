import type { FastifyInstance } from 'fastify';
import { operations } from '../../contract/operations.ts';
import { StorageError } from '../../storage/error.ts';
import { RequestError } from './error.ts';
import { retryAfterSeconds } from './send-error.ts';

/** What decides whether this process should get requests. */
export interface Readiness {
  /** Whether the process is on its way out. */
  readonly isDraining: () => boolean;
  /**
   * Rejects when a report could not be answered now; the answer comes by the deadline, a time of
   * `performance.now()`.
   */
  readonly checkReady: (deadline: number) => Promise<void>;
}

/**
 * `/healthz` (the process is alive, whatever the store does) and `/readyz` (a report could be
 * answered now).
 */
export function addHealthRoutes(app: FastifyInstance, { isDraining, checkReady }: Readiness): void {
  const ok = { status: 'ok' };
  app.get(operations.getHealth.path, async (_request, reply) => reply.header('cache-control', 'no-store').send(ok));
  app.get(operations.getReadiness.path, async (request, reply) => {
    if (isDraining()) throw notReady('the service is shutting down');
    await checkReady(request.deadline).catch((error: unknown) => {
      request.log.warn({ err: error }, 'not ready');
      throw notReady(storeRule(error));
    });
    return reply.header('cache-control', 'no-store').send(ok);
  });
}

const storeRule = (error: unknown): string =>
  error instanceof StorageError && error.code === 'UNUSABLE'
    ? 'its operator must repair the store; the log says how'
    : 'its store must be reachable and up to date';

const notReady = (reason: string) =>
  new RequestError('UNAVAILABLE', `Cannot answer reports now: ${reason}`, {
    headers: { 'retry-after': retryAfterSeconds },
  });
