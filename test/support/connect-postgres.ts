import pg from 'pg';

/** Connects to a PostgreSQL server; the caller ends the connection. */
export async function connectPostgres(connectionString: string | undefined): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}
