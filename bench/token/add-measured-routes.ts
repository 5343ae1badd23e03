import diagnostics from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { operations } from '../../packages/contract/operations.ts';
import { syntheticRecords } from '../support/data-set.ts';
import { measuredPaths } from './measured-paths.ts';

/** A page of the report with its usual size. */
const page = `[${Array.from(syntheticRecords(20, 1), ({ record }) => record).join()}]`;

/**
 * Adds the measured routes to the service that is built next: a prepared page and the report
 * itself, each once with the access check of the report and once without it, with the report of
 * `access`.
 */
export function addMeasuredRoutes(access: NonNullable<FastifyRequest['access']>): void {
  diagnostics.subscribe('fastify.initialization', (message) => {
    const { fastify: app } = message as { fastify: FastifyInstance };
    app.addHook('onRoute', (route) => {
      if (route.url === operations.listSubscriptions.path && route.method === 'GET') addBeside(app, route, access);
    });
  });
}

function addBeside(
  app: FastifyInstance,
  { handler, onRequest }: RouteOptions,
  access: NonNullable<FastifyRequest['access']>,
): void {
  // the first of its checks; the others do not concern the token
  const [authorize] = [onRequest ?? []].flat();
  if (authorize === undefined) throw new TypeError('Cannot measure: the report must check the token first');
  const letIn = async (request: FastifyRequest): Promise<void> => {
    request.access = access;
  };
  const sendPage: RouteOptions['handler'] = async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(page);
  app.get(measuredPaths.openPage, { onRequest: letIn }, sendPage);
  app.get(measuredPaths.guardedPage, { onRequest: authorize }, sendPage);
  app.get(measuredPaths.openReport, { onRequest: letIn }, handler);
  app.get(measuredPaths.guardedReport, { onRequest: authorize }, handler);
}
