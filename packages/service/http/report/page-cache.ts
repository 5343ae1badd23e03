import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createStages, type Timings } from '../../report/stages.ts';
import { BoundedMap } from '../../storage/bounded-map.ts';
import type { TenantId } from '../../storage/store.ts';
import { accessOf } from '../listener/access-log.ts';
import {
  type ContentCoding,
  compress,
  compressBytesMin,
  contentCodings,
  preferredCoding,
} from '../listener/content-encoding.ts';

/** A cached response: its bytes, and the headers that describe them. */
interface CachedPage {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string };
  /** The tenant's revision when it was read. */
  readonly revision: number;
}

interface TimedPage {
  readonly page: CachedPage;
  readonly timings: Timings;
}

/** A response as the report returns it. */
interface RevisionedResponse {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision in the snapshot that it shows. */
  readonly revision: number;
  readonly timings?: Timings;
}

/** A response that may already be cached. */
export interface CacheableResponse {
  /** Everything that the response depends on, except the tenant and its revision. */
  readonly key: string;
  /** Reads and formats the response. */
  readonly load: () => Promise<RevisionedResponse>;
}

/**
 * Sends a response with a strong entity tag of its revision (RFC 9110 §8.8.3): 304 without reading
 * anything if the client has it, from the cache if the tenant has not changed, compressed if the
 * client accepts that.
 */
export type CachedSender = (
  request: FastifyRequest,
  reply: FastifyReply,
  response: CacheableResponse,
) => Promise<FastifyReply>;

/** Responses are private and must be revalidated each time (RFC 9111 §5.2.2.4). */
const cacheControl = 'private, no-cache';
const vary = 'Authorization, Accept, Accept-Encoding';

/**
 * Makes a sender whose cache holds at most `cacheBytes`, each coding separately. `revisionOf`
 * returns a tenant's current revision.
 */
export function createCachedSender(
  cacheBytes: number,
  revisionOf: (tenant: TenantId) => Promise<number>,
): CachedSender {
  const cache = createPageCache(cacheBytes);
  return async (request, reply, response) => {
    const { tenant } = accessOf(request);
    const key = `${tenant} ${response.key}`; // no space in a tenant's name (`tenantName`)
    const given = request.method === 'POST' ? undefined : request.headers['if-none-match'];
    reply.headers({ 'cache-control': cacheControl, vary });
    const current = await revalidate(cache, key, given, () => revisionOf(tenant));
    const coding = preferredCoding(request.headers['accept-encoding']);
    const known = matchedTag(given, current.tag, coding);
    if (known !== undefined) return sendNotModified(reply, known);
    const { page, timings } = current.cached ?? (await read(cache, key, response.load));
    const matched = matchedTag(given, page.headers.etag, coding);
    if (matched !== undefined) return sendNotModified(reply, matched);
    const { headers, body } = await encode(cache, key, page, coding);
    if (matchesAny(given)) return sendNotModified(reply, headers.etag);
    return reply.headers(headers).header('server-timing', serverTiming(timings)).send(body);
  };
}

/** Returns the cached response if it is of the current revision, and the current entity tag. */
async function revalidate(
  cache: PageCache,
  key: string,
  given: string | undefined,
  readRevision: () => Promise<number>,
): Promise<{ readonly cached?: TimedPage; readonly tag: string }> {
  const page = cache.get(key);
  if (page === undefined && given === undefined) return { tag: '' };
  const { run, timings } = createStages();
  const revision = await run('cache', readRevision);
  if (page?.revision !== revision) return { tag: entityTag(revision, key) };
  return { cached: { page, timings }, tag: page.headers.etag };
}

/** Reads and formats the response, and caches it. */
async function read(cache: PageCache, key: string, load: CacheableResponse['load']): Promise<TimedPage> {
  const { body, headers, revision, timings = [] } = await load();
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const page = { body: bytes, headers: { ...headers, etag: entityTag(revision, key) }, revision };
  cache.set(key, page);
  return { page, timings };
}

/** Compresses a response, or returns it compressed before; a short one stays as it is. */
async function encode(
  cache: PageCache,
  key: string,
  page: CachedPage,
  coding: ContentCoding | undefined,
): Promise<CachedPage> {
  if (coding === undefined || page.body.length < compressBytesMin) return page;
  const codedKey = `${key} ${coding}`;
  const known = cache.get(codedKey);
  if (known?.revision === page.revision) return known;
  const body = await compress(coding, page.body);
  const headers = { ...page.headers, etag: codedTag(page.headers.etag, coding), 'content-encoding': coding };
  const coded = { body, headers, revision: page.revision };
  cache.set(codedKey, coded);
  return coded;
}

/** The client has this response already (RFC 9110 §15.4.5). */
const sendNotModified = (reply: FastifyReply, etag: string): FastifyReply =>
  reply.code(304).header('etag', etag).send();

const serverTiming = (timings: Timings): string =>
  timings.map(([stage, ms]) => `${stage};dur=${Math.round(ms * 1000) / 1000}`).join(', ');

/**
 * A page may take at most this fraction of the cache, so that a large one does not evict all
 * others.
 */
const largestShare = 8;

type PageCache = ReturnType<typeof createPageCache>;

/**
 * Creates a cache of at most `bytesMax`, including keys and headers; 0 disables it. The cache key
 * must name everything that the page depends on except the revision, which the caller compares, so
 * that a newer page replaces the older one.
 */
export function createPageCache(bytesMax: number) {
  const pages = new BoundedMap<CachedPage>({
    name: 'responses',
    bytesMax,
    entryBytesMax: bytesMax / largestShare,
  });
  return {
    get: (key: string) => pages.get(key),
    set: (key: string, page: CachedPage) => void pages.set(key, { ...page, body: ownBytes(page.body) }),
  };
}

/**
 * Copies a body that shares its memory: a short one is part of a pool of 8 KiB, and a compressed
 * one of the compressor's 16 KiB, which it would keep alive.
 */
function ownBytes(body: Buffer): Buffer {
  if (body.byteLength === body.buffer.byteLength) return body;
  const own = Buffer.allocUnsafeSlow(body.byteLength);
  body.copy(own);
  return own;
}

/**
 * Returns a strong entity tag (RFC 9110 §8.8.3) of everything that a response depends on, the
 * tenant's revision and the cache key: equal ones mean equal bytes.
 */
export function entityTag(revision: number, cacheKey: string): string {
  return `"${hash('sha256', `${revision} ${cacheKey}`, 'base64url').slice(0, 27)}"`;
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
