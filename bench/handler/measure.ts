import { parseArgs } from 'node:util';
import { startPeers } from '../peers/start-peer.ts';
import { openBenchPostgres } from '../support/bench-store.ts';
import { loadDataSet } from '../support/data-set.ts';
import { startOurs } from '../support/our-service.ts';
import { printSection, today } from '../support/results.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { BothCopies } from './both-copies.ts';
import { countWrongAnswers, countWrongTotals, type Reader, walkBoth } from './readers.ts';

// What the hand-written handler (`peers/fastify-pg.ts`) returns beside the service: while records
// change, and for requests that are wrong. Both have the same records and the same changes.

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    requests: { type: 'string', default: '500' },
    write: { type: 'boolean' },
  },
});
const [records, requests] = [Number(values.records), Number(values.requests)];

const running: ServerProcess[] = [];
const opened = await openBenchPostgres();
try {
  const [large, small] = await loadDataSet(opened.store, records, 12);
  if (large === undefined || small === undefined) throw new RangeError('Cannot measure: there must be two tenants');
  const ours = await startOurs(opened, [large, small]);
  running.push(ours);
  const [peer] = await startPeers(opened, [large, small]);
  if (peer === undefined) throw new TypeError('Cannot measure: the handler must run');
  running.push(peer);
  const readers = (tenant: typeof large): readonly [Reader, Reader] => [
    { port: peer.port, token: peer.tokens.get(tenant) ?? '' },
    { port: ours.port, token: ours.tokens.get(tenant) ?? '' },
  ];
  const copies = new BothCopies(opened, large);
  const newestFirst = await walkBoth(readers(large), copies, '-createdDate');
  const oldestFirst = await walkBoth(readers(large), copies, 'createdDate');
  const totals = await countWrongTotals(readers(large), copies, requests);
  const wrong = await Promise.all(readers(large).map(countWrongAnswers));
  const rows = [
    ['newest first: records returned twice', ...newestFirst.map(({ twice }) => twice)],
    ['newest first: records missing', ...newestFirst.map(({ missing }) => missing)],
    ['oldest first: records returned twice', ...oldestFirst.map(({ twice }) => twice)],
    ['oldest first: records missing', ...oldestFirst.map(({ missing }) => missing)],
    [`of ${requests} pages beside changes: total of another moment`, ...totals],
    [`of ${wrong[0]?.asked} wrong requests: answered with records`, ...wrong.map(({ records: count }) => count)],
    [`of ${wrong[0]?.asked} wrong requests: answered with status 500`, ...wrong.map(({ failed }) => failed)],
  ];
  const description = `\`npm run bench -- handler\`, ${today()}: ${newestFirst[0]?.stable} and then ${oldestFirst[0]?.stable} records that exist all the time, read in pages of 100 by their links; after each page, 10 are created and 10 removed.`;
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const text = `${description}\n\n| | handler | subreport |\n|---|---|---|\n${table}`;
  printSection('Answers of a handler', text, values.write);
} finally {
  for (const each of running) await each.stop();
  await opened.close();
}
