import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listMigrations } from '../../packages/service/storage/migrations.ts';
import { mainProgram } from './run-command.ts';

/** A later version of this program: the same bundle with one more migration. */
export interface NewerVersion {
  /** Path of its main module, in `packages/service/cli/`. */
  readonly main: string;
  /** Name of its last migration. */
  readonly schema: string;
  remove(): void;
}

interface NewerVersionOptions {
  readonly compatible: boolean;
  /** The main module of the bundle, if not that of a run of tests. */
  readonly program?: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const last = listMigrations('sqlite').at(-1);
/** Name of the last migration of this version. */
export const currentSchema = last?.name ?? '';

/**
 * Copies the bundle of a run of tests and the migrations, and adds a migration whose oldest schema
 * is that of this version's last one (`compatible`), so that the version before this one can run
 * beside it too, or its own. If `NEWER_VERSION` names the folder of a real later
 * version, that is used instead of a compatible copy.
 */
export function makeNewerVersion({ compatible, program = mainProgram }: NewerVersionOptions): NewerVersion {
  const given = process.env.NEWER_VERSION;
  if (compatible && given !== undefined) return realVersion(given);
  const folder = mkdtempSync(join(tmpdir(), 'subreport-newer-'));
  linkEntries('', folder, 'packages');
  linkEntries('packages', folder, 'service');
  linkEntries('packages/service', folder, 'cli', 'storage');
  linkEntries('packages/service/storage', folder, 'migrations');
  cpSync(join(root, 'packages/service/storage/migrations'), join(folder, 'packages/service/storage/migrations'), {
    recursive: true,
  });
  copyBundle(dirname(program), folder);
  const schema = `${String(listMigrations('sqlite').length + 1).padStart(4, '0')}-newer`;
  const header = `-- Oldest schema a program must know: ${compatible ? last?.oldestSchema : schema}\n`;
  for (const engine of ['sqlite', 'postgres'])
    writeFileSync(
      join(folder, `packages/service/storage/migrations/${engine}/${schema}.sql`),
      header + additions(engine),
    );
  return {
    main: join(folder, 'packages/service/cli', basename(program)),
    schema,
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Links the entries of a folder of the repository, except some. */
function linkEntries(path: string, folder: string, ...except: readonly string[]): void {
  mkdirSync(join(folder, path), { recursive: true });
  for (const entry of readdirSync(join(root, path)))
    if (!except.includes(entry)) symlinkSync(join(root, path, entry), join(folder, path, entry));
}

/** The modules of the bundle find other files by the paths of their sources. */
function copyBundle(from: string, folder: string): void {
  const to = join(folder, 'packages/service/cli');
  const [sources, copied] = [pathToFileURL(join(root, 'packages')).href, pathToFileURL(join(folder, 'packages')).href];
  mkdirSync(to);
  for (const name of readdirSync(from))
    writeFileSync(join(to, name), readFileSync(join(from, name), 'utf8').replaceAll(sources, copied));
}

function realVersion(folder: string): NewerVersion {
  const files = readdirSync(join(folder, 'packages/service/storage/migrations/sqlite')).sort();
  return {
    main: join(folder, 'packages/service/cli/main.ts'),
    schema: files.at(-1)?.slice(0, -'.sql'.length) ?? '',
    remove: () => undefined,
  };
}

/**
 * Everything that an additive migration may do to each table: add a nullable column, one with a
 * default, and an index; and a new table.
 */
function additions(engine: string): string {
  const dump = readFileSync(join(root, `packages/service/test/storage/schema.${engine}.sql`), 'utf8');
  const found = [...dump.matchAll(/^create table (\w+)/gim)].map(([, table]) => table);
  // the order in which requests lock them (CONTRIBUTING.md)
  const tables = new Set(['tenant', 'subscription', ...found]);
  const added = Array.from(
    tables,
    (table) => `alter table ${table} add column newer_text text;
alter table ${table} add column newer_number bigint not null default 7;
create index ${table}_newer on ${table} (newer_text);
`,
  );
  return `${added.join('')}create table newer (id text not null primary key);\n`.replaceAll(
    'bigint',
    engine === 'sqlite' ? 'integer' : 'bigint',
  );
}
