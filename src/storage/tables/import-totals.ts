import type { Store } from '../store.ts';

/** Imports that began in a period, by how they were started and how they ended. */
interface ImportTotal {
  readonly via: string;
  readonly result: string;
  readonly imports: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** Counts the imports whose id follows `since`, without dry runs, and their rows. */
export async function countImports(store: Store, since: string): Promise<readonly ImportTotal[]> {
  const rows = await store.readDirectory(
    `select via, result, count(*) as imports, coalesce(sum(inserted + updated + unchanged), 0) as accepted,
       coalesce(sum(rejected), 0) as rejected
     from import_history where id > $1 and options not like '%dry-run%' group by via, result`,
    [since],
  );
  return rows.map((row) => ({
    via: String(row.via),
    result: String(row.result),
    imports: Number(row.imports),
    accepted: Number(row.accepted),
    rejected: Number(row.rejected),
  }));
}
