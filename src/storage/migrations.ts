import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StorageError } from './error.ts';

/** One numbered step of a schema, in plain SQL; never edited after release. */
export interface Migration {
  /** File name without its ending: `0001-initial`. */
  readonly name: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
  /** Its statements, each to be sent as a message of its own. */
  readonly statements: readonly string[];
}

/** What the store remembers of a migration that it has applied. */
export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** The migrations of an engine in the order of their numbers. */
export function listMigrations(engine: 'sqlite' | 'postgres'): readonly Migration[] {
  const folder = new URL(`./migrations/${engine}/`, import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    const checksum = createHash('sha256').update(text).digest('hex');
    return { name: file.slice(0, -'.sql'.length), checksum, statements: splitStatements(text) };
  });
}

/**
 * The migrations that are still to be applied. A store that knows more than this program, or another text under a known name, is refused: nothing
 * good comes of guessing.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of applied) {
    const migration = byName.get(name);
    if (migration === undefined) {
      throw new StorageError(
        'UNUSABLE',
        `Cannot use the database: it was migrated by a newer version of subreport (migration '${name}' is not known here); install that version or restore a backup`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new StorageError(
        'UNUSABLE',
        `Cannot use the database: migration '${name}' was changed after it had been applied; install an unchanged subreport`,
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}

/** Splits SQL text into its statements: at each `;` that ends a line outside of a `$$` body. Comments before a statement stay with it. */
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
