import { describe, expect, test } from 'vitest';
import { findNonAdditive } from '../../../../test/support/non-additive.ts';
import { listMigrations, type Migration, parseMigration } from '../../storage/migrations.ts';

const header = '-- Oldest schema a program must know: 0001-initial\n';
const additive = (sql: string): readonly string[] => findNonAdditive(parseMigration('0099-next', header + sql));

describe('a migration file', () => {
  test('without the oldest schema in its first line is refused', () => {
    for (const text of ['', 'create table a (b text);\n', `\n${header}`, '-- Oldest schema a program must know:\n'])
      expect(() => parseMigration('0002-next', text)).toThrow(/^Cannot read the migration '0002-next': .* first line/);
    expect(parseMigration('0002-next', header).oldestSchema).toBe('0001-initial');
  });
});

describe.each(['sqlite', 'postgres'] as const)('the migrations of %s', (engine) => {
  const migrations = listMigrations(engine);

  test('name an oldest schema that exists and is not a later one', () => {
    const wrong = migrations.filter(
      ({ name, oldestSchema = name }) =>
        oldestSchema > name || !migrations.some((other) => other.name === oldestSchema),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('only add to the schema where they say that an older program keeps working', () => {
    expect(migrations.flatMap(findNonAdditive)).toEqual([]);
  });
});

test('both engines name the same oldest schema for a migration', () => {
  const pairs = (list: readonly Migration[]) => list.map(({ name, oldestSchema }) => [name, oldestSchema]);
  expect(pairs(listMigrations('sqlite'))).toEqual(pairs(listMigrations('postgres')));
});

describe('a migration that claims to work with older programs', () => {
  test.each([
    'drop table tenant;',
    'alter table tenant drop column revision;',
    'drop function set_tenant;',
    'alter table tenant rename column revision to version;',
    'alter table tenant rename to customer;',
    'alter table tenant alter column revision type text;',
    'alter table tenant alter revision set data type text;',
    'alter table tenant alter column created_at set not null;',
    'alter table tenant add column kind text not null;',
    'alter table tenant add kind text not null, add column size bigint default 1;',
    'alter table tenant add column size bigint default 1, add column kind text not null;',
    'alter table tenant add constraint positive check (revision >= 0);',
    'alter table tenant add column kind text check (kind <> revision);',
    'create unique index tenant_created on tenant (created_at);',
    'create trigger t after insert on tenant begin select 1; end;',
    'alter table client enable row level security;',
    'create policy p on client using (true);',
    'truncate tenant;',
    'do $$ begin\n  alter table tenant\n    drop column revision;\nend $$;',
    'create table copy (id text);\ninsert into copy select id from tenant;\ndrop table tenant;\nalter table copy rename to tenant;',
  ])('must not do this: %j', (sql) => {
    expect(additive(sql)).not.toEqual([]);
  });

  test.each([
    'alter table tenant add column kind text;',
    "alter table tenant add column kind text not null default 'a', add size bigint default 1 not null;",
    'create index tenant_created on tenant (created_at);',
    'drop index tenant_created;',
    'create table extra (id text not null unique check (id <> $$a$$));\nalter table extra enable row level security;\ncreate policy p on extra using (true);\ncreate unique index extra_id on extra (id);',
    '-- We would rename or drop table tenant.\nupdate tenant set revision = 0;',
  ])('may do this: %j', (sql) => {
    expect(additive(sql)).toEqual([]);
  });

  test('may remove what its oldest schema no longer uses, if it says so', () => {
    const sql = '-- Contract: programs since 0004 read nothing of it.\nalter table tenant drop column created_at;';
    expect(additive(sql)).toEqual([]);
  });

  test('may do anything if it names itself, because older programs are refused', () => {
    const own = '-- Oldest schema a program must know: 0099-next\ndrop table tenant;';
    expect(findNonAdditive(parseMigration('0099-next', own))).toEqual([]);
  });
});
