import { type Directory, type DirectorySql, directoryStatement, type Row, type SqlValue } from '../store.ts';

/** Runs one statement of `writeDirectory`, and returns its rows. */
export async function writeOne<S extends string>(
  store: Directory,
  sql: DirectorySql<S>,
  values: readonly SqlValue[],
  options?: { readonly announce: true },
): Promise<readonly Row[]> {
  const [rows = []] = await store.writeDirectory([directoryStatement<S>(sql, values)], options);
  return rows;
}
