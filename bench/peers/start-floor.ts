import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { nowSeconds } from '../../packages/service/cli/store/now-seconds.ts';
import { parseReport } from '../../packages/service/report/parse.ts';
import { planReport } from '../../packages/service/report/plan.ts';
import { runReport } from '../../packages/service/report/run.ts';
import type { PageStore } from '../../packages/service/storage/read/page-statements.ts';
import { RangeMemory } from '../../packages/service/storage/read/range-memory.ts';
import type { PageRequest } from '../report/page-requests.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import type { FloorPage } from './floor-http.ts';
import { headersOf } from './start-raw.ts';

/** Times that each page is read before its statements are noted: then its range is remembered. */
const readsBefore = 1;

/** Starts the floor (`floor-http.ts`) with the statements that our service runs for some pages. */
export async function startFloor(
  { store, folder, environment }: BenchStore,
  requests: readonly PageRequest[],
  answer: Response,
): Promise<ServerProcess> {
  let noted: FloorPage | undefined;
  const noting: PageStore = {
    engine: store.engine,
    readTenant: (...read) => store.readTenant(...read),
    readTenantOnce(tenant, statements, how) {
      noted ??= { tenant, statements };
      return store.readTenantOnce(tenant, statements, how);
    },
  };
  const context = { store: noting, ranges: new RangeMemory() };
  const limits = defaultPageLimits;
  const read = ({ tenant, path }: PageRequest) => {
    const query = path.slice(path.indexOf('?') + 1);
    const plan = planReport(parseReport(query, { limits, now: nowSeconds }, 'json'), limits.firstPage);
    return runReport(context, tenant, plan, 'array');
  };
  const pages: FloorPage[] = [];
  for (let round = 0; round <= readsBefore; round += 1) {
    for (const request of requests) {
      noted = undefined;
      await read(request);
      if (round === readsBefore && noted !== undefined) pages.push(noted);
    }
  }
  const file = join(folder, 'floor.json');
  await answer.arrayBuffer();
  writeFileSync(file, JSON.stringify({ pages, headers: headersOf(answer) }));
  return startServer('bench/peers/floor-http.ts', [], { ...environment, PAGES: file });
}
