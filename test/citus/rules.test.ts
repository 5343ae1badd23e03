import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { listMigrations } from '../../packages/service/storage/migrations.ts';

// Rules of Citus that the schema must satisfy (docs/decisions/storage.md#citus), checked
// without a cluster.

const schema = readFileSync(
  new URL('../../packages/service/test/storage/schema.postgres.sql', import.meta.url),
  'utf8',
);
const statements = listMigrations('postgres').flatMap(({ statements: each }) => each);
const sql = statements.map((statement) => statement.replaceAll(/--.*$/gm, ''));

/** Tables that stay on the coordinator, because they belong to clients or to the operator. */
const local = [
  ...['auth_key', 'client', 'client_secret', 'refresh_family', 'schema_migration'],
  ...['operator_token', 'operator_session', 'import_history', 'import_latest', 'doctor_result', 'audit_entry'],
];
const tables = [...schema.matchAll(/^create table (\w+) \(\n([^;]*)\n\);/gm)].map(([, name = '', columns = '']) => ({
  name,
  columns,
}));
const spread = tables.filter(({ name }) => !local.includes(name));
const textOf = (table: string): string => sql.filter((statement) => statement.includes(`'${table}'`)).join('\n');

/** The sweeps look for the tenants that are due on a day. */
const acrossTenants = /INDEX tenant_revision_(?:day|due) /;

describe('the schema for Citus', () => {
  test.each(spread.map(({ name }) => name).filter((name) => name !== 'tenant'))(
    '%s is distributed by tenant, beside its tenant',
    (table) => {
      expect(textOf(table)).toContain(`create_distributed_table('${table}', 'tenant_id', colocate_with => 'tenant')`);
    },
  );

  test('has no references between tables on the coordinator and distributed tables', () => {
    const references = [...schema.matchAll(/^alter table (\w+) add constraint \w+ FOREIGN KEY .* REFERENCES (\w+)/gm)];
    const crossing = references.filter(([, from = '', to = '']) => local.includes(from) !== local.includes(to));
    expect(crossing.map(([text]) => text)).toEqual([]);
  });

  test('begins each key and index of a distributed table with its tenant', () => {
    const keys = [
      ...schema.matchAll(/^alter table (\w+) add constraint \w+ (?:PRIMARY KEY|UNIQUE|FOREIGN KEY) \((\w+)/gm),
      ...schema.matchAll(/^CREATE (?:UNIQUE )?INDEX \w+ ON public\.(\w+) USING \w+ \((\w+)/gm),
    ].filter(([, table = '']) => !local.includes(table));
    expect(keys.length).toBeGreaterThan(20);
    const wrong = keys.filter(([, table, column]) => column !== (table === 'tenant' ? 'id' : 'tenant_id'));
    expect(wrong.filter(([text]) => !acrossTenants.test(text)).map(([text]) => text)).toEqual([]);
  });

  test('has no triggers on distributed tables, and migrations use the extension only where it exists', () => {
    const triggers = sql.flatMap(
      (statement) => /\bcreate\s+(?:\w+\s+)*trigger\b.*?\son\s+(\w+)/is.exec(statement)?.[1] ?? [],
    );
    expect(triggers.length).toBeGreaterThan(0);
    expect(triggers.filter((table) => !local.includes(table))).toEqual([]);
    const calls = sql.filter((statement) => /_table\('|\bpg_dist_|\bcitus_/.test(statement));
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter((statement) => !statement.includes("where extname = 'citus') then"))).toEqual([]);
  });

  test('drops one index per statement, because Citus rejects several', () => {
    const several = /\bdrop\s+index\b[^;]*,/i;
    expect('drop index tenant_created, tenant_name;').toMatch(several);
    expect(sql.filter((statement) => several.test(statement))).toEqual([]);
  });

  test.each(local)('%s stays on the coordinator', (table) => {
    expect(textOf(table)).not.toContain(`create_distributed_table('${table}'`);
  });
});
