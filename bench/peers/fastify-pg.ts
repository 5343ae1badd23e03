import Fastify from 'fastify';
import { importSPKI, jwtVerify } from 'jose';
import pg from 'pg';

// A hand-written service for comparison: the same report with Fastify and pg, with products in a
// separate table (JOIN), OFFSET and count(*), and tokens verified by jose, each once. Tables:
// `peer-schema.sql`. It returns the same responses as our service, so that both do the same work.

interface Query {
  readonly size?: string;
  readonly page?: string;
  readonly after?: string;
  readonly before?: string;
  readonly 'product-id'?: string;
  readonly iccid?: string;
  readonly sort?: string;
}

const publicKey = await importSPKI(process.env.PUBLIC_KEY ?? '', 'RS256');
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = Fastify();
const verified = new Map<string, { readonly tenant: unknown; readonly until: number }>();

async function tenantOf(token: string): Promise<unknown> {
  const known = verified.get(token);
  if (known !== undefined && known.until > Date.now()) return known.tenant;
  const { payload } = await jwtVerify(token, publicKey, { issuer: 'https://issuer.example', audience: 'reports' });
  verified.set(token, { tenant: payload.tenant, until: 1000 * (payload.exp ?? 0) });
  return payload.tenant;
}

app.get('/healthz', async () => ({ status: 'ok' }));

app.get<{ Querystring: Query }>('/connect-api/v1/subscription', async (request, reply) => {
  let tenant: unknown;
  try {
    tenant = await tenantOf(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  } catch {
    return reply.code(401).send({ error: 'invalid_token' });
  }
  const size = Number(request.query.size ?? 20);
  const page = Number(request.query.page ?? 1);
  if (!(size >= 1 && size <= 1000 && page >= 1)) return reply.code(400).send({ error: 'size or page' });

  const values: unknown[] = [tenant];
  const conditions = ['s.tenant_id = $1'];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  add('s.created_at >', request.query.after);
  add('s.created_at <', request.query.before);
  add('s.product_id =', request.query['product-id']);
  add('s.iccid =', request.query.iccid);
  const where = conditions.join(' and ');
  const direction = request.query.sort === '-createdDate' ? 'desc' : 'asc';

  const counted = await pool.query(`select count(*) as total from peer.subscription s where ${where}`, values);
  const total = Number(counted.rows[0].total);
  const { rows } = await pool.query(
    `select s.id, s.status, s.activated_at, s.expires_at, s.created_at, s.iccid, s.device_id, s.auto_renew,
            p.id as product_id, p.name as product_name, p.period, p.period_unit, p.plan_id
     from peer.subscription s join peer.product p on p.id = s.product_id
     where ${where}
     order by s.created_at ${direction}, s.id ${direction}
     limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, size, (page - 1) * size],
  );
  const pages = Math.ceil(total / size);
  reply.header('x-total-count', total);
  reply.header('x-total-pages', pages);
  reply.header('x-current-page', page);
  if (page < pages) {
    const url = new URL(request.url, 'http://127.0.0.1');
    url.searchParams.set('page', String(page + 1));
    reply.header('x-next-page', url.href);
  }
  const records = rows.map((row) => ({
    id: row.id,
    ...(row.status !== null && { status: row.status }),
    activationDate: instant(row.activated_at),
    expirationDate: instant(row.expires_at),
    createdDate: instant(row.created_at),
    product: {
      id: row.product_id,
      name: row.product_name,
      period: row.period,
      period_unit: row.period_unit,
      plan_id: row.plan_id,
    },
    iccid: row.iccid,
    device_id: row.device_id,
    auto_renew: String(row.auto_renew),
  }));
  return records;
});

const instant = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
