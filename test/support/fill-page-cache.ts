import { randomBytes } from 'node:crypto';
import { compress } from '../../packages/service/http/listener/content-encoding.ts';
import { createPageCache } from '../../packages/service/http/report/page-cache.ts';

// Fills a page cache of 16 MiB twice over with pages of one kind, and prints the bytes that it
// takes in memory. Run with --expose-gc.

const [, , kind = ''] = process.argv;
const mebibyte = 1_048_576;
/** A string that is not sliced from a longer one. */
const textOf = (length: number): string => randomBytes(Math.ceil((length * 3) / 4)).toString('base64url');

/** Sizes in bytes of one page of each kind. */
const kinds: Readonly<Record<string, { key: number; links: number; body: number; coding?: 'gzip' }>> = {
  'short pages': { key: 80, links: 120, body: 300 },
  'long keys and links': { key: 8_000, links: 8_000, body: 2 },
  'compressed pages': { key: 80, links: 120, body: 1_100, coding: 'gzip' },
  'pages of a whole report': { key: 80, links: 120, body: 200_000 },
};
const sizes = kinds[kind];
if (sizes === undefined) throw new TypeError(`no such kind: ${kind}`);

async function makePage(): Promise<Parameters<ReturnType<typeof createPageCache>['set']>> {
  const { key, links, body, coding } = sizes as NonNullable<typeof sizes>;
  const names = ['link', 'x-next-page', 'x-applied-filters', 'content-type'];
  const headers = { ...Object.fromEntries(names.map((name) => [name, textOf(links)])), etag: textOf(links) };
  const bytes = Buffer.from(textOf(body));
  return [textOf(key), { body: coding === undefined ? bytes : await compress(coding, bytes), headers, revision: 1 }];
}

function bytesInUse(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const warm = createPageCache(mebibyte);
for (let n = 0; n < 1_000; n += 1) warm.set(...(await makePage()));
const before = bytesInUse();
const cache = createPageCache(16 * mebibyte);
const bytesOfPage = sizes.key + 5 * sizes.links + sizes.body + 600;
for (let n = 0; n < (2 * 16 * mebibyte) / bytesOfPage; n += 1) cache.set(...(await makePage()));
const after = bytesInUse();
process.stdout.write(String((after - before) / mebibyte));
cache.get(''); // the cache must not be collected before this line
warm.get('');
