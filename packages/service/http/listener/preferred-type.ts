import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/**
 * The media type that `Accept` prefers (RFC 9110 §12.5.1), the first one if it is absent or empty;
 * `undefined` if it allows none.
 */
export const preferredType = ({ headers }: FastifyRequest, types: string[]): string | undefined =>
  headers.accept ? new Negotiator({ headers }).mediaType(types) : types[0];
