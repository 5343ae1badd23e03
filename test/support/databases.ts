import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

// Databases of tests, on one PostgreSQL server or on all nodes of a Citus cluster: `create
// database` alone would make a database without the extension, in which a suite tests plain
// PostgreSQL.

/** What a new database has. */
interface NewDatabase {
  readonly owner?: string;
  /** A database of the same server, or of the same cluster, that `sealTemplate` closed. */
  readonly template?: string;
}

/** URLs of databases without the extension, which none gets later. */
const plainServers = new Set<string>();

/**
 * URLs of the superuser on all nodes of the cluster that a database coordinates, the coordinator
 * first; only the URL itself if the database has no Citus extension.
 */
export async function nodesOf(url: string): Promise<readonly string[]> {
  if (plainServers.has(url)) return [url];
  const [{ found } = { found: false }] = await query(url, 'select to_regclass($$pg_dist_node$$) is not null as found');
  if (found !== true) {
    plainServers.add(url);
    return [url];
  }
  const rows = await query(url, 'select nodename, nodeport from pg_dist_node where isactive order by groupid');
  return rows.map(({ nodename, nodeport }) => {
    const node = new URL(url);
    node.hostname = String(nodename);
    node.port = String(nodeport);
    return node.href;
  });
}

/** Creates a database; on a cluster with the extension and the nodes of the cluster. */
export async function createDatabase(url: string, name: string, { owner, template }: NewDatabase = {}): Promise<void> {
  const nodes = await nodesOf(url);
  const isCluster = nodes.length > 1;
  const ownedBy = owner === undefined ? '' : ` owner ${owner}`;
  // copying files takes half the CPU time of writing the copy to the log, the default
  const from = template === undefined ? '' : ` template ${template} strategy file_copy`;
  // concurrent copies of one template would fail
  await withLock(url, () =>
    onEach(nodes, async (node) => {
      // the daemon of Citus connects to each database
      if (isCluster && template !== undefined) await query(node, endSessions, [template]);
      await ask(node, `create database ${name}${ownedBy}${from}`);
      if (!isCluster || template !== undefined) return;
      await query(inDatabase(node, name), 'create extension citus');
      if (owner !== undefined) await query(inDatabase(node, name), `grant create on schema public to ${owner}`);
    }),
  );
  if (!isCluster || template !== undefined) return;
  const [coordinator = url, ...workers] = nodes.map((node) => inDatabase(node, name));
  const place = (node: string) => [new URL(node).hostname, new URL(node).port];
  await query(coordinator, 'select citus_set_coordinator_host($1, $2)', place(coordinator));
  for (const worker of workers) await query(coordinator, 'select citus_add_node($1, $2)', place(worker));
}

/** Drops a database, if it exists, with its sessions. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await onEach(await nodesOf(url), (node) =>
    whenUnused(() => ask(node, `drop database if exists ${name} with (force)`)),
  );
}

/**
 * Repeats work on a database for five seconds while others use it: the daemon of Citus that starts
 * in each one is not ended with the sessions.
 */
async function whenUnused(work: () => Promise<unknown>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== '55006' || failures === 20) throw error;
      await sleep(250);
    }
  }
}

/** Lets no session open a template any more, on a cluster: a copy fails while one is open. */
export async function sealTemplate(url: string, name: string): Promise<void> {
  const nodes = await nodesOf(url);
  if (nodes.length === 1) return;
  await onEach(nodes, (node) => query(node, `alter database ${name} allow_connections false`));
}

/** Creates a role that may log in, on every node. */
export async function createRole(url: string, role: string): Promise<void> {
  for (const node of await nodesOf(url)) {
    const found = await query(node, 'select 1 from pg_roles where rolname = $1', [role]);
    if (found.length === 0) await query(node, `create role ${role} login`);
  }
}

/**
 * The documented setting of a role that connects through a pooler, which ignores start-up options.
 */
export async function allowPooler(url: string, name: string, role: string): Promise<void> {
  if ((await nodesOf(url)).length === 1) return;
  await query(
    inDatabase(url, name),
    `alter role ${role} in database ${name} set citus.propagate_set_commands = 'local'`,
  );
}

const endSessions = 'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1';

function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

const onEach = (nodes: readonly string[], work: (node: string) => Promise<unknown>): Promise<unknown> =>
  Promise.all(nodes.map(work));

async function withLock(url: string, work: () => Promise<unknown>): Promise<void> {
  await ask(url, 'select pg_advisory_lock(1)');
  try {
    await work();
  } finally {
    await ask(url, 'select pg_advisory_unlock(1)');
  }
}

/** One connection of this process to each server. */
const pools = new Map<string, pg.Pool>();

/**
 * Runs a statement on the kept connection to a server: opening one takes 8 ms of CPU time, and
 * creating a database 25 ms.
 */
async function ask(url: string, sql: string): Promise<void> {
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
  if (!pools.has(url)) pool.on('error', () => undefined); // the server stops at the end of the run
  pools.set(url, pool);
  await pool.query(sql);
}

async function query(url: string, sql: string, values: readonly string[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}
