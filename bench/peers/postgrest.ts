import { createServer } from 'node:http';
import { importSPKI, jwtVerify } from 'jose';
import pg from 'pg';

// The method of PostgREST 16 in node:http, as its documentation describes it: each request is one
// read-only transaction, which sets the role and the claims of the token, and runs one prepared
// statement that filters, embeds the product, counts the rows once and builds the JSON. Row-level
// security restricts it to the tenant of the claims. Tables: `peer-schema.sql`. The filters have
// the names of our report, so that both read the same requests. It keeps verified tokens in
// memory, as PostgREST does.

const publicKey = await importSPKI(process.env.PUBLIC_KEY ?? '', 'RS256');
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const verified = new Map<string, string>();

/** The claims of a token as JSON. Throws unless it is valid. */
async function claimsOf(token: string): Promise<string> {
  const known = verified.get(token);
  if (known !== undefined) return known;
  const { payload } = await jwtVerify(token, publicKey, { issuer: 'https://issuer.example', audience: 'reports' });
  const claims = JSON.stringify(payload);
  verified.set(token, claims);
  return claims;
}

const setUp = `select set_config('search_path', 'peer', true), set_config('role', $1, true),
  set_config('request.jwt.claims', $2, true), set_config('request.method', 'GET', true),
  set_config('request.path', '/subscription', true), set_config('request.headers', $3, true),
  set_config('request.cookies', '{}', true)`;

function statementOf(conditions: readonly string[], direction: 'asc' | 'desc', limit: string, offset: string): string {
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  return `with pgrst_source as (
      select s.id, s.status, s.activated_at, s.expires_at, s.created_at, s.iccid, s.device_id, s.auto_renew, row_to_json(p.*)::jsonb as product
      from peer.subscription s left join lateral (
        select id, name, period, period_unit, plan_id from peer.product where id = s.product_id
      ) p on true${where} order by s.created_at ${direction}, s.id ${direction} limit ${limit} offset ${offset}
    ), pgrst_source_count as (select 1 from peer.subscription s${where})
    select (select count(*) from pgrst_source_count) as total_result_set, coalesce(json_agg(page), '[]') as body,
      nullif(current_setting('response.headers', true), '') as response_headers,
      nullif(current_setting('response.status', true), '') as response_status
    from (select * from pgrst_source) as page`;
}

const server = createServer(async (request, response) => {
  if (request.url === '/healthz') return void response.end('ok');
  let claims: string;
  try {
    claims = await claimsOf(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  } catch {
    return void response.writeHead(401).end();
  }
  const query = new URL(request.url ?? '', 'http://127.0.0.1').searchParams;
  const size = Number(query.get('size') ?? 20);
  const offset = (Number(query.get('page') ?? 1) - 1) * size;
  const conditions: string[] = [];
  const values: unknown[] = [];
  for (const [name, column] of Object.entries({ after: 'created_at >', before: 'created_at <' })) {
    const value = query.get(name);
    if (value === null) continue;
    values.push(value);
    conditions.push(`s.${column} $${values.length}`);
  }
  const direction = query.get('sort') === '-createdDate' ? 'desc' : 'asc';
  const text = statementOf(conditions, direction, `$${values.length + 1}`, `$${values.length + 2}`);
  const client = await pool.connect();
  try {
    await client.query('begin isolation level read committed read only');
    await client.query({
      name: 'set up',
      text: setUp,
      values: ['peer_reader', claims, JSON.stringify(request.headers)],
    });
    const { rows } = await client.query({
      name: `${conditions.length} ${direction}`,
      text,
      values: [...values, size, offset],
    });
    await client.query('commit');
    const [{ total_result_set: total, body }] = rows as [{ total_result_set: string; body: string }];
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-range': `${offset}-${offset + size - 1}/${total}`,
      'x-total-count': total,
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  } catch (error) {
    response.writeHead(500).end(String(error));
  } finally {
    client.release();
  }
});

// the JSON that PostgreSQL has built is sent as it is
pg.types.setTypeParser(pg.types.builtins.JSON, String);
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
