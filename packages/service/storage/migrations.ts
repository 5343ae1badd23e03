import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StorageError } from './error.ts';
import type { StoreCheck } from './store.ts';

/** One numbered step of a schema, in plain SQL. Never edited after a release. */
export interface Migration {
  /** File name without its extension: `0001-initial`. */
  readonly name: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
  /**
   * The oldest schema that a program must know to work after this migration, from the file's first
   * line; a name of a migration.
   */
  readonly oldestSchema: string;
  /** Its statements, each sent as one message. */
  readonly statements: readonly string[];
}

export type AppliedMigration = Pick<Migration, 'name' | 'checksum' | 'oldestSchema'>;

/** The databases that a store can use. */
type Engine = 'sqlite' | 'postgres';

/** Migrations by engine, read once: an upgrade may replace the files of a running process. */
const listed = new Map<Engine, readonly Migration[]>();

/** The migrations of an engine in the order of their numbers. */
export function listMigrations(engine: Engine): readonly Migration[] {
  const migrations = listed.get(engine) ?? readMigrations(engine);
  listed.set(engine, migrations);
  return migrations;
}

function readMigrations(engine: Engine): readonly Migration[] {
  const folder = new URL(`./migrations/${engine}/`, import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files
    .sort()
    .map((file) => parseMigration(file.slice(0, -'.sql'.length), readFileSync(new URL(file, folder), 'utf8')));
}

/**
 * Parses a migration file. Throws `SyntaxError` if the first line does not name the oldest schema.
 */
export function parseMigration(name: string, text: string): Migration {
  const oldestSchema = /^-- Oldest schema a program must know: (\d{4}-[\w-]+)\n/.exec(text)?.[1];
  if (oldestSchema === undefined) {
    throw new SyntaxError(
      `Cannot read the migration '${name}': its first line must name the oldest schema that works with it, such as '-- Oldest schema a program must know: ${name}' (CONTRIBUTING.md): current value is '${text.split('\n', 1)[0]}'`,
    );
  }
  const checksum = createHash('sha256').update(text).digest('hex');
  return { name, checksum, oldestSchema, statements: splitStatements(text) };
}

/**
 * Throws `StorageError` `UNUSABLE` if a migration has not been applied, or as `pendingMigrations`
 * does. `database` names the store in the message.
 */
export function requireMigrated(engine: Engine, applied: readonly AppliedMigration[], database: string): void {
  if (pendingMigrations(listMigrations(engine), applied).length === 0) return;
  throw new StorageError('UNUSABLE', `Cannot use ${database}: its schema must be up to date; run 'subreport migrate'`);
}

/**
 * The migrations that have not been applied. A store migrated by a newer version can be used if
 * this program knows the oldest schema that each newer migration names. Throws `StorageError`
 * `UNUSABLE` if it does not, if a known migration was applied with a different text, and if the
 * store was created before the first release, whose first migration replaced all that there were.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  const [first] = known;
  if (applied.some(({ name, checksum }) => name === first?.name && checksum !== first.checksum)) {
    throw new StorageError(
      'UNUSABLE',
      `Cannot use the database: it must have been created by a released version of subreport: current value is a database of a development version, at '${applied.at(-1)?.name}'; export the records with that version and import them into an empty database, or start with an empty one`,
    );
  }
  for (const { name, checksum, oldestSchema } of applied) {
    const migration = byName.get(name);
    if (migration === undefined && !byName.has(oldestSchema)) {
      throw new StorageError(
        'UNUSABLE',
        `Cannot use the database: it was migrated by a newer version of subreport, and since migration '${name}' a program must know the schema '${oldestSchema}': current value is '${known.at(-1)?.name}'; install the newer version or restore a backup`,
      );
    }
    if (migration !== undefined && migration.checksum !== checksum) {
      throw new StorageError(
        'UNUSABLE',
        `Cannot use the database: migration '${name}' was changed after it had been applied; install an unchanged subreport`,
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}

/**
 * A check that fails if an index or a trigger of the migrations is missing, such as one that keeps
 * the audit log; nothing otherwise, nor for a schema of a newer version.
 */
export function checkObjects(
  engine: Engine,
  applied: readonly AppliedMigration[],
  present: readonly string[],
): readonly StoreCheck[] {
  const known = listMigrations(engine);
  if (applied.length !== known.length) return [];
  const missing = [...createdObjects(known)].filter((name) => !present.includes(name)).sort();
  if (missing.length === 0) return [];
  const message = `Cannot rely on the schema: each index and trigger must be there, as the migrations created it: missing are ${missing.join(', ')}; create them again as the migrations do, or restore a backup`;
  return [{ check: 'objects', ok: false, message }];
}

/** The indexes and triggers that migrations leave. */
function createdObjects(migrations: readonly Migration[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const [, action, name = ''] = /^(create|drop) (?:index|trigger) (\w+)/m.exec(statement) ?? [];
    if (action === 'create') names.add(name);
    if (action === 'drop') names.delete(name);
  }
  return names;
}

/** All applied migrations. `*`, as databases of development versions may lack a column. */
export const selectMigrations = 'select * from schema_migration order by name';

/** A row of `selectMigrations`. */
export function toAppliedMigration(row: Readonly<Record<string, unknown>>): AppliedMigration {
  const { name, checksum, oldest_schema: oldestSchema } = row;
  return { name: String(name), checksum: String(checksum), oldestSchema: String(oldestSchema ?? name) };
}

export const recordMigration = ({ name, checksum, oldestSchema }: Migration) =>
  [
    'insert into schema_migration (name, checksum, oldest_schema) values ($1, $2, $3)',
    [name, checksum, oldestSchema],
  ] as const satisfies readonly [sql: string, values: string[]];

/**
 * Splits SQL text into its statements: at each `;` that ends a line outside of a `$$` body.
 * Comments before a statement stay with it.
 */
export function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let current: string[] = [];
  let inBody = false;
  for (const line of text.split('\n')) {
    current.push(line);
    if ((line.split('$$').length - 1) % 2 === 1) inBody = !inBody;
    if (!inBody && line.trimEnd().endsWith(';')) {
      statements.push(current.join('\n').trim());
      current = [];
    }
  }
  if (current.some((line) => line.trim() !== '' && !line.startsWith('--'))) {
    throw new SyntaxError(
      `Cannot split SQL into statements: the last one must end with ';': current value is '${current.join(' ').trim()}'`,
    );
  }
  return statements;
}
