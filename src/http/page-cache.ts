/** A finished answer: bytes to send, and the headers that describe them. */
export interface FinishedPage {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant's revision that it was read at. */
  readonly revision: number;
}

/** Finished pages by key, as many as fit; those used longest ago make room. */
export interface PageCache {
  get(key: string): FinishedPage | undefined;
  set(key: string, page: FinishedPage): void;
}

/** What an entry costs beside its body, in bytes: its key, its headers and the map's own share. */
const entryBytes = 2_048;

/**
 * Makes a cache of at most `bytesMax`; 0 keeps nothing. The key must name everything that the page depends on but the revision, which who asks compares: so a
 * newer page takes the place of the older one.
 */
export function createPageCache(bytesMax: number): PageCache {
  const pages = new Map<string, FinishedPage>();
  let bytes = 0;
  const remove = (key: string, page: FinishedPage): void => {
    pages.delete(key);
    bytes -= costOf(page);
  };
  return {
    get(key) {
      const page = pages.get(key);
      if (page === undefined) return undefined;
      pages.delete(key);
      pages.set(key, page); // the newest use is last
      return page;
    },
    set(key, page) {
      const before = pages.get(key);
      if (before !== undefined) remove(key, before);
      if (costOf(page) > bytesMax / 8) return; // one large page must not push everything else out
      pages.set(key, page);
      bytes += costOf(page);
      for (const [oldest, oldestPage] of pages) {
        if (bytes <= bytesMax) break;
        remove(oldest, oldestPage);
      }
    },
  };
}

const costOf = ({ body }: FinishedPage): number => body.length + entryBytes;
