import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** The schema of a SQLite database as SQL, in an order that does not depend on its history. */
export function dumpSqlite(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare(
        "select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by tbl_name, type desc, name",
      )
      .all();
    return rows.map(({ sql }) => `${sql};\n`).join('\n');
  } finally {
    database.close();
  }
}

/**
 * The schema of a PostgreSQL database as SQL, from its catalogs: tables, constraints, indexes,
 * row-level security, functions.
 */
export async function dumpPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const parts: string[] = [];
    for (const query of [tables, constraints, indexes, rowSecurity, policies, functions]) {
      const { rows } = await client.query<{ sql: string }>(query);
      parts.push(...rows.map(({ sql }) => `${sql.trim()};\n`));
    }
    return parts.join('\n');
  } finally {
    await client.end();
  }
}

const inPublic = "relnamespace = 'public'::regnamespace";

const tables = `select format(E'create table %I (\\n%s\\n)', c.relname, string_agg(format('  %I %s%s%s%s', a.attname,
    format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then ' collate ' || quote_ident(l.collname) else '' end,
    case when a.attnotnull then ' not null' else '' end,
    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), E',\\n' order by a.attnum)) as sql
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relkind = 'r' and c.${inPublic} group by c.relname order by c.relname`;

const constraints = `select format('alter table %I add constraint %I %s', c.relname, n.conname, pg_get_constraintdef(n.oid)) as sql
  from pg_constraint n join pg_class c on c.oid = n.conrelid
  where c.${inPublic} and n.contype <> 'n' order by c.relname, n.conname`;

const indexes = `select pg_get_indexdef(i.indexrelid) as sql from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.${inPublic} and not exists (select 1 from pg_constraint n where n.conindid = i.indexrelid and n.contype in ('p', 'u'))
  order by c.relname`;

const rowSecurity = `select format('alter table %I enable row level security%s', relname,
    case when relforcerowsecurity then format(E';\\nalter table %I force row level security', relname) else '' end) as sql
  from pg_class where ${inPublic} and relrowsecurity order by relname`;

const policies = `select format(E'create policy %I on %I for %s\\n  using (%s)\\n  with check (%s)', policyname, tablename, lower(cmd), qual, with_check) as sql
  from pg_policies where schemaname = 'public' order by tablename, policyname`;

const functions = `select pg_get_functiondef(p.oid) as sql from pg_proc p where p.pronamespace = 'public'::regnamespace
  and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by p.proname`;
