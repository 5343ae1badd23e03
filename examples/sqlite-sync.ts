// Keeps a copy of all subscriptions in a SQLite file by reading only what changed, until it is
// stopped with Ctrl+C or SIGTERM. It continues where it was stopped or killed.
//
//   node sqlite-sync.ts FILE
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET,
//           SYNC_SECONDS (60): time between two requests
// Exit code: 0 stopped, 1 failed, 2 wrong usage
import { DatabaseSync } from 'node:sqlite';
import { createClient, type FollowPage, isRemoved, SubreportError } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [file] = process.argv.slice(2);
if (!url || !clientId || !clientSecret || !file) {
  console.error('Usage: node sqlite-sync.ts FILE, with SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET');
  process.exit(2);
}

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

const database = new DatabaseSync(file);
database.exec(`
  pragma journal_mode = wal;
  create table if not exists subscription (
    id text primary key,
    record text not null,
    status text generated always as (record ->> 'status'),
    expirationDate text generated always as (record ->> 'expirationDate'),
    productId text generated always as (record ->> '$.product.id')
  );
  create table if not exists sync (change_token text not null)`);
const put = database.prepare('insert or replace into subscription (id, record) values (?, ?)');
const remove = database.prepare('delete from subscription where id = ?');
const readToken = database.prepare('select change_token from sync');
const insertToken = database.prepare('insert into sync values (?)');
const count = database.prepare('select count(*) as records from subscription');

/** Applies a page and stores its change token in one transaction. */
function applyPage({ changes, next, reset }: FollowPage): void {
  database.exec('begin immediate');
  try {
    if (reset) database.exec('delete from subscription');
    for (const change of changes) {
      if (isRemoved(change)) remove.run(change.id);
      else put.run(change.id, JSON.stringify(change));
    }
    database.exec('delete from sync');
    insertToken.run(next);
    database.exec('commit');
  } catch (error) {
    database.exec('rollback');
    throw error;
  }
  if (changes.length === 0) return;
  const removed = changes.filter(isRemoved).length;
  const counts = `${changes.length - removed} changed, ${removed} removed, ${count.get()?.records} in the copy`;
  console.log(reset ? `full read: ${counts}` : counts);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

function report(error: unknown): void {
  if (!(error instanceof SubreportError)) throw error;
  console.error(`sqlite-sync: ${error.message} (${error.code}, correlation id ${error.correlationId})`);
}

try {
  // after 410 RESYNC_REQUIRED, for example because the service was restored from a backup,
  // everything is read again; `reset` is true on the first page
  await client.follow({
    since: readToken.get()?.change_token as string | undefined,
    onPage: applyPage,
    onError: report, // a lost connection, 429 or 5xx: the next poll tries again
    intervalMs: Number(process.env.SYNC_SECONDS ?? 60) * 1000,
    size: 1000,
    signal: stop.signal,
  });
} catch (error) {
  report(error);
  process.exitCode = 1;
} finally {
  database.close();
}
