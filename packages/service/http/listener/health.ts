import type { FastifyInstance } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { isOutOfFiles, StorageError } from '../../storage/error.ts';
import { RequestError } from './error.ts';
import { retryAfterSeconds } from './send-error.ts';

/** Decides whether this process should receive requests. */
export interface Readiness {
  /** Whether the process is shutting down. */
  readonly isDraining: () => boolean;
  /**
   * Rejects if a report cannot be served now; settles by the deadline, a time of
   * `performance.now()`.
   */
  readonly checkReady: (deadline: number) => Promise<void>;
}

/**
 * Adds `/healthz` (the process is alive, whatever the store does) and `/readyz` (a report can be
 * served now).
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

function storeRule(error: unknown): string {
  if (error instanceof StorageError && error.code === 'UNUSABLE')
    return 'the operator must repair the database; the log contains instructions';
  if (isOutOfFiles(error)) return 'the service must be allowed to open more files';
  return 'the database must be reachable and its schema up to date';
}

const notReady = (reason: string) =>
  new RequestError('UNAVAILABLE', `Cannot serve reports now: ${reason}`, {
    headers: { 'retry-after': retryAfterSeconds },
  });
