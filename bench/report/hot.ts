import { startPeer } from '../peers/start-peer.ts';
import { startRaw } from '../peers/start-raw.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, type Side } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { readOptions } from '../support/options.ts';
import { startOurs } from '../support/our-service.ts';
import { machineFacts, printSection, resultTable } from '../support/results.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { asRequests, fetchPage, randomPages } from './page-requests.ts';

// Hot: the same page repeatedly, and the same page with its ETag, compared with node:http that
// sends the same bytes and checks nothing, and with a peer that keeps the page in memory.

const tenantCount = 20;
const options = readOptions({ records: 100_000 });
const description = `One page of 50 records again and again (${options.records} records of ${tenantCount} tenants), valid token, exact total; 304: the same request with
If-None-Match, where the service answers an ETag. ${options.rounds} rounds of ${options.seconds} s a side, ${options.connections} connections, no access log.`;

async function measure(name: string, opened: BenchStore): Promise<void> {
  const running: ServerProcess[] = [];
  try {
    const tenants = await loadDataSet(opened.store, options.records, tenantCount);
    if (opened.store.engine === 'postgres') await opened.administer('vacuum analyze');
    const ours = await startOurs(opened, tenants);
    running.push(ours);
    const pages = randomPages(tenants, 1);
    const [page] = pages;
    if (page === undefined) throw new RangeError('Cannot measure: there must be a page');
    const answer = await fetchPage(ours.port, page, ours.tokens);
    const etag = answer.headers.get('etag');
    const raw = await startRaw(answer, opened.folder);
    running.push(raw);
    const side = (of: string, server: ServerProcess, more: Record<string, string> = {}): Side => ({
      name: of,
      server,
      requests: asRequests(pages, ours.tokens, more),
      status: 'if-none-match' in more ? 304 : 200,
    });
    const sides = [side('ours', ours), side('raw', raw)];
    if (opened.store.engine === 'postgres') {
      const peer = await startPeer(opened, tenants, { PEER_CACHE: '1' });
      running.push(peer);
      sides.push({ name: 'peer, cached', server: peer, requests: asRequests(pages, peer.tokens), status: 200 });
    }
    const full = await compareSides(sides, options);
    const parts = [description, `${machineFacts()}.`, resultTable(full, 'raw')];
    if (etag === null) parts.push('304: not measured, as the service answers no ETag.');
    else {
      const unchanged = { 'if-none-match': etag };
      const short = [side('ours, 304', ours, unchanged), side('raw, 304', raw, unchanged)];
      parts.push(resultTable(await compareSides(short, options), 'raw, 304'));
    }
    const text = parts.join('\n\n');
    printSection(`Hot, ${name}`, text);
  } finally {
    for (const each of running) await each.stop();
    await opened.close();
  }
}

if (options.engines.includes('sqlite')) await measure('SQLite', await openBenchSqlite());
if (options.engines.includes('postgres')) await measure('PostgreSQL', await openBenchPostgres());
