import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { randomPages } from '../report/page-requests.ts';
import { openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, type Measured } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { getRequest, type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts } from '../support/results.ts';

// CPU time of a request with traces off, on but not sampled, and on, each compared with the same
// service in another checkout, for example without tracing. All sides run in turn, in short rounds.
//
//   node bench/tracing/tracing.ts sqlite ../before
//   node bench/tracing/tracing.ts postgres ../before

const [engine = 'sqlite', before] = process.argv.slice(2);
if (before === undefined) throw new RangeError('Cannot compare: the second argument must be a folder of a checkout');
const rounds = { rounds: 21, seconds: 0.5, connections: 8 };
const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';

const collector = createServer((request, response) => request.resume().on('end', () => response.end('{}'))).listen(0);
const { port } = collector.address() as AddressInfo;
const opened = await (engine === 'postgres' ? openBenchPostgres() : openBenchSqlite());
const running: OurService[] = [];

try {
  const tenants = await loadDataSet(opened.store, 50_000, 20);
  const start = async (more: Record<string, string>, program?: string) => {
    const started = await startOurs(opened, tenants, { LOG_LEVEL: 'warn', ...more }, program);
    running.push(started);
    return started;
  };
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  for (const { name, settings, count } of [
    { name: 'a page that is not cached', settings: { PAGE_CACHE_MIB: '0' }, count: 20_000 },
    { name: 'a repeated page', settings: {}, count: 1 },
  ]) {
    const pages = randomPages(tenants, count);
    const side = (title: string, server: OurService, headers: Record<string, string> = {}) => ({
      name: title,
      server,
      requests: pages.map(({ tenant, path }) =>
        getRequest(path, { authorization: `Bearer ${server.tokens.get(tenant)}`, ...headers }),
      ),
      status: 200,
    });
    const own = await start(settings);
    const on = await start({ ...settings, ...traced });
    const sides = [
      side('before', await start(settings, join(before, 'src/cli/main.ts'))),
      side('off', own),
      side('off, with traceparent', own, { traceparent: `${sampled}-01` }),
      side('on, not sampled', on, { traceparent: `${sampled}-00` }),
      side('on', on, { traceparent: `${sampled}-01` }),
    ];
    const measured = await compareSides(sides, rounds);
    console.log([`## ${engine}, ${name}`, '', ...rowsOf(measured), ''].join('\n'));
    await Promise.all(running.splice(0).map((each) => each.stop()));
  }
  console.log(machineFacts());
} finally {
  await Promise.all(running.map((each) => each.stop()));
  await opened.close();
  collector.closeAllConnections();
  collector.close();
}

/** The least of all rounds: other load on the machine only adds CPU time. */
function leastUs({ rounds: all }: Measured): number {
  return Math.min(...all.map(({ cpuUs }) => cpuUs));
}

function rowsOf(measured: readonly Measured[]): string[] {
  const [base] = measured;
  if (base === undefined) return [];
  const rows = measured.map(
    (each) => `| ${each.name} | ${leastUs(each).toFixed(1)} | ${(leastUs(each) / leastUs(base)).toFixed(3)} |`,
  );
  return ['| traces | least CPU µs a request | ÷ before |', '|---|---|---|', ...rows];
}
