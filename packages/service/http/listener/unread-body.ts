import type { FastifyRequest } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { RequestError } from './error.ts';

/**
 * Rejects an announced body unless it is empty: filters in it would be ignored, and the response
 * would have all records. A chunked body shows at its first bytes whether it is empty.
 */
export function refuseUnreadBody({ raw, url }: FastifyRequest, done: (error?: Error) => void): void {
  raw.once('readable', () => {
    // Fastify would demand the media type of a chunked body
    if (raw.readableLength === 0) delete raw.headers['transfer-encoding'];
    if (raw.readableLength === 0) return done();
    const { path } = operations.listSubscriptions;
    const search = url.split('?', 1)[0]?.endsWith(path)
      ? `, or with POST to ${operations.searchSubscriptions.path}`
      : '';
    const message = `Cannot read the request: a ${raw.method} must have no body: send its parameters in the query string${search}`;
    done(new RequestError('INVALID_HTTP_MESSAGE', message, { headers: { connection: 'close' } }));
  });
}
