import type { FastifyInstance } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { preferredType } from './preferred-type.ts';

/** Which side of the service a listener or a page is of; each has an accent color. */
export type Listener = 'report' | 'operator';

/** The operations that `/` of a listener names, apart from those of both. */
const named = {
  report: {
    metadata: operations.getAuthorizationServerMetadata,
    token: operations.issueToken,
    report: operations.listSubscriptions,
  },
  operator: { load: operatorOperations.loadSubscriptions, metrics: operatorOperations.getMetrics },
} as const;

interface Home {
  readonly listener: Listener;
  /** URL of the listener, such as `https://reports.example.com`; empty if it is not known. */
  readonly baseUrl: string;
  readonly hasConsole: boolean;
}

/** Adds `/`, which leads browsers to the console, or else to the API reference, and lists URLs. */
export function addHomeRoute(app: FastifyInstance, { listener, baseUrl, hasConsole }: Home): void {
  const { getOpenapi: openapi, getHealth: health, getReadiness: readiness } = operations;
  const linked = Object.entries({ openapi, ...named[listener], health, readiness });
  const pages = [...(hasConsole ? ['console'] : []), 'docs'];
  const urls = Object.fromEntries([
    ...pages.map((name) => [name, `${baseUrl}/${name}`]),
    ...linked.map(([name, { path }]) => [name, baseUrl + path]),
  ]);
  app.get('/', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-cache', vary: 'Accept' });
    if (preferredType(request, ['application/json', 'text/html']) !== 'text/html') return urls;
    // relative, for a proxy that adds a prefix to the path
    return reply.redirect(`./${pages[0]}`);
  });
}
