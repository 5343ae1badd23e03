import { authMutants } from './auth.ts';
import { clientMutants } from './client.ts';
import { consoleMutants } from './console.ts';
import { countsMutants } from './counts.ts';
import { historyMutants } from './history.ts';
import { httpMutants } from './http.ts';
import type { Mutant } from './mutant.ts';
import { pagesMutants } from './pages.ts';
import { reportMutants } from './report.ts';
import { serviceMutants } from './service.ts';
import { storeMutants } from './store.ts';
import { syncMutants } from './sync.ts';
import { tablesMutants } from './tables.ts';

/** All mutants, by the part of the service that they change: one file each. */
export const areas = {
  auth: authMutants,
  http: httpMutants,
  report: reportMutants,
  counts: countsMutants,
  pages: pagesMutants,
  history: historyMutants,
  tables: tablesMutants,
  store: storeMutants,
  service: serviceMutants,
  client: clientMutants,
  sync: syncMutants,
  console: consoleMutants,
} as const satisfies Readonly<Record<string, readonly Mutant[]>>;

export const mutants: readonly Mutant[] = Object.values(areas).flat();
