import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StorageError } from './error.ts';

/** One numbered step of a schema, in plain SQL; never edited after release. */
export interface Migration {
  /** File name without its ending: `0001-initial`. */
  readonly name: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
  /**
   * The oldest schema that a program must know to work after this migration, from the file's first
   * line. Undefined: it must know the migration itself.
   */
  readonly oldestSchema: string | undefined;
  /** Its statements, each to be sent as a message of its own. */
  readonly statements: readonly string[];
}

/** A migration that a store has applied. */
export type AppliedMigration = Pick<Migration, 'name' | 'checksum' | 'oldestSchema'>;

/** The migrations up to this one are older than the rule that a file names its oldest schema. */
const lastWithoutOldestSchema = '0004-imports';

type Engine = 'sqlite' | 'postgres';

/** Migrations by engine, read once: a later version's files may replace ours while we run. */
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
 * Reads a migration file. Throws `SyntaxError` when its first line does not name the oldest schema.
 */
export function parseMigration(name: string, text: string): Migration {
  const oldestSchema = /^-- Oldest schema a program must know: (\d{4}-[\w-]+)\n/.exec(text)?.[1];
  if (oldestSchema === undefined && name > lastWithoutOldestSchema) {
    throw new SyntaxError(
      `Cannot read the migration '${name}': its first line must name the oldest schema that works with it, such as '-- Oldest schema a program must know: ${lastWithoutOldestSchema}' (CONTRIBUTING.md): current value is '${text.split('\n', 1)[0]}'`,
    );
  }
  const checksum = createHash('sha256').update(text).digest('hex');
  return { name, checksum, oldestSchema, statements: splitStatements(text) };
}

/**
 * The migrations that are still to be applied. A store that a newer version has migrated can be
 * used as long as this program knows the oldest schema that each newer migration names. Throws
 * `StorageError` `UNUSABLE` otherwise, and when a known migration was applied with another text.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum, oldestSchema = name } of applied) {
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

/** Reads every applied migration; `*`, as `oldest_schema` exists only since migration 0005. */
export const selectMigrations = 'select * from schema_migration order by name';

/** A row of `selectMigrations`. */
export function toAppliedMigration(row: Readonly<Record<string, unknown>>): AppliedMigration {
  const { name, checksum, oldest_schema: oldestSchema } = row;
  return { name: String(name), checksum: String(checksum), oldestSchema: oldestSchema?.toString() };
}

/** The statement that records an applied migration. */
export function recordMigration({ name, checksum, oldestSchema }: Migration): readonly [sql: string, values: string[]] {
  return oldestSchema === undefined
    ? ['insert into schema_migration (name, checksum) values ($1, $2)', [name, checksum]]
    : [
        'insert into schema_migration (name, checksum, oldest_schema) values ($1, $2, $3)',
        [name, checksum, oldestSchema],
      ];
}

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
