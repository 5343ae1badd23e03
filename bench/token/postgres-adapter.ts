import type pg from 'pg';

const createTable = `create table if not exists oidc_payload (
  model text not null, id text not null, payload json not null, grant_id text, expires_at bigint, consumed_at bigint,
  primary key (model, id))`;
const createIndex =
  'create index if not exists oidc_payload_grant on oidc_payload (grant_id) where grant_id is not null';

/** Creates the table of the adapter. */
export async function createAdapterTable(pool: pg.Pool): Promise<void> {
  await pool.query(createTable);
  await pool.query(createIndex);
}

/** The storage interface of oidc-provider, as far as this benchmark uses it. */
export interface Adapter {
  upsert(id: string, payload: Readonly<Record<string, unknown>>, expiresInSeconds: number | undefined): Promise<void>;
  find(id: string): Promise<object | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** Storage of oidc-provider in one PostgreSQL table: one prepared statement per call. */
export function createPostgresAdapter(pool: pg.Pool): (model: string) => Adapter {
  const run = async (name: string, text: string, values: readonly unknown[]) =>
    (await pool.query({ name, text, values: [...values] })).rows;
  return (model) => ({
    async upsert(id: string, payload: Readonly<Record<string, unknown>>, expiresInSeconds: number | undefined) {
      const expiresAt = expiresInSeconds === undefined ? null : nowSeconds() + expiresInSeconds;
      await run(
        'upsert',
        `insert into oidc_payload (model, id, payload, grant_id, expires_at) values ($1, $2, $3, $4, $5)
         on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id, expires_at = excluded.expires_at`,
        [model, id, JSON.stringify(payload), payload.grantId ?? null, expiresAt],
      );
    },
    async find(id: string) {
      const [row] = await run(
        'find',
        'select payload, consumed_at from oidc_payload where model = $1 and id = $2 and (expires_at is null or expires_at > $3)',
        [model, id, nowSeconds()],
      );
      return row && (row.consumed_at === null ? row.payload : { ...row.payload, consumed: Number(row.consumed_at) });
    },
    async consume(id: string) {
      await run('consume', 'update oidc_payload set consumed_at = $3 where model = $1 and id = $2', [
        model,
        id,
        nowSeconds(),
      ]);
    },
    async destroy(id: string) {
      await run('destroy', 'delete from oidc_payload where model = $1 and id = $2', [model, id]);
    },
    async revokeByGrantId(grantId: string) {
      await run('revoke', 'delete from oidc_payload where grant_id = $1', [grantId]);
    },
  });
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);
