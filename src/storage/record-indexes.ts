import { StorageError } from './error.ts';
import { type AppliedMigration, type Engine, listMigrations } from './migrations.ts';

/** An index of the records besides the primary key. */
export interface RecordIndex {
  readonly name: string;
  /** The statement that creates it unless it exists. */
  readonly sql: string;
}

/** Indexes that a load reads: when it splits a leaf of the counts. */
const readByLoads = new Set(['subscription_created', 'subscription_product']);

/**
 * The indexes of the records as the applied migrations leave them. Empty if one of these belongs to
 * a newer version, which may have other indexes.
 */
export function recordIndexes(engine: Engine, applied: readonly AppliedMigration[]): readonly RecordIndex[] {
  const indexes = new Map<string, RecordIndex>();
  for (const sql of appliedStatements(engine, applied)) {
    const [, action, name = ''] = /^(create|drop) index (subscription_\w+)/m.exec(sql) ?? [];
    if (action === 'drop') indexes.delete(name);
    if (action === 'create' && /\bon subscription \(/.test(sql))
      indexes.set(name, { name, sql: sql.replace('create index', 'create index if not exists') });
  }
  return [...indexes.values()];
}

/** The names of the indexes that a load can leave out and build at its end. */
export const deferredIndexes = (indexes: readonly RecordIndex[]): readonly string[] =>
  indexes.map(({ name }) => name).filter((name) => !readByLoads.has(name));

/** Throws `StorageError` `UNUSABLE` if indexes are missing. */
export function requireIndexes(missing: readonly RecordIndex[]): void {
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(', ');
  throw new StorageError(
    'UNUSABLE',
    `Cannot rely on the schema: the records must have all indexes, and a first import, which is running or was interrupted, has left out ${names}; run 'subreport migrate' if none is running`,
  );
}

/** The statements that write SQLite's fixed statistics, of which `drop index` removes some. */
export const statisticsStatements = (applied: readonly AppliedMigration[]): readonly string[] =>
  appliedStatements('sqlite', applied).filter((sql) => /\bsqlite_stat1\b/.test(sql));

function appliedStatements(engine: Engine, applied: readonly AppliedMigration[]): readonly string[] {
  const known = new Map(listMigrations(engine).map(({ name, statements }) => [name, statements]));
  if (applied.some(({ name }) => !known.has(name))) return [];
  return applied.flatMap(({ name }) => known.get(name) ?? []);
}
