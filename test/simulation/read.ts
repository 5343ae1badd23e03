import { createHash } from 'node:crypto';
import { Difference, expectEqual } from './failure.ts';
import type { Filters } from './model.ts';
import type { Received, Session } from './session.ts';

/** The client and the service of a read. */
export interface Source {
  readonly session: Session;
  readonly service: 0 | 1;
  readonly tenant: string;
}

/** One page of a report. */
export interface Page {
  /** JSON of each record. */
  readonly texts: readonly string[];
  readonly total: number;
  /** Query string of the following page, if there is one. */
  readonly next: string | undefined;
  readonly etag: string | undefined;
}

/** A query string of filters and further parameters. */
export function queryOf(filters: Filters, more: Readonly<Record<string, string | number>> = {}): string {
  const entries = Object.entries({ ...filters, ...more }).map(([name, value]) => [name, String(value)]);
  return `?${new URLSearchParams(entries as [string, string][])}`;
}

const pathPrefix = '/connect-api/v1/subscription';

export async function readPage({ session, service, tenant }: Source, query: string): Promise<Page> {
  const received = expectStatus(await session.get(service, tenant, query), 200, query);
  const link = received.headers.get('x-next-page');
  return {
    texts: textsOf(received.text),
    total: Number(received.headers.get('x-total-count')),
    next: link === null ? undefined : link.slice(link.indexOf(pathPrefix) + pathPrefix.length),
    etag: received.headers.get('etag') ?? undefined,
  };
}

/** Reads a report page by page, following X-Next-Page. */
export async function* readPages(source: Source, filters: Filters, size: number): AsyncGenerator<Page> {
  for (let query: string | undefined = queryOf(filters, { size }); query !== undefined; ) {
    const page: Page = await readPage(source, query);
    yield page;
    query = page.next;
  }
}

/** Reads an export, checks its summary line, and returns the JSON of each record. */
export async function readWhole({ session, service, tenant }: Source, filters: Filters): Promise<string[]> {
  const query = queryOf(filters, { all: 'true', format: 'ndjson' });
  const { text } = expectStatus(await session.get(service, tenant, query), 200, query);
  const lines = text.split('\n').slice(0, -1);
  const records = lines.slice(0, -1);
  const { summary } = JSON.parse(lines.at(-1) ?? '{}') as { summary?: { rows: number; sha256: string } };
  const bytes = records.map((line) => `${line}\n`).join('');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expectEqual(`the summary line of ${query}`, summary, { rows: records.length, sha256 });
  return records;
}

/** Reads the summary: its total, and the counts of each dimension. */
export async function readSummary({ session, service, tenant }: Source, filters: Filters, by: readonly string[]) {
  const { sort, ...rest } = filters;
  const query = `/summary${queryOf(rest, { by: by.join(',') })}`;
  const { text } = expectStatus(await session.get(service, tenant, query), 200, query);
  const { total, by: counts } = JSON.parse(text) as {
    total: number;
    by: Record<string, { value: string | null; count: number }[]>;
  };
  return {
    total,
    counts: (dimension: string) => new Map((counts[dimension] ?? []).map(({ value, count }) => [value, count])),
  };
}

/** A copy of a tenant's records, kept up to date by reading changes. */
export class Follower {
  readonly copy = new Map<string, string>();
  changes = 0;
  #token: string | undefined;

  /** Applies all changes since the last call. */
  async catchUp({ session, service, tenant }: Source): Promise<void> {
    for (let more = true; more; ) {
      const query = `/changes?size=700${this.#token === undefined ? '' : `&since=${this.#token}`}`;
      const { text } = expectStatus(await session.get(service, tenant, query), 200, query);
      const response = JSON.parse(text) as {
        changes: { id: string; removed?: true }[];
        next: string;
        has_more: boolean;
      };
      for (const change of response.changes) {
        this.changes += 1;
        if (change.removed) this.copy.delete(change.id);
        else this.copy.set(change.id, JSON.stringify(change));
      }
      this.#token = response.next;
      more = response.has_more;
    }
  }
}

export function expectStatus(received: Received, status: number, what: string): Received {
  if (received.status === status) return received;
  throw new Difference(`${what} returned ${received.status}, expected ${status}: ${received.text.slice(0, 500)}`);
}

function textsOf(body: string): string[] {
  const texts = (JSON.parse(body) as unknown[]).map((record) => JSON.stringify(record));
  expectEqual('the text of a page', body, `[${texts.join(',')}]`);
  return texts;
}
