import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ContentCoding, compress, compressBytesMin, preferredCoding } from './content-encoding.ts';
import { codedTag, entityTag, matchesAny, matchesTag } from './etag.ts';
import { createPageCache, type FinishedPage } from './page-cache.ts';

/** An answer as the report makes it. */
export interface RevisionedAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision at the moment that it shows. */
  readonly revision: number;
  /** Milliseconds by stage. */
  readonly timings?: Readonly<Record<string, number>>;
}

/** An answer that may be had already. */
export interface CachedAnswer {
  /** Everything that the answer depends on but the revision, the tenant first. */
  readonly key: readonly unknown[];
  /** The tenant's revision now. */
  readonly revision: () => Promise<number>;
  /** Reads and writes the answer. */
  readonly load: () => Promise<RevisionedAnswer>;
}

/** Sends an answer that may be had already. */
export type CachedSender = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: CachedAnswer,
) => Promise<FastifyReply>;

/** Answers for the client alone, and asked about each time (RFC 9111 §5.2.2.4): nobody sees an older one. */
const cacheControl = 'private, no-cache';
const vary = 'Authorization, Accept, Accept-Encoding';

/**
 * Makes the function that sends an answer with a strong entity tag of its revision (RFC 9110 §8.8.3): 304 without reading it when the client has it, from
 * memory when the tenant has not changed since, compressed when the client takes that. At most `cacheBytes` of bodies are kept, in each coding that was asked for.
 */
export function createCachedSender(cacheBytes: number): CachedSender {
  const cache = createPageCache(cacheBytes);

  function finish(key: string, { body, headers, revision }: RevisionedAnswer): FinishedPage {
    const page = { body: Buffer.from(body), headers: { ...headers, etag: entityTag([revision, key]) }, revision };
    cache.set(key, page);
    return page;
  }

  async function inCoding(key: string, page: FinishedPage, coding: ContentCoding | undefined): Promise<FinishedPage> {
    if (coding === undefined || page.body.length < compressBytesMin) return page;
    const known = cache.get(`${key} ${coding}`);
    if (known !== undefined && known.revision === page.revision) return known;
    const headers = {
      ...page.headers,
      etag: codedTag(page.headers.etag ?? '', coding),
      'content-encoding': coding,
    };
    const coded = { body: await compress(coding, page.body), headers, revision: page.revision };
    cache.set(`${key} ${coding}`, coded);
    return coded;
  }

  return async (request, reply, answer) => {
    const started = performance.now();
    const key = JSON.stringify(answer.key);
    const ifNoneMatch = request.method === 'POST' ? undefined : request.headers['if-none-match'];
    reply.headers({ 'cache-control': cacheControl, vary });
    let page = cache.get(key);
    if (page !== undefined || ifNoneMatch !== undefined) {
      const revision = await answer.revision();
      if (page?.revision !== revision) page = undefined;
      const tag = page?.headers.etag ?? entityTag([revision, key]);
      if (matchesTag(ifNoneMatch, tag)) return notModified(reply, tag);
    }
    const timings: Record<string, number> = {};
    if (page === undefined) {
      const loaded = await answer.load();
      Object.assign(timings, loaded.timings);
      page = finish(key, loaded);
    } else timings.cache = performance.now() - started;
    const { etag = '' } = page.headers;
    if (matchesAny(ifNoneMatch) || matchesTag(ifNoneMatch, etag)) return notModified(reply, etag);
    const { body, headers } = await inCoding(key, page, preferredCoding(request.headers['accept-encoding']));
    return reply.headers(headers).header('server-timing', serverTiming(timings)).send(body);
  };
}

/** The client has this answer already (RFC 9110 §15.4.5). */
const notModified = (reply: FastifyReply, etag: string): FastifyReply => reply.header('etag', etag).code(304).send();

const serverTiming = (timings: Readonly<Record<string, number>>): string =>
  Object.entries(timings)
    .map(([stage, ms]) => `${stage};dur=${ms.toFixed(3)}`)
    .join(', ');
