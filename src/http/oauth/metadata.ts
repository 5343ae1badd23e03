import type { FastifyInstance } from 'fastify';
import type { AuthContext } from '../../auth/auth-context.ts';
import { keySetSeconds } from '../../auth/key-schedule.ts';
import { describeServer } from '../../auth/metadata.ts';
import { operations } from '../../contract/operations.ts';

/** How long discovery documents and the key set may be cached. */
const cacheControl = `public, max-age=${keySetSeconds}`;

/**
 * Adds both discovery documents (RFC 8414 §3, OpenID Connect Discovery §4) and the key set (RFC
 * 7517 §5).
 */
export function addMetadataRoutes(app: FastifyInstance, { settings, keys }: AuthContext): void {
  const metadata = describeServer(settings.issuer);
  for (const { path } of [operations.getOpenidConfiguration, operations.getAuthorizationServerMetadata]) {
    app.get(path, async (_request, reply) => reply.header('cache-control', cacheControl).send(metadata));
  }
  app.get(operations.getKeySet.path, async (_request, reply) =>
    reply.header('cache-control', cacheControl).send({ keys: await keys.publicJwks() }),
  );
}
