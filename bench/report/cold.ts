import { startPeer } from '../peers/start-peer.ts';
import { startRaw } from '../peers/start-raw.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts, resultTable, writeSection } from '../support/results.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { asRequests, fetchPage, type PageRequest, randomPages } from './page-requests.ts';

// Cold: page 1 of any of 200 tenants in any twelve months, so that no two requests are equal and no
// response is cached. Compares our service with the hand-written peer on one PostgreSQL, and on
// SQLite with node:http that sends the same bytes.

const tenantCount = 200;
const options = readOptions({ records: 1_000_000 });
const description = `${options.records} records of ${tenantCount} tenants (Zipf), 40 products; page 1 of 50 records, random tenant, random twelve months of createdDate, newest
first, valid token, exact total, PAGE_CACHE_MIB=0. ${options.rounds} rounds of ${options.seconds} s a side, ${options.connections} connections. "With access log": ours at its default
LOG_LEVEL, written to /dev/null; the other sides write none.`;

/** Both must return the same records, otherwise the comparison is meaningless. */
async function requireSameAnswers(ours: OurService, peer: OurService, pages: readonly PageRequest[]): Promise<void> {
  for (const page of pages) {
    const [own, other] = [await fetchPage(ours.port, page, ours.tokens), await fetchPage(peer.port, page, peer.tokens)];
    const [ownBody, otherBody] = [await own.text(), await other.text()];
    const total = own.headers.get('x-total-count');
    if (ownBody !== otherBody || total !== other.headers.get('x-total-count') || total === null)
      throw new Error(`Cannot compare: both must answer the same: ${page.path}\n${ownBody}\n${otherBody}`);
  }
}

async function measure(
  name: string,
  opened: BenchStore,
  peerOf: (store: BenchStore, tenants: Awaited<ReturnType<typeof loadDataSet>>) => Promise<OurService | undefined>,
): Promise<void> {
  const running: ServerProcess[] = [];
  try {
    const began = performance.now();
    const tenants = await loadDataSet(opened.store, options.records, tenantCount);
    console.log(`${name}: loaded in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    const peer = await peerOf(opened, tenants);
    if (peer !== undefined) running.push(peer);
    const ours = await startOurs(opened, tenants, { PAGE_CACHE_MIB: '0' });
    const logging = await startOurs(opened, tenants, { PAGE_CACHE_MIB: '0', LOG_LEVEL: 'info' });
    running.push(ours, logging);
    const pages = randomPages(tenants, 20_000);
    const [first] = pages;
    if (first === undefined) throw new RangeError('Cannot measure: there must be pages');
    const raw = await startRaw(await fetchPage(ours.port, first, ours.tokens), opened.folder);
    running.push(raw);
    if (peer !== undefined) await requireSameAnswers(ours, peer, pages.slice(0, 40));
    const side = (of: string, server: OurService) => ({
      name: of,
      server,
      requests: asRequests(pages, server.tokens),
      status: 200,
    });
    const measured = await compareSides(
      [
        side('ours', ours),
        side('ours with access log', logging),
        ...(peer === undefined ? [] : [side('peer', peer)]),
        side('raw', { ...raw, tokens: ours.tokens }),
      ],
      options,
    );
    const table = resultTable(measured, peer === undefined ? 'raw' : 'peer');
    const text = `${description}\n\n${machineFacts()}.\n\n${table}`;
    if (options.dryRun) console.log(text);
    else writeSection(`Cold, ${name}`, text);
  } finally {
    for (const each of running) await each.stop();
    await opened.close();
  }
}

await measure('PostgreSQL, against Fastify + pg', await openBenchPostgres(), async (opened, tenants) => {
  const peer = await startPeer(opened, tenants);
  await opened.administer('vacuum analyze');
  return peer;
});
await measure('SQLite, against raw node:http', await openBenchSqlite(), async () => undefined);
