import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TimedReport } from '../../report/list-subscriptions.ts';
import type { Timings } from '../../report/stages.ts';
import type { Store } from '../../storage/store.ts';
import { findRevision } from '../../storage/tables/tenant-revision.ts';
import { accessOf } from '../listener/access-log.ts';
import {
  type ContentCoding,
  compress,
  compressBytesMin,
  contentCodings,
  preferredCoding,
} from '../listener/content-encoding.ts';
import { whileConnected } from '../listener/request-deadline.ts';
import { build } from './build.ts';

/** A response that the client may already have. */
export interface TaggedResponse {
  /** Everything that the response depends on, except the tenant and its revision. */
  readonly key: string;
  /** Reads and formats the response. */
  readonly load: () => Promise<TimedReport<string | Buffer>>;
}

/**
 * Sends a response with a strong entity tag of its revision (RFC 9110 §8.8.3): 304 without reading
 * a record if the client has it, compressed if the client accepts that.
 */
export type TaggedSender = (
  request: FastifyRequest,
  reply: FastifyReply,
  response: TaggedResponse,
) => Promise<FastifyReply>;

/** Responses are private and must be revalidated each time (RFC 9111 §5.2.2.4). */
const cacheControl = 'private, no-cache';
const vary = 'Authorization, Accept, Accept-Encoding';

export function createTaggedSender(store: Store): TaggedSender {
  return async (request, reply, { key, load }) => {
    const { tenant } = accessOf(request);
    const query = `${tenant} ${key}`; // no space in a tenant's name (`tenantName`)
    const given = request.method === 'POST' ? undefined : request.headers['if-none-match'];
    const coding = preferredCoding(request.headers['accept-encoding']);
    reply.headers({ 'cache-control': cacheControl, vary });
    if (given !== undefined) {
      const current = await findRevision(whileConnected({ store }, request).store, tenant);
      const known = matchedTag(given, entityTag(current ?? 0, query), coding);
      if (known !== undefined) return sendNotModified(reply, known);
    }
    const { body, headers, revision, timings } = await load();
    const tag = entityTag(revision, query);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const isCoded = coding !== undefined && bytes.length >= compressBytesMin;
    const etag = isCoded ? codedTag(tag, coding) : tag;
    const known = matchesAny(given) ? etag : matchedTag(given, tag, coding);
    if (known !== undefined) return sendNotModified(reply, known);
    reply.headers({ ...headers, etag, ...(timings.length > 0 && { 'server-timing': serverTiming(timings) }) });
    fitHeaders(reply);
    if (!isCoded) return reply.send(bytes);
    const coded = await compress(coding, bytes);
    return reply.header('content-encoding', coding).send(coded);
  };
}

/** The client has this response already (RFC 9110 §15.4.5). */
const sendNotModified = (reply: FastifyReply, etag: string): FastifyReply =>
  reply.code(304).header('etag', etag).send();

const serverTiming = (timings: Timings): string =>
  timings.map(([stage, ms]) => `${stage};dur=${Math.round(ms * 1000) / 1000}`).join(', ');

/** Maximum bytes of the headers of a response as sent: nginx accepts 4 KiB by default. */
const headerBytesMax = 3_072;

/** Bytes of what is added later, such as `Date`: the status line, `Keep-Alive`, length, coding. */
const laterBytes = 200;

/** Headers that are left out in this order if all do not fit; `Link` has a limit of its own. */
const optional = ['x-applied-filters', 'x-explanation', 'server-timing'];

/** Leaves out headers until those of a response have at most `headerBytesMax` bytes. */
export function fitHeaders(reply: FastifyReply): void {
  const sizeOf = (name: string, value: unknown): number => `${name}: ${value}\r\n`.length;
  let bytes = laterBytes;
  for (const [name, value] of Object.entries(reply.getHeaders())) bytes += sizeOf(name, value);
  for (const name of optional) {
    if (bytes <= headerBytesMax) return;
    if (reply.hasHeader(name)) bytes -= sizeOf(name, reply.getHeader(name));
    reply.removeHeader(name);
  }
}

/**
 * Returns a strong entity tag (RFC 9110 §8.8.3) of everything that a response depends on, the
 * build, the tenant's revision and the query: equal ones mean equal bytes.
 */
export function entityTag(revision: number, query: string): string {
  return `"${hash('sha256', `${build} ${revision} ${query}`, 'base64url').slice(0, 27)}"`;
}

/** Returns the tag of the same response in a content coding: other bytes, so another strong tag. */
export function codedTag(tag: string, coding: string): string {
  return `${tag.slice(0, -1)}-${coding}"`;
}

/** Whether `If-None-Match` is `*`, which matches any response (RFC 9110 §13.1.2). */
const matchesAny = (header: string | undefined): boolean => header?.trim() === '*';

/**
 * Returns the tag in `If-None-Match` that names a response in some content coding, if possible in
 * `coding` (RFC 9110 §13.1.2: weak comparison). A 304 must have that very tag: with another one, a
 * cache must not use it for the response that it has (RFC 9111 §4.3.4).
 */
export function matchedTag(header: string | undefined, tag: string, coding?: ContentCoding): string | undefined {
  const given = header?.match(/"[^"]*"/g);
  if (given == null) return undefined;
  const coded = contentCodings.map((each) => codedTag(tag, each));
  const own = coding === undefined ? [tag, ...coded] : [codedTag(tag, coding), tag, ...coded];
  return own.find((each) => given.includes(each));
}
