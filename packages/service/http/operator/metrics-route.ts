import type { FastifyInstance } from 'fastify';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { RequestError } from '../listener/error.ts';
import { retryAfterSeconds } from '../listener/send-error.ts';

/** The text format of Prometheus. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Adds `getMetrics`. `render` returns `undefined` if the metrics cannot be collected. */
export function addMetricsRoute(app: FastifyInstance, render: () => Promise<string | undefined>): void {
  app.get(operatorOperations.getMetrics.path, async (_request, reply) => {
    const text = await render();
    if (text === undefined) throw metricsUnavailable();
    return reply.headers({ 'content-type': contentType, 'cache-control': 'no-store' }).send(text);
  });
}

/** The error of a process whose supervisor does not respond. */
export const metricsUnavailable = () =>
  new RequestError('UNAVAILABLE', 'Cannot read the metrics: the first process must respond', {
    headers: { 'retry-after': retryAfterSeconds },
  });
