import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

/** Lets the routes of a scope receive bodies of one media type, unparsed, and no others. */
export function acceptBodies(scope: FastifyInstance, type = 'application/json'): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    requireCoding(request);
    return body;
  });
}

/** Rejects a body in a content coding that is none of `codings` (RFC 9110 §15.5.16). */
export function requireCoding({ headers }: FastifyRequest, codings: readonly string[] = []): void {
  const coding = headers['content-encoding']?.trim().toLowerCase().replace(/^x-/, '') ?? 'identity';
  if (coding === 'identity' || codings.includes(coding)) return;
  const rule = codings.length === 0 ? 'absent: the body must not be compressed' : `${codings.join(' or ')}, or absent`;
  const message = `Cannot read the body: the header 'content-encoding' must be ${rule}`;
  throw new RequestError('UNSUPPORTED_MEDIA_TYPE', message);
}
