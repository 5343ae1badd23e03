import { countedColumns } from '../counts/span.ts';
import { assignRowColumns, rowColumns } from '../subscription-row.ts';

// The statements of a replacement, over temporary tables that its transaction drops.

export const lookUpByKey = [
  ...['enable_nestloop = on', 'enable_hashjoin = off', 'enable_mergejoin = off'],
  ...['enable_seqscan = off', 'enable_bitmapscan = off'],
];

export const createTables = [
  `create temp table staged (id text collate "C" not null primary key, created_date bigint, activation_date bigint, expiration_date bigint,
     status text, product_id text, iccid text, email text, record text, plan_id text, device_id text, auto_renew text) on commit drop`,
  `create temp table kept (id text collate "C" not null, created_date bigint, product_id text, status text, email text, digest bytea) on commit drop`,
  `create temp table changed (id text collate "C" not null primary key, is_new boolean not null, created_date bigint, product_id text, status text) on commit drop`,
  `create temp table removed (id text collate "C" not null primary key, created_date bigint, product_id text, status text) on commit drop`,
];

export const stageRows = `insert into staged (${rowColumns})
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], string_to_array($9::text, chr(31)),
    $10::text[], $11::text[], $12::text[])
  on conflict (id) do update set ${assignRowColumns}`;

export const keepKeys = `insert into kept (${countedColumns}, email, digest)
  select ${countedColumns}, email, sha256(convert_to(record, 'UTF8')) from subscription where tenant_id = $1`;

export const findChanged = `insert into changed (id, is_new, created_date, product_id, status)
  select t.id, k.id is null, k.created_date, k.product_id, k.status from staged as t left join kept as k on k.id = t.id
  where k.id is null or k.email is distinct from t.email or k.digest <> sha256(convert_to(t.record, 'UTF8'))`;

export const findRemoved = `insert into removed (${countedColumns})
  select k.id, k.created_date, k.product_id, k.status from kept as k left join staged as t on t.id = k.id where t.id is null`;

export const countDifferences = `select (select count(*) from staged) as staged, (select count(*) from changed) as changed,
  (select count(*) from changed where is_new) as inserted, (select count(*) from removed) as removed`;

export const writeChanged = `insert into subscription (tenant_id, revision, ${rowColumns})
  select $1, $2::bigint, t.id, t.created_date, t.activation_date, t.expiration_date, t.status, t.product_id, t.iccid, t.email, t.record,
    t.plan_id, t.device_id, t.auto_renew
  from staged as t join changed as c on c.id = t.id order by t.created_date, t.id
  on conflict (tenant_id, id) do update set ${assignRowColumns}, revision = excluded.revision`;

export const removeRows = 'delete from subscription as s using removed as r where s.tenant_id = $1 and s.id = r.id';

export const insertTombstones = `insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2::bigint from removed
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

export const removeTombstonesOfInserted =
  'delete from subscription_tombstone as t using changed as c where t.tenant_id = $1 and t.id = c.id and c.is_new';

export const readChanges = `select c.id, not c.is_new as was, c.created_date, c.product_id, c.status, true as stays,
    t.created_date as new_created_date, t.product_id as new_product_id, t.status as new_status
  from changed as c join staged as t on t.id = c.id
  union all
  select id, true, created_date, product_id, status, false, null, null, null from removed`;
